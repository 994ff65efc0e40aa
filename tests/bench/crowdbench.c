// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * crowdbench - sections per millisecond of threads that want the same lock.
 *
 *   crowdbench CASE THREADS MS
 *
 * Each thread locks, works inside, unlocks, works outside, for MS milliseconds after a warm-up of
 * a third of that. Prints a line: case, threads, sections per ms, and the fewest and the most
 * sections that a thread had, in per cent of the mean.
 * An ordinary program: it must contain no part of the library.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MAX_THREADS 256

/* Words of the shared table: 256 KiB, more than the first level caches, less than the second. */
#define TABLE 65536

enum kind { MUTEX, RWLOCK, SPIN };

/**
 * struct shape - what a thread does in a round.
 * @name: of the case
 * @kind: of the lock
 * @touches: words of the shared table that a section reads and writes
 * @work: steps of a generator of random numbers inside besides, about 1 ns each
 * @rest: the same outside
 * @reads: of 100 rounds, those that only read
 */
static const struct shape {
	const char *name;
	enum kind kind;
	unsigned int touches;
	unsigned int work;
	unsigned int rest;
	unsigned int reads;
} shapes[] = {
	{"mutex-short", MUTEX, 1, 0, 50, 0},
	{"mutex-medium", MUTEX, 8, 300, 600, 0},
	{"mutex-hash", MUTEX, 24, 0, 200, 0},
	{"mutex-long", MUTEX, 8, 5000, 5000, 0},
	{"rwlock-write", RWLOCK, 4, 100, 200, 0},
	{"rwlock-mixed", RWLOCK, 4, 100, 200, 80},
	{"spin-short", SPIN, 1, 0, 50, 0},
	{"spin-medium", SPIN, 8, 300, 600, 0},
};

static union {
	pthread_mutex_t mutex;
	pthread_rwlock_t rwlock;
	pthread_spinlock_t spin;
} lock __attribute__((aligned(64)));

static uint32_t table[TABLE];
static const struct shape *shape;
static atomic_int phase; /* 0: warm-up, 1: counted, 2: over */
static struct count {
	uint64_t counted;
} __attribute__((aligned(64))) counts[MAX_THREADS];

/* Keeps what was computed. */
static volatile uint32_t sink;

static uint32_t steps(uint32_t x, unsigned int nr)
{
	while (nr--)
		x = x * 1664525u + 1013904223u;
	return x;
}

static void acquire(int reads)
{
	if (shape->kind == MUTEX)
		pthread_mutex_lock(&lock.mutex);
	else if (shape->kind == SPIN)
		pthread_spin_lock(&lock.spin);
	else if (reads)
		pthread_rwlock_rdlock(&lock.rwlock);
	else
		pthread_rwlock_wrlock(&lock.rwlock);
}

static void release(void)
{
	if (shape->kind == MUTEX)
		pthread_mutex_unlock(&lock.mutex);
	else if (shape->kind == SPIN)
		pthread_spin_unlock(&lock.spin);
	else
		pthread_rwlock_unlock(&lock.rwlock);
}

static void *work(void *arg)
{
	struct count *count = arg;
	uint32_t x = (uint32_t)(count - counts) * 2654435761u + 1;
	int now;

	while ((now = atomic_load_explicit(&phase, memory_order_relaxed)) < 2) {
		int reads = (x >> 16) % 100 < shape->reads;

		acquire(reads);
		for (unsigned int i = 0; i < shape->touches; i++) {
			x = steps(x, 1);
			if (reads)
				sink = table[x >> 16];
			else
				table[x >> 16]++;
		}
		x = steps(x, shape->work);
		release();
		x = steps(x, shape->rest);
		count->counted += now == 1;
	}
	sink = x;
	return NULL;
}

static double now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec * 1e9 + (double)ts.tv_nsec;
}

static double cpu_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
	return (double)ts.tv_sec * 1e9 + (double)ts.tv_nsec;
}

static void rest(long ms)
{
	struct timespec ts = {ms / 1000, ms % 1000 * 1000000};

	while (nanosleep(&ts, &ts))
		;
}

int main(int argc, char **argv)
{
	uint64_t sum = 0, least = UINT64_MAX, most = 0;
	pthread_t threads[MAX_THREADS];
	int nr = argc == 4 ? atoi(argv[2]) : 0;
	long ms = argc == 4 ? atol(argv[3]) : 0;
	double start, cpu;

	for (size_t i = 0; argc == 4 && i < sizeof(shapes) / sizeof(shapes[0]); i++)
		if (!strcmp(shapes[i].name, argv[1]))
			shape = &shapes[i];
	if (!shape || nr < 1 || nr > MAX_THREADS || ms < 1) {
		fputs("Usage: crowdbench CASE THREADS MS\n", stderr);
		return 2;
	}
	if (shape->kind == MUTEX)
		pthread_mutex_init(&lock.mutex, NULL);
	else if (shape->kind == SPIN)
		pthread_spin_init(&lock.spin, PTHREAD_PROCESS_PRIVATE);
	else
		pthread_rwlock_init(&lock.rwlock, NULL);
	for (int i = 0; i < nr; i++)
		if (pthread_create(&threads[i], NULL, work, &counts[i])) {
			fputs("crowdbench: cannot start a thread\n", stderr);
			return 1;
		}
	rest(ms / 3);
	atomic_store(&phase, 1);
	start = now_ns();
	cpu = cpu_ns();
	rest(ms);
	atomic_store(&phase, 2);
	start = now_ns() - start;
	cpu = cpu_ns() - cpu;
	for (int i = 0; i < nr; i++)
		pthread_join(threads[i], NULL);
	for (int i = 0; i < nr; i++) {
		sum += counts[i].counted;
		least = counts[i].counted < least ? counts[i].counted : least;
		most = counts[i].counted > most ? counts[i].counted : most;
	}
	printf("%s,%d,%.1f,%.1f,%.0f,%.0f\n", shape->name, nr, (double)sum * 1e6 / start,
	       (double)sum * 1e6 / cpu,
	       sum ? 100.0 * (double)least * nr / (double)sum : 0,
	       sum ? 100.0 * (double)most * nr / (double)sum : 0);
	return 0;
}
