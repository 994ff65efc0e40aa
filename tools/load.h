/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * load.h - a data file in memory.
 *
 * Must never be given a symbol or a name: see symbolize.h.
 */
#ifndef ELIDE_LOAD_H
#define ELIDE_LOAD_H

#include <stddef.h>
#include <stdint.h>

#include "../lib/datafile.h"

/* Long enough for a path and a sentence. */
#define LOAD_ERROR_MAX 1400

/* A file of that name beside a data file holds what "elide ctl PID reset" leaves out. */
#define LOAD_BASE_SUFFIX ".base"

/**
 * struct load_notes - what was odd in a file that could be read all the same.
 * @lost_from:     offset from which on the file is missing, 0 if it is whole
 * @lost_size:     bytes the header promises beyond @lost_from
 * @nr_orphans:    rows and orders whose class is not in the file, left out
 */
struct load_notes {
	uint64_t lost_from;
	uint64_t lost_size;
	uint64_t nr_orphans;
};

/**
 * struct data_file - the records of a data file, each kind in file order.
 * @header: its strings are terminated
 */
struct data_file {
	char *path;
	struct elide_header header;
	struct elide_module *modules;
	size_t nr_modules;
	struct elide_class *classes;
	size_t nr_classes;
	struct elide_row *rows;
	size_t nr_rows;
	struct elide_misuse *misuse;
	size_t nr_misuse;
	struct elide_order *orders;
	size_t nr_orders;
	struct load_notes notes;
};

/**
 * load() - read a data file, whoever wrote it.
 * @error: LOAD_ERROR_MAX bytes, filled with one line that names the offset of the problem
 *
 * Memory is taken for what is there, never for what a number in the file
 * promises. A file that ends early, as of a killed process on a full disk,
 * is read as far as it goes if at least one chunk is whole; see
 * struct load_notes.
 *
 * Return: 0, or -errno; -EINVAL for a file that is not one or is damaged.
 */
int load(const char *path, struct data_file *file, char *error);

/**
 * load_header() - read a data file's header only, its strings terminated.
 *
 * Return: 0 or -errno, silently.
 */
int load_header(const char *path, struct elide_header *header);

/**
 * load_base() - leave out what was counted before the last reset of the process.
 * @file: read before; a base that is not of the same process is ignored
 *
 * The extremes of distributions stay those since the start.
 *
 * Return: 0 or -ENOMEM.
 */
int load_base(struct data_file *file);

/**
 * load_free() - release what load() took.
 */
void load_free(struct data_file *file);

#endif
