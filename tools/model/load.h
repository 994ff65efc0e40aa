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
#include <sys/types.h>

#include "../../lib/datafile.h"
#include "../names/symbolize.h"

/* Bytes of an error message: a path and a sentence. */
#define LOAD_ERROR_MAX 1400

/* Suffix of the file beside a data file with the numbers that "elide ctl PID reset" subtracts. */
#define LOAD_BASE_SUFFIX ".base"

/**
 * load_row - called for each row of a file.
 * @block: to which the row belongs, see struct elide_thread_record; 0 if unknown
 *
 * Return: 0; another value ends the reading.
 */
typedef int (*load_row)(void *arg, uint32_t block, const struct elide_row *row);

struct data_file;
struct merged;
struct row_table;

/**
 * struct load_notes - faults of a file that could be read nevertheless: see file/faults.h.
 * @lost_from:     offset from which on the file is missing, 0 if it is complete
 * @lost_size:     bytes the header promises beyond @lost_from
 * @nr_orphans:    rows and orders that are left out, because their class is not in the file; no fault if
 *                 the file grew while it was read
 * @nr_bad:        damaged chunks and records, which are left out
 * @first_bad:     the first of them, in words
 * @chunks, @records: those that the header counts and no readable chunk has, by
 *                 enum elide_chunk_type
 */
struct load_notes {
	uint64_t lost_from;
	uint64_t lost_size;
	uint64_t nr_orphans;
	uint64_t nr_bad;
	char first_bad[160];
	uint32_t chunks[ELIDE_MAX_CHUNK_TYPES];
	uint32_t records[ELIDE_MAX_CHUNK_TYPES];
};

/**
 * struct data_file - the records of a data file.
 * @fd: the file, open; -1 after load_close()
 * @dev, @ino: identify it when it is opened again
 * @header: its strings are terminated
 * @row_chunks: numbers of the chunks with rows; the rows stay in the file, as there can be a million,
 *              see load_rows()
 * @nr_rows: rows that have a class
 * @stacks: in file order, as modules and classes are
 * @samples, @details, @blames, @misuse: equal records are summed
 * @base: the counts that load_base() subtracts; NULL if none
 * @negates: the rows of @base come with negated numbers, bins modulo 2^32
 * @numbers: by number of a class in the file its number in @classes: classes_join(); NULL: the same
 * @nr_numbers: classes in the file
 * @sites: the calls that lock classes of ELIDE_CLASS_FIRST, sorted by address of the class
 * @waiting: indices of those @threads that wait, see file/open-waits.h
 * @spans: of waits and holds; those of aborted attempts are in @aborts
 * @sources: processes, if elide-merge(1) wrote the file
 * @merged: data of merge_files(), if it made this file of others; else NULL
 * @table: rows, if the file is being joined in memory; else NULL
 * @merged_rows: reads the rows like load_block_rows() if there is @merged or @table; else NULL
 * @nr_processes: number of processes if the file has several; else 0
 */
struct data_file {
	char *path;
	int fd;
	dev_t dev;
	ino_t ino;
	struct elide_header header;
	struct elide_module *modules;
	size_t nr_modules;
	struct elide_class *classes;
	size_t nr_classes;
	uint32_t *numbers;
	size_t nr_numbers;
	struct lock_site *sites;
	size_t nr_sites;
	uint32_t *row_chunks;
	size_t nr_row_chunks;
	size_t nr_rows;
	struct elide_misuse *misuse;
	size_t nr_misuse;
	struct elide_order *orders;
	size_t nr_orders;
	struct elide_stack *stacks;
	size_t nr_stacks;
	struct elide_sample *samples;
	size_t nr_samples;
	struct elide_detail *details;
	size_t nr_details;
	struct elide_blame *blames;
	size_t nr_blames;
	struct elide_event *events;
	size_t nr_events;
	struct elide_counter *counters;
	size_t nr_counters;
	struct elide_thread_record *threads;
	size_t nr_threads;
	uint32_t *waiting;
	size_t nr_waiting;
	struct elide_span *spans;
	size_t nr_spans;
	struct elide_span *aborts;
	size_t nr_aborts;
	struct elide_source *sources;
	size_t nr_sources;
	struct data_file *base;
	int negates;
	struct merged *merged;
	struct row_table *table;
	int (*merged_rows)(const struct data_file *file, load_row row, void *arg);
	size_t nr_processes;
	struct load_notes notes;
};

/**
 * load() - read a data file, whoever wrote it.
 * @error: LOAD_ERROR_MAX bytes, filled with one line that names the offset of the problem
 *
 * Memory is allocated for the records that are found, never by a number in the file. If a file ends
 * early, or chunks are damaged, the rest is read; see struct load_notes.
 *
 * Return: 0, or -errno; -EINVAL for another kind of file; -EBADMSG if the header is damaged.
 */
int load(const char *path, struct data_file *file, char *error);

/** load_has_class() - is there a lock class of this number in the file? */
static inline int load_has_class(const struct data_file *file, uint32_t index)
{
	return index < file->nr_classes && file->classes[index].type;
}

/**
 * load_rows() - call @row for each row of a file, in file order; then for each row that
 * load_base() subtracts, with its numbers negated modulo 2^64.
 * @row: stops the reading if it does not return 0
 *
 * The file may grow between two calls, so that the second has more rows.
 *
 * Return: what @row returned, 0, or -EIO if the file can no longer be read.
 */
int load_rows(const struct data_file *file, int (*row)(void *arg, const struct elide_row *row),
	      void *arg);

/** load_block_rows() - as load_rows(), with the blocks of the rows. */
int load_block_rows(const struct data_file *file, load_row row, void *arg);

/**
 * load_header() - read a data file's header only, its strings terminated.
 *
 * Return: 0 or -errno, silently.
 */
int load_header(const char *path, struct elide_header *header);

/**
 * load_base() - subtract what was counted before the last reset of the process, and look for who is to
 * blame for waits that have not ended.
 * @file: a file that load() has read; a base of another process is ignored
 *
 * Minima and maxima remain those since the start.
 *
 * The end of the file's time is known: live_set_end() comes before.
 *
 * Return: 0 or -errno.
 */
int load_base(struct data_file *file);

/**
 * load_close() - close a file and its base: they are opened again each time that their rows are read.
 * That fails if another file has the name by then.
 */
void load_close(struct data_file *file);

/**
 * load_free() - release what load() took.
 */
void load_free(struct data_file *file);

#endif
