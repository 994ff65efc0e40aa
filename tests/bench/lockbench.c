// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * lockbench - nanoseconds of an uncontended lock and unlock.
 *
 * One thread locks and unlocks; each kind of lock, over one lock and over a
 * thousand in random order. With "idle" as its argument a second thread
 * sleeps meanwhile, because glibc saves atomic instructions in a process that
 * has only one. Prints a line a case: kind, threads, locks, nanoseconds.
 * An ordinary program: it must contain no part of the library.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* Pairs of lock and unlock between two looks at the clock. */
#define VISITS 1000

/* Rounds of VISITS pairs in one measurement: about 1 ms for the fastest lock. */
#define ROUNDS 300

/* Measurements of a case, of which the median counts. */
#define REPEATS 15

/* Locks of the larger case: a lock state each, too many for the first level cache. */
#define MANY 1000

/* A lock a cache line, as in the objects of a program. */
union lock {
	pthread_mutex_t mutex;
	pthread_rwlock_t rwlock;
	pthread_spinlock_t spin;
} __attribute__((aligned(64)));

/* LOCK(name, setup, acquire, release): a row per case; l is the lock */
#define LOCKS                                                                                      \
	LOCK(mutex, pthread_mutex_init(&l->mutex, NULL), pthread_mutex_lock(&l->mutex),            \
	     pthread_mutex_unlock(&l->mutex))                                                      \
	LOCK(rdlock, pthread_rwlock_init(&l->rwlock, NULL), pthread_rwlock_rdlock(&l->rwlock),     \
	     pthread_rwlock_unlock(&l->rwlock))                                                    \
	LOCK(wrlock, pthread_rwlock_init(&l->rwlock, NULL), pthread_rwlock_wrlock(&l->rwlock),     \
	     pthread_rwlock_unlock(&l->rwlock))                                                    \
	LOCK(spin, pthread_spin_init(&l->spin, PTHREAD_PROCESS_PRIVATE),                           \
	     pthread_spin_lock(&l->spin), pthread_spin_unlock(&l->spin))

#define LOCK(name, setup, acquire, release)                                                        \
	static int name##_init(union lock *l)                                                      \
	{                                                                                          \
		return setup;                                                                      \
	}                                                                                          \
	static void name##_visit(union lock *const *order)                                         \
	{                                                                                          \
		for (int i = 0; i < VISITS; i++) {                                                 \
			union lock *l = order[i];                                                  \
                                                                                                   \
			acquire;                                                                   \
			release;                                                                   \
		}                                                                                  \
	}
LOCKS
#undef LOCK

static const struct kind {
	const char *name;
	int (*init)(union lock *l);
	void (*visit)(union lock *const *order);
} kinds[] = {
#define LOCK(name, setup, acquire, release) { #name, name##_init, name##_visit },
	LOCKS
#undef LOCK
};

#define NR_KINDS (sizeof(kinds) / sizeof(kinds[0]))

static double now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec * 1e9 + (double)ts.tv_nsec;
}

static int double_cmp(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Which lock each visit takes: all of them, in random order, the same in every process. */
static void make_order(union lock **order, union lock *locks, unsigned int nr)
{
	uint32_t random = 1;

	for (unsigned int i = 0; i < VISITS; i++)
		order[i] = &locks[i % nr];
	for (unsigned int i = VISITS - 1; i > 0; i--) {
		union lock *swap = order[i];
		unsigned int j;

		/* Numerical Recipes' generator; its upper bits are the good ones. */
		random = random * 1664525u + 1013904223u;
		j = (unsigned int)(((uint64_t)random * (i + 1)) >> 32);
		order[i] = order[j];
		order[j] = swap;
	}
}

static int measure(const struct kind *kind, unsigned int nr, int threads)
{
	union lock *locks = aligned_alloc(64, nr * sizeof(*locks));
	static union lock *order[VISITS];
	double ns[REPEATS];

	if (!locks)
		return -1;
	for (unsigned int i = 0; i < nr; i++)
		if (kind->init(&locks[i]))
			return -1;
	make_order(order, locks, nr);
	kind->visit(order);
	for (int i = 0; i < REPEATS; i++) {
		double start = now_ns();

		for (int round = 0; round < ROUNDS; round++)
			kind->visit(order);
		ns[i] = (now_ns() - start) / ((double)ROUNDS * VISITS);
	}
	qsort(ns, REPEATS, sizeof(ns[0]), double_cmp);
	printf("%s,%d,%u,%.3f\n", kind->name, threads, nr, ns[REPEATS / 2]);
	free(locks);
	return 0;
}

static void *idle(void *arg)
{
	for (;;)
		pause();
	return NULL;
}

int main(int argc, char **argv)
{
	int threads = 1;

	if (argc > 1 && strcmp(argv[1], "idle")) {
		fputs("Usage: lockbench [idle]\n", stderr);
		return 2;
	}
	if (argc > 1) {
		pthread_t thread;

		if (pthread_create(&thread, NULL, idle, NULL)) {
			fputs("lockbench: cannot start a thread\n", stderr);
			return 1;
		}
		threads = 2;
	}
	for (size_t i = 0; i < NR_KINDS; i++) {
		if (measure(&kinds[i], 1, threads) || measure(&kinds[i], MANY, threads)) {
			fputs("lockbench: out of memory\n", stderr);
			return 1;
		}
	}
	return 0;
}
