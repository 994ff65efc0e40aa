/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sweep.h - what bench_sweep runs, measures and finds.
 *
 * The path of the data: plan.c (which variants) -> bench_sweep.c (runs them, by run.c) -> judge.c (ranks
 * them) -> print.c. Must never know a benchmark by its name: what it offers is what it prints for --list.
 */
#ifndef DEMO_SWEEP_H
#define DEMO_SWEEP_H

#include "../base/option.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PROGRAM "bench_sweep"

/* The most rounds, variants, numbers of threads, and arguments that a variant adds to the command line. */
#define ROUNDS_MAX   10000
#define VARIANTS_MAX 1024
#define THREADS_MAX  32
#define ADDED_MAX    64

/* Exit status if a variant failed its check. */
#define EXIT_FAILED 1

/**
 * struct variant - one way to run the program
 * @name: how the tables name it
 * @added: options that it adds to the command line
 * @elide: it runs with the library of elide
 */
struct variant {
	char *name;
	char *added[ADDED_MAX];
	unsigned int nr_added;
	bool elide;
};

enum cell_status {
	CELL_RANKED,
	CELL_REFUSED, /* the program does not run with these options, or not on this machine */
	CELL_FAILED,  /* a run failed, or its check found a fault */
};

/**
 * struct cell - the runs of a variant with a number of threads, and how they compare
 * @variant: the variant
 * @status: whether it is ranked; @why: the reason if it is not
 * @rate: throughput of each round
 * @median: of @rate; @spread: distance between the quartiles of @rate, divided by @median
 * @ratio: throughput divided by that of the best variant, estimated from the rounds
 * @low, @high: confidence interval of @ratio, for all variants together; 0 and infinite if there are too few
 * rounds
 * @fits: it is the best, or no difference from the best was found
 */
struct cell {
	const struct variant *variant;
	enum cell_status status;
	char *why;
	double *rate;
	double median, spread;
	double ratio, low, high;
	bool fits;
};

/**
 * struct group - all variants with one number of threads
 * @threads: this number; 0 if the sweep does not set it
 * @cells: the variants, in the order in which they were given
 * @order: indexes of those that are ranked, the best first, @nr_ranked of them
 * @nr_fit: the first of them that fit
 * @more: rounds that would show a difference between the best two, 0 if there is one, SIZE_MAX if none would
 */
struct group {
	unsigned int threads;
	struct cell *cells;
	unsigned int *order;
	unsigned int nr_ranked, nr_fit;
	size_t more;
};

/**
 * struct sweep - a sweep
 * @command: the program and its arguments, NULL-terminated
 * @program: the path of the program; @launcher: of elide
 * @emulate: the machine of elide run --emulate, or NULL
 * @rounds: rounds to run; @done: rounds that were run
 * @confidence: probability with which the variants that fit include the best, a fraction
 * @column: name of the column of the throughput
 * @scratch: directory for data files of elide
 * @interrupted: a signal ended the sweep
 */
struct sweep {
	char **command;
	char *program, *launcher;
	const char *emulate;
	unsigned int rounds, done;
	uint64_t seed;
	double confidence;
	char column[32];
	char scratch[64];
	bool interrupted;
	unsigned int nr_variants, nr_groups;
	struct variant variants[VARIANTS_MAX];
	struct group groups[THREADS_MAX];
};

/* plan.c */
int plan_vary(const char *text);
int plan_threads(struct sweep *s, const char *text);
int plan_variants(struct sweep *s, bool elide);

/* run.c */
char *run_find(const char *name);
char *run_output(char *const *argv, int *status, char **error);
void run_cell(struct sweep *s, struct cell *cell, unsigned int threads, unsigned int round);
bool run_interrupted(void);
void run_catch_signals(void);
int run_begin(struct sweep *s);
void run_end(struct sweep *s);

/* judge.c */
unsigned int judge_least_rounds(const struct sweep *s);
int judge(struct sweep *s);
char *judge_sentence(const struct sweep *s);

/* print.c */
void print_text(const struct sweep *s);
void print_json(const struct sweep *s);
void print_csv(const struct sweep *s);

#endif
