/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * join.h - data files of many runs and hosts as one file: elide merge.
 *
 * The path of a file: load.c -> its rows into a table, its times into the clock and time of the
 * joined file, its threads into ended ones -> merge.c, with up to 32 others -> at the end builds.c,
 * limit.c, save.c. Must never join files of different programs.
 */
#ifndef ELIDE_JOIN_H
#define ELIDE_JOIN_H

#include "../load.h"

struct join;

/**
 * struct join_told - facts about a joined file, for messages.
 * @nr_builds: builds of the program
 * @nr_same:   locks and call sites of further builds that the first one has
 * @nr_apart:  those that it does not have, or that have no name
 * @slowest, @fastest: clocks of the files, cycles in a nanosecond; 0 if none is known
 */
struct join_told {
	size_t nr_builds;
	size_t nr_same;
	size_t nr_apart;
	double slowest;
	double fastest;
};

/**
 * join_new() - begin a joined file.
 * @reference: a file of the program; the others must belong to it
 *
 * Return: NULL without memory.
 */
struct join *join_new(const struct data_file *reference);

/**
 * join_add() - add a file. Those of one run must come one after the other, by their start.
 * @f: a file that load() and load_base() have read; released in any case
 * @why: @size bytes, set to the reason if it is refused
 *
 * Return: 0; -EINVAL for a file that does not belong to the others or has one of their processes; or
 * another -errno.
 */
int join_add(struct join *j, struct data_file *f, char *why, size_t size);

/**
 * join_end() - finish the joined file.
 * @to: set to a file with a table, for save(); to be released by join_free_file()
 * @warn: is called with a line about each object of another build that cannot be read
 *
 * Return: 0, -ENODATA if no file was added, or -ENOMEM.
 */
int join_end(struct join *j, struct data_file *to, struct join_told *told,
	     void (*warn)(const char *line));

/** join_free() - release what join_new() took. */
void join_free(struct join *j);

/** join_free_file() - release the file of join_end(). */
void join_free_file(struct data_file *f);

#endif
