/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * short.h - names that fit a table or a sentence.
 *
 * Must never be used where a name has to be exact.
 */
#ifndef ELIDE_SHORT_H
#define ELIDE_SHORT_H

#include "symbolize.h"

/* Bytes of a name in a table. */
#define SHORT_NAME 128

/* Bytes for plain_symbol() that suffice for most names of C++. */
#define PLAIN_NAME 2048

/**
 * plain_symbol() - a C++ name as people write it: std::string for std::__cxx11::basic_string<char, ...>,
 * and without default arguments of templates of the standard library.
 * @to: @size bytes
 *
 * Return: its length, which may be more than fits.
 */
size_t plain_symbol(char *to, size_t size, const char *name);

/**
 * short_place() - name a place for a table, a C++ name by its last parts.
 * @to: @size bytes, filled with the name
 */
void short_place(char *to, size_t size, const struct place *p);

/**
 * short_lock() - name a lock class for a table.
 * @name, @p: the name and the place that class_name() gave
 */
void short_lock(char *to, size_t size, const struct elide_class *c, const char *name,
		const struct place *p);

/**
 * short_symbol() - the last parts of a C++ name, without arguments.
 *
 * "ns::a<b::c>::f(int)" is a::f, and the call of a lambda is the lambda.
 */
void short_symbol(char *to, size_t size, const char *name);

/* Characters of a name in a sentence; readable() shortens a longer one. */
#define READABLE 60

/**
 * readable() - a name for a sentence: that of plain_symbol(), or its last parts if that is long.
 *
 * Return: @to or @name.
 */
const char *readable(char *to, size_t size, const char *name);

#endif
