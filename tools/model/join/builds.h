/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * builds.h - matches locks and call sites of two builds of a program.
 *
 * Must never match two because their addresses are equal, nor choose one of several by chance.
 */
#ifndef ELIDE_BUILDS_H
#define ELIDE_BUILDS_H

#include "../merge.h"

/**
 * struct builds - locks and call sites with the same name in two files.
 * @aliases:  @nr, sorted: addresses of the second file, and their matches in the first
 * @nr_apart: locks and call sites of the second file without a match, in objects of which the first has
 *            other builds: their names are unknown, different or not unique
 */
struct builds {
	struct merge_alias *aliases;
	size_t nr;
	size_t nr_apart;
};

/**
 * builds_match() - find locks and call sites with the same name in two files with tables.
 * @warn: called with a line about each object that no longer exists; may be NULL
 *
 * As in elide-diff(1), names with their lines first, then those without, if only one lock or call site
 * of each file has the name.
 *
 * Return: 0 or -ENOMEM.
 */
int builds_match(struct builds *b, const struct data_file *first, const struct data_file *second,
		 void (*warn)(const char *line));

/** builds_free() - release what builds_match() took. */
void builds_free(struct builds *b);

#endif
