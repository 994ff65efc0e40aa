/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * what-if.h - which sections elide what-if makes faster, and what the program gains.
 *
 * Must never run a program.
 */
#ifndef ELIDE_RUN_WHAT_IF_H
#define ELIDE_RUN_WHAT_IF_H

#include "../../lib/what-if.h"
#include "../model/report.h"

/* Locks that are tried if none is named. */
#define WHAT_IF_LOCKS 5

/* Ways to make a section faster, at most. */
#define WHAT_IF_WAYS 8

/**
 * struct what_if_place - sections by class and call site, as keys of elide_place_key().
 * @site: 0: of all call sites
 */
struct what_if_place {
	uint64_t class;
	uint64_t site;
};

/**
 * struct what_if_lock - a lock whose sections are made faster.
 * @lock, @site: names as in a report; @site is NULL for all call sites
 * @places: @nr of them
 * @elapsed_ns: by number of the way, of the run in which they were
 */
struct what_if_lock {
	char *lock;
	char *site;
	struct what_if_place places[ELIDE_WHAT_IF_MAX];
	size_t nr;
	uint64_t elapsed_ns[WHAT_IF_WAYS];
};

/**
 * struct what_if - what is asked, and the answers.
 * @argv:   the program
 * @lock, @site: names; NULL: the first WHAT_IF_LOCKS by time waited, all call sites
 * @ways:   per cent, @nr_ways of them
 * @elapsed_ns: of the run as it is
 * @locks:  @nr of them
 */
struct what_if {
	char **argv;
	const char *lock;
	const char *site;
	double ways[WHAT_IF_WAYS];
	size_t nr_ways;
	uint64_t elapsed_ns;
	struct what_if_lock locks[WHAT_IF_LOCKS];
	size_t nr;
};

/**
 * what_if_choose() - find the locks in the data file of the run as it is.
 *
 * Return: 0, or -errno after one line.
 */
int what_if_choose(struct what_if *w, const struct data_file *f);

/**
 * what_if_text() - ELIDE_WHAT_IF for a run.
 * @l: the lock whose sections are faster; NULL: none
 * @percent: how much
 * @to: ELIDE_WHAT_IF_TEXT + 1 bytes
 */
void what_if_text(const struct what_if_lock *l, double percent, char *to);

/** what_if_gain() - by how many per cent a run took less time than the run as it is. */
double what_if_gain(const struct what_if *w, uint64_t elapsed_ns);

/** what_if_free() - release the names. */
void what_if_free(struct what_if *w);

#endif
