/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * torture.h - what the torture tests share: the table of locks, random
 * numbers, memory that shows when two sections overlapped, and failures.
 *
 * All randomness comes from the seed and is drawn by the thread that uses it.
 * What an aborted section drew or noted down is rolled back with it, so the
 * code of a section need not know whether it is elided.
 */
#ifndef TESTS_TORTURE_H
#define TESTS_TORTURE_H

#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stdint.h>
#include <threads.h>
#include <time.h>

#include "../../lib/compiler.h"
#include "../../lib/elide.h"

#define MAX_THREADS 24

/* Locks of a run. */
#define NR_CELLS 4

union any_lock {
	pthread_mutex_t mutex;
	pthread_rwlock_t rwlock;
	pthread_spinlock_t spin;
	mtx_t mtx;
	sem_t sem;
	uint32_t word;
};

/* Where a call comes from. */
enum way {
	WAY_ON,   /* a site that may be elided */
	WAY_OFF,  /* a site that ELIDE_LOCKS='*!off_*=off' switches off */
	WAY_PAST, /* libc's own function: the library does not see it */
	NR_WAYS
};

/**
 * struct calls - the functions of a lock in one mode; those a kind does not have are NULL.
 */
struct calls {
	int (*lock)(void *lock);
	int (*trylock)(void *lock);
	int (*timedlock)(void *lock, const struct timespec *until);
	int (*clocklock)(void *lock, clockid_t clock, const struct timespec *until);
	int (*unlock)(void *lock);
};

/**
 * struct subject - a kind of lock under torture.
 * @write, @read: by enum way; @read is NULL where all sections exclude each other
 * @busy, @timed_out: what trylock and the timed calls answer when they fail
 * @relock: what lock answers its owner, NO_RELOCK if it would not return
 * @retry: what trylock answers its owner
 */
struct subject {
	const char *name;
	void (*init)(union any_lock *lock);
	void (*destroy)(union any_lock *lock);
	const struct calls *write;
	const struct calls *read;
	int busy;
	int timed_out;
	int relock;
	int retry;
};

#define NO_RELOCK (-1)

/* Ends with an entry without name. The first one is broken and must be caught. */
extern const struct subject subjects[];
extern const unsigned int nr_subjects, nr_subjects_mixed;

/** locks_start() - find libc's own functions. Exits where there is no libc to ask. */
void locks_start(void);

/** subject_find() - by name, NULL if there is none. */
const struct subject *subject_find(const char *name);

/**
 * struct random - a generator (xorshift64*, Vigna 2016).
 */
struct random {
	uint64_t state;
};

void random_seed(struct random *r, uint64_t seed, uint64_t stream);
uint32_t random_below(struct random *r, uint32_t limit);

/* True in one of @n cases. */
static inline bool one_in(struct random *r, uint32_t n)
{
	return !random_below(r, n);
}

/**
 * struct run - the options of the command line.
 * @seed: of everything
 * @threads: workers
 * @rounds: of each, in a unit of the scenario
 */
struct run {
	const struct subject *subject;
	uint64_t seed;
	unsigned int threads;
	unsigned long rounds;
};

/* Words that a writer changes one after the other; on a line each. */
#define NR_WORDS 3

struct word {
	volatile unsigned long value;
} __attribute__((aligned(64)));

/**
 * struct cell - a lock and what it protects.
 * @inside: a writer is in its section
 * @words: equal whenever nobody writes
 * @reading: set by each thread while it reads
 */
struct cell {
	union any_lock lock __attribute__((aligned(64)));
	const struct subject *subject;
	struct word inside;
	struct word words[NR_WORDS];
	struct word reading[MAX_THREADS];
};

/**
 * struct worker - a thread and what it saw.
 * @acquired: acquisitions that the library can have counted
 * @written: sections of each cell that changed the words
 * @tid:   Linux thread id
 * @waits: the cell that it is about to acquire, for a dump
 * @ended: it has
 * @overlaps, @torn, @wrong: sections that saw another one, words that
 *	differ, and answers that no lock of the kind gives
 */
struct worker {
	const struct run *run;
	unsigned int me;
	struct random random;
	unsigned long acquired;
	unsigned long written[NR_CELLS];
	unsigned long overlaps;
	unsigned long torn;
	unsigned long wrong;
	int wrong_answer;
	volatile int tid;
	struct cell *volatile waits;
	volatile bool ended;
} __attribute__((aligned(64)));

/** cells_make() - NR_CELLS of them, all of one kind. */
void cells_make(struct cell *cells, const struct subject *subject);

/**
 * cells_check() - after all have ended: nothing lost, nothing left held.
 *
 * Return: failures, each said on standard error.
 */
unsigned int cells_check(struct cell *cells, const struct worker *workers, unsigned int nr);

/** workers_make() - a worker for each thread of a run, not yet running. */
void workers_make(struct worker *workers, const struct run *run);

/** section() - take one to three cells in order, look and write, release in any order. */
void section(struct worker *w, struct cell *cells);

/** write_cell() - the body of a section that writes. */
void write_cell(struct worker *w, struct cell *cell, unsigned int index);

/** say() - a failure in a line on standard error; returns 1. */
unsigned int say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/** deadline() - the time @us microseconds from now. */
struct timespec deadline(clockid_t clock, long us);

/* Scenarios: return failures; the acquisitions that must be in the data file in @acquired. */
unsigned int run_exclusion(const struct run *run, unsigned long *acquired);
unsigned int run_cond(const struct run *run, unsigned long *acquired);
unsigned int run_waits(const struct run *run, unsigned long *acquired);
unsigned int run_fork(const struct run *run, unsigned long *acquired);
unsigned int run_signals(const struct run *run, unsigned long *acquired);
unsigned int run_cancel(const struct run *run, unsigned long *acquired);
unsigned int run_threads(const struct run *run, unsigned long *acquired);
unsigned int run_locks(const struct run *run, unsigned long *acquired);
unsigned int run_mixed(const struct run *run, unsigned long *acquired);

#endif
