/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sums.h - the rows of a file summed over threads, small enough for a million.
 *
 * Must never contain a name: only shown rows get one.
 */
#ifndef ELIDE_SUMS_H
#define ELIDE_SUMS_H

#include "report.h"

/**
 * struct sum - the sum of all rows of one class, site and kind, by which the report is sorted.
 * @class_index, @site: those of the first row if there are several
 * @nr_rows:  rows of the file in the sum: one for each thread
 * @nr_classes, @nr_sites: lock classes and call sites in the sum
 * @group:    index of the first sum of the report's row to which this sum belongs
 * @line:     the line of the report that shows the sum, counted from 1; 0 if none does
 * @given_up: acquisitions not attempted at call sites that the policy has given up, see
 *            find_unelidable()
 * @quiet:    acquisitions of uncontended locks, see class_is_quiet()
 * @blocker:  number of the blame that names the call which held the lock for most of the time waited,
 *            from 1; 0 if unknown
 * @blocked:  the share of @blocker in the time waited
 * @peers:    see struct line
 * @blocks:   1 if it is the blocker of another sum, or of itself
 * @held, @held_variance: sums of elide_row_held() and elide_row_held_variance()
 * @hold_count, @hold_weight, @hold_total: measured hold times, acquisitions for which they stand, and the sum of
 *            the times of these
 * @votes:    acquisitions by enum elide_row_state, see sum_state()
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
	uint32_t blocker;
	float blocked;
	float peers;
	uint32_t blocks;
	uint64_t nr_locks;
	uint64_t commits;
	uint64_t nested;
	uint64_t fallback;
	uint64_t not_attempted;
	uint64_t given_up;
	uint64_t quiet;
	uint64_t contended;
	uint64_t wasted_cycles;
	uint64_t failed;
	uint64_t parked;
	uint64_t unparked;
	uint64_t parked_cycles;
	uint64_t wait_total;
	uint64_t late;
	uint64_t wait_count;
	uint64_t wait_max;
	double held;
	double held_variance;
	uint64_t hold_count;
	uint64_t hold_weight;
	uint64_t hold_total;
	uint64_t by_column[NR_CAUSE_COLUMNS];
	uint64_t votes[ELIDE_NR_STATES];
};

/**
 * struct sums - a table of sums, found by class, site and kind.
 * @index: @nr_index places (a power of two); each holds the number of a sum, counted from 1, or 0
 */
struct sums {
	struct sum *sum;
	size_t nr;
	size_t room;
	uint32_t *index;
	size_t nr_index;
};

/**
 * sums_get() - find the sum of a class, site and kind.
 * @make: add the sum if there is none
 *
 * Return: the sum, valid until the next one is added; NULL if there is none, or no memory.
 */
struct sum *sums_get(struct sums *s, uint32_t class_index, uint64_t site, unsigned int kind,
		     int make);

/** times_add() - add measured times: their number, sum and extremes. */
void times_add(struct elide_times *to, const struct elide_times *t);

/** holds_add() - add measured hold times. */
void holds_add(struct elide_holds *to, const struct elide_holds *h);

/**
 * sum_vote() - count the acquisitions of a row by state.
 * @votes: ELIDE_NR_STATES
 *
 * Those inside a transaction of another lock were elided with that, in whatever state the row is.
 */
void sum_vote(uint64_t *votes, const struct elide_row *row);

/** sum_row() - add a row of the file to a sum. */
void sum_row(struct sum *to, const struct elide_row *row);

/** sum_add() - add a sum to another. */
void sum_add(struct sum *to, const struct sum *from);

/** sum_state() - the state of most acquisitions; of equally frequent ones, the one that elides more. */
enum elide_row_state sum_state(const struct sum *s);

/** sum_line() - copy the numbers of a sum to a line. */
void sum_line(const struct report *r, const struct sum *sum, struct line *l);

/** sums_free() - release the table. */
void sums_free(struct sums *s);

#endif
