/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * symbol.h - the symbols of an ELF object: the one that covers an address, and its data.
 *
 * Must never allocate or acquire a lock: it runs inside lock calls. The tools symbolise reports offline,
 * with libdw.
 */
#ifndef ELIDE_SYMBOL_H
#define ELIDE_SYMBOL_H

#include <stddef.h>
#include <stdbool.h>
#include <stdint.h>

/**
 * elide_symbol_find() - look an address up in .symtab, else in .dynsym.
 * @path: the object's file; checked, it may be anything
 * @address: in the object's own addresses
 * @name: filled, as in the table (C++ names are mangled)
 * @size: bytes of @name
 *
 * Maps the file for the length of the call.
 *
 * Return: 0, or -ENOENT with @name empty.
 */
int elide_symbol_find(const char *path, uint64_t address, char *name, size_t size);

/**
 * struct elide_symbol - further members of a symbol.
 * @value: its address, as in the table
 * @size:  bytes
 * @local: no other file of the program, or no other object, can name it
 */
struct elide_symbol {
	uint64_t value;
	uint64_t size;
	bool local;
};

/** elide_symbol_look() - elide_symbol_find(), and fill @symbol if there is one. */
int elide_symbol_look(const char *path, uint64_t address, char *name, size_t size,
		      struct elide_symbol *symbol);

/**
 * elide_symbol_function() - elide_symbol_look() of a small function, by its first address.
 * @start: in the object's own addresses
 * @max: bytes that the function may have; the same in all calls
 *
 * For many calls: from the second one in a row for one object on, a table has its small functions, so that
 * nothing is read for a larger one. In a global-lock path.
 *
 * Return: 0, or -ENOENT if no function of that size begins there.
 */
int elide_symbol_function(const char *path, uint64_t start, uint64_t max, char *name, size_t size,
			  struct elide_symbol *symbol);

/**
 * elide_symbol_objects() - the data in .symtab, or else in .dynsym.
 * @path: the object's file; checked, it may be anything
 * @found: called for each, with @arg, its address in the object and its size
 * @arg: see there
 *
 * Maps the file for the length of the call.
 *
 * Return: 0; -ENOENT if there is no .symtab, so that other data may have no name.
 */
int elide_symbol_objects(const char *path, void (*found)(void *arg, uint64_t value, uint64_t size),
			 void *arg);

#endif
