/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * planted.h - what the programs with a planted problem have in common: threads
 * that start together, a random pause between sections, and attributes that keep
 * apart what is not the problem.
 *
 * A function of which the report is to name the caller does something behind a
 * call: a compiler makes a jump of the last call, and then no stack shows who made it.
 *
 * Must never hold a lock of its own inside the rounds, or data that a section
 * writes: the report would be about that.
 */
#ifndef PLANTED_H
#define PLANTED_H

#include <stdbool.h>

#define PLANTED_THREADS 16 /* at most */

/* Sections and what they do are functions of their own: the report is to name them. */
#define PLACE static __attribute__((noinline))

/* Begins a cache line. Nothing that is written often may follow it there. */
#define APART __attribute__((aligned(64)))

#ifdef REPAIRED
#define REPAIRED_APART APART
#define IS_REPAIRED    true
#else
#define REPAIRED_APART
#define IS_REPAIRED    false
#endif

#ifdef __cplusplus
extern "C" {
#endif

/**
 * struct worker - a thread and its arguments.
 * @thread: counted from 0
 * @nr_threads: in all
 * @rounds: that it is to do
 * @random: state of its random numbers
 */
struct worker {
	int thread;
	int nr_threads;
	long rounds;
	unsigned long long random;
};

/**
 * planted_run() - start THREADS workers, wait for them to end.
 * @argc, @argv: main's: THREADS ROUNDS SEED
 * @work: what each does
 *
 * Ends the program with 2 if the arguments are not such.
 *
 * Return: rounds in all, of all workers.
 */
long planted_run(int argc, char **argv, void (*work)(struct worker *w));

/** planted_pause() - a pause of random length between two sections, so that threads mix. */
void planted_pause(struct worker *w);

/** planted_draw() - a random number below @below. */
unsigned int planted_draw(struct worker *w, unsigned int below);

/** planted_dwell() - stay for @steps steps, a few cycles each, on the thread's own stack. */
void planted_dwell(int steps);

/** planted_same_line() - do the two addresses lie on one cache line? */
static inline bool planted_same_line(const volatile void *a, const volatile void *b)
{
	return (unsigned long)a / 64 == (unsigned long)b / 64;
}

/**
 * planted_end() - a program's exit status.
 * @what: was counted
 * @got, @want: count, and what it must be
 *
 * Return: 0, or 1 and a line on stderr.
 */
int planted_end(const char *what, long got, long want);

#ifdef __cplusplus
}
#endif

#endif
