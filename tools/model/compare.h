/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * compare.h - plain and elided runs of a program, and the verdict on them.
 *
 * The path of the data: cmd-compare.c (run) -> compare.c (judge) -> compare-print.c.
 * Must never start a process.
 */
#ifndef ELIDE_COMPARE_H
#define ELIDE_COMPARE_H

#include <stdbool.h>
#include <stdint.h>

#include "condition.h"
#include "stats.h"

enum { PLAIN, ELIDED, NR_SIDES };

/* Seconds; a shorter time counts as this one, because clocks count nanoseconds. */
#define SHORTEST_S 1e-9

/**
 * struct run_result - how one run ended, and how long it took.
 * @exit: the exit code, as exit_code() gives it
 */
struct run_result {
	double elapsed_s;
	double cpu_s;
	int exit;
};

/**
 * struct run_pair - a plain run and an elided run, one after the other.
 * @first: the side that ran first
 */
struct run_pair {
	struct run_result run[NR_SIDES];
	int first;
};

/**
 * struct elision - numbers from the data file of the last elided run.
 * @known: there is such a file
 */
struct elision {
	bool known;
	unsigned int mode;
	unsigned int rtm;
	char why[256];
	uint64_t acquired;
	uint64_t elided;
};

/* A condition of elide compare --fail-if: a verdict, or a condition on a percentage. */
struct compare_condition {
	const char *text;
	bool is_effect;
	enum effect effect;
	struct condition condition;
};

/**
 * struct comparison - the runs, and the results.
 * @confidence, @margin: fractions
 * @elapsed, @cpu: intervals of the logarithm of elided by plain time
 * @spread: of the logarithms of the plain times, the distance between their quartiles
 * @busy:   the plain runs alone differ by more than what is to be decided
 * @exits_differ: of plain and elided, in some pair
 * @nr_failed: pairs in which a run had another exit code than 0
 */
struct comparison {
	char **argv;
	bool emulated;
	uint64_t seed;
	double confidence;
	double margin;
	struct run_pair *pairs;
	size_t nr;
	struct elision elision;
	struct interval elapsed;
	struct interval cpu;
	double spread;
	bool busy;
	enum effect effect;
	size_t more;
	bool exits_differ;
	size_t nr_failed;
};

/** compare_judge() - compute the intervals and the verdict from the pairs. Return: 0 or -ENOMEM. */
int compare_judge(struct comparison *c);

/**
 * compare_condition_parse() - read a condition: pays, neutral, hurts, undecided, or slower, faster
 * or cpu with an operator and a percentage.
 *
 * Return: as condition_parse().
 */
size_t compare_condition_parse(struct compare_condition *to, const char *text, char *why,
			       size_t size);

/**
 * compare_holds() - does a condition hold? On a percentage it must hold for the whole interval, and
 * holds on no busy machine.
 */
bool compare_holds(const struct comparison *c, const struct compare_condition *condition);

/** compare_percent() - a log ratio as a change in per cent. */
double compare_percent(double log_ratio);

/** compare_is_elision() - were locks elided? Else the overhead of profiling is compared. */
bool compare_is_elision(const struct comparison *c);

#endif
