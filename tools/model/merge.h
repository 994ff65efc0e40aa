/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * merge.h - the data files of several processes as one.
 *
 * The processes of a run may have their objects at different addresses, and number their lock classes
 * differently. Must merge only what has the same object and the same offset in it.
 */
#ifndef ELIDE_MERGE_H
#define ELIDE_MERGE_H

#include <stdbool.h>

#include "load.h"

/**
 * merge_files() - one file of several.
 * @to: filled; has the title and the settings of the first file, and runs from the first start to
 *      the last end
 * @files: @nr files, at least 1, which must outlive @to, as that reads their rows again
 *
 * The rows of all files are in @to; a report sums up those of one lock class, call site and kind, as it
 * does for threads. Locks of different processes are different locks of one class.
 *
 * Return: 0 or -ENOMEM.
 */
int merge_files(struct data_file *to, const struct data_file *files, size_t nr);

/**
 * merge_has_reloads() - was an object unloaded and loaded again at another address?
 *
 * Then merge_files() of this file alone gives its locks and calls one address.
 */
bool merge_has_reloads(const struct data_file *file);

/* An address of a file, and its address in the merged file. */
struct merge_alias {
	uint64_t from;
	uint64_t to;
};

/**
 * merge_as() - as merge_files(), with given addresses for locks and calls of the last file.
 * @aliases: @nr_aliases, sorted by @from: addresses of locks in the data of objects, and return
 *           addresses, of the last file; @to are addresses of the first file. They must outlive @to
 *
 * Return: as merge_files().
 */
int merge_as(struct data_file *to, const struct data_file *files, size_t nr,
	     const struct merge_alias *aliases, size_t nr_aliases);

/** merge_numbers() - add the numbers of a process to the header of all, and its flags. */
void merge_numbers(struct elide_header *to, const struct elide_header *h);

/** merge_free() - release what merge_files() took. */
void merge_free(struct data_file *file);

#endif
