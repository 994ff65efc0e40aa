/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * compare.h - runs of a program plain and elided, and what they tell.
 *
 * The way of the data: cmd-compare.c (run) -> compare.c (judge, print). Must
 * never start anything.
 */
#ifndef ELIDE_COMPARE_H
#define ELIDE_COMPARE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "condition.h"
#include "stats.h"

/* Version of the JSON output; counts up on any incompatible change. */
#define COMPARE_SCHEMA 1

enum { PLAIN, ELIDED, NR_SIDES };

/**
 * struct run_result - one run.
 * @exit: its exit code, as a shell counts it
 */
struct run_result {
	double elapsed_s;
	double cpu_s;
	int exit;
};

/**
 * struct run_pair - a plain and an elided run, which stand beside each other.
 * @first: which came first
 */
struct run_pair {
	struct run_result run[NR_SIDES];
	int first;
};

/**
 * struct elision - what the data file of an elided run says, the last one's.
 * @known: there is one
 */
struct elision {
	bool known;
	unsigned int mode;
	unsigned int rtm;
	char why[256];
	uint64_t acquired;
	uint64_t elided;
};

/* A condition of compare's --fail-if: a verdict, or one on a percentage. */
struct compare_condition {
	const char *text;
	bool is_effect;
	enum effect effect;
	struct condition condition;
};

/**
 * struct comparison - everything there is to tell.
 * @confidence, @margin: fractions
 * @elapsed, @cpu: log ratios, elided to plain
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
	enum effect effect;
	size_t more;
	bool exits_differ;
};

/** compare_judge() - fill in what follows from the pairs. Return: 0 or -ENOMEM. */
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
 * compare_holds() - does a condition hold? One on a percentage does if all of the interval is so.
 */
bool compare_holds(const struct comparison *c, const struct compare_condition *condition);

/** compare_is_elision() - were locks elided, or is it only profiling that is compared? */
bool compare_is_elision(const struct comparison *c);

/* The outputs. @failed: conditions that hold, of @nr_failed. */
void compare_print(const struct comparison *c, FILE *out);
int compare_print_json(const struct comparison *c, const struct compare_condition *const *failed,
		       size_t nr_failed, FILE *out);

#endif
