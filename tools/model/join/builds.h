/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * builds.h - the same locks and call sites in two builds of a program.
 *
 * Must never take two for one because their addresses are the same, nor one of several by chance.
 */
#ifndef ELIDE_BUILDS_H
#define ELIDE_BUILDS_H

#include "../merge.h"

/**
 * struct builds - what has the same name in two files.
 * @aliases:  of @nr, sorted: addresses of the second file, and those of the first that they are
 * @nr_apart: locks and call sites of the second file, in objects that the first has other builds
 *            of, that have no match: their names are not known, or differ, or several have them
 */
struct builds {
	struct merge_alias *aliases;
	size_t nr;
	size_t nr_apart;
};

/**
 * builds_match() - find what has the same name in two files with tables.
 * @warn: is called with a line about each object that is not there any more; may be NULL
 *
 * As elide-diff(1): names with their lines first, then those without, if only one lock or call site
 * of each file has the name.
 *
 * Return: 0 or -ENOMEM.
 */
int builds_match(struct builds *b, const struct data_file *first, const struct data_file *second,
		 void (*warn)(const char *line));

/** builds_free() - release what builds_match() took. */
void builds_free(struct builds *b);

#endif
