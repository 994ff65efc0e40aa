/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * suggest.h - the valid name that is nearest to a wrong one.
 *
 * Must never allocate.
 */
#ifndef ELIDE_SUGGEST_H
#define ELIDE_SUGGEST_H

#include <stddef.h>

/**
 * suggest_distance() - Levenshtein's distance of two words, letters compared without case.
 * @a, @b: only their first 63 bytes count
 *
 * Return: insertions, deletions and replacements that turn one into the other.
 */
unsigned int suggest_distance(const char *a, const char *b);

/**
 * suggest() - find the name that is nearest to a word.
 * @nr: of @names, at least 1
 *
 * Return: the first of the @names nearest to @word.
 */
const char *suggest(const char *word, const char *const *names, size_t nr);

/* Bytes that suffice for suggest_words() with a name of usual length. */
#define SUGGEST_WORDS 128

/**
 * suggest_words() - ", nearest is NAME" for a message; nothing if no name is near.
 * @before: put in front of the name, such as dashes
 * @to: @size bytes
 *
 * Return: @to.
 */
const char *suggest_words(const char *word, const char *before, const char *const *names, size_t nr,
			  char *to, size_t size);

#endif
