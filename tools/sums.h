/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sums.h - the rows of a file summed over threads, as small as a million of them must be.
 *
 * Must never be given a name: only what is shown gets one.
 */
#ifndef ELIDE_SUMS_H
#define ELIDE_SUMS_H

#include "report.h"

/**
 * struct sum - what the order of the report depends on, of equal (class, site, kind).
 * @class_index, @site: of the first, if there are several
 * @nr_rows:  rows of the file in it: one a thread
 * @nr_classes, @nr_sites: how many are in it
 * @group:    the sum of the report's row that it is in
 * @line:     the line of the report it is shown in, counted from 1; 0 none
 * @given_up: acquisitions that were not attempted at sites without hope, see hopeless()
 * @votes:    by enum elide_row_state, see sum_line()
 */
struct sum {
	uint64_t site;
	uint32_t class_index;
	uint16_t kind;
	uint16_t is_empty;
	uint32_t nr_rows;
	uint32_t nr_classes;
	uint32_t nr_sites;
	uint32_t group;
	uint32_t line;
	uint64_t nr_locks;
	uint64_t commits;
	uint64_t nested;
	uint64_t fallback;
	uint64_t not_attempted;
	uint64_t given_up;
	uint64_t contended;
	uint64_t wasted_cycles;
	uint64_t wait_total;
	uint64_t hold_total;
	uint64_t hold_count;
	uint64_t by_column[NR_CAUSE_COLUMNS];
	uint64_t votes[ELIDE_STATE_OFF + 1];
};

/**
 * struct sums - a table of sums, found by class, site and kind.
 * @index: of @nr_index (a power of two) places, each a sum counted from 1
 */
struct sums {
	struct sum *sum;
	size_t nr;
	size_t room;
	uint32_t *index;
	size_t nr_index;
};

/**
 * sums_get() - the sum of a class, site and kind.
 * @make: add one if there is none
 *
 * Return: NULL if there is none or no memory; valid until the next one is added.
 */
struct sum *sums_get(struct sums *s, uint32_t class_index, uint64_t site, unsigned int kind,
		     int make);

/** sum_row() - add a row of the file. */
void sum_row(struct sum *to, const struct elide_row *row);

/** sum_add() - add a sum. */
void sum_add(struct sum *to, const struct sum *from);

/** sum_state() - that most of the acquisitions were made in; of equals the one that tries more. */
enum elide_row_state sum_state(const struct sum *s);

/** sum_line() - fill the numbers of a line that a sum knows. */
void sum_line(const struct report *r, const struct sum *sum, struct line *l);

/** sums_free() - release them. */
void sums_free(struct sums *s);

#endif
