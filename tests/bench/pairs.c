// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * pairs.c - nanoseconds of an uncontended lock and unlock, alone and in nested pairs.
 *
 * One thread locks and unlocks; a second one has ended, so glibc uses atomic instructions. Each
 * case over a few locks and over a thousand at one call, in random order. Prints a line a case:
 * kind, number of locks, nanoseconds of the pair, or of both pairs where they are nested. What the
 * loop costs without locks is subtracted. Meant for virtual time, in which a run repeats exactly.
 * An ordinary program: it must contain no part of the library. Where none is preloaded, its own
 * lock has no elide_begin() either.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "../../lib/elide.h"

#pragma weak elide_begin
#pragma weak elide_end

/* Pairs in one measurement; the first measurement of a case is a warm-up. */
#define VISITS 20000

/* Locks of the larger cases. */
#define MANY 1000

/* A lock a cache line, as in the objects of a program. */
union lock {
	pthread_mutex_t mutex;
	pthread_rwlock_t rwlock;
	pthread_spinlock_t spin;
	uint32_t word;
} __attribute__((aligned(64)));

#define NOINLINE __attribute__((noinline))

static NOINLINE void nothing(union lock *a, union lock *b)
{
	__asm__ volatile("" : : "r"(a), "r"(b) : "memory");
}

static NOINLINE void mutex(union lock *a, union lock *b)
{
	pthread_mutex_lock(&a->mutex);
	nothing(a, b);
	pthread_mutex_unlock(&a->mutex);
}

static NOINLINE void mutex_trylock(union lock *a, union lock *b)
{
	if (pthread_mutex_trylock(&a->mutex))
		abort();
	nothing(a, b);
	pthread_mutex_unlock(&a->mutex);
}

static NOINLINE void mutex_nested(union lock *a, union lock *b)
{
	pthread_mutex_lock(&a->mutex);
	pthread_mutex_lock(&b->mutex);
	nothing(a, b);
	pthread_mutex_unlock(&b->mutex);
	pthread_mutex_unlock(&a->mutex);
}

/* As along a list: the next one is locked before the last one is released. */
static NOINLINE void mutex_handed(union lock *a, union lock *b)
{
	pthread_mutex_lock(&a->mutex);
	pthread_mutex_lock(&b->mutex);
	pthread_mutex_unlock(&a->mutex);
	nothing(a, b);
	pthread_mutex_unlock(&b->mutex);
}

static NOINLINE void rdlock(union lock *a, union lock *b)
{
	pthread_rwlock_rdlock(&a->rwlock);
	nothing(a, b);
	pthread_rwlock_unlock(&a->rwlock);
}

static NOINLINE void wrlock(union lock *a, union lock *b)
{
	pthread_rwlock_wrlock(&a->rwlock);
	nothing(a, b);
	pthread_rwlock_unlock(&a->rwlock);
}

static NOINLINE void spin(union lock *a, union lock *b)
{
	pthread_spin_lock(&a->spin);
	nothing(a, b);
	pthread_spin_unlock(&a->spin);
}

static NOINLINE void spin_nested(union lock *a, union lock *b)
{
	pthread_spin_lock(&a->spin);
	pthread_spin_lock(&b->spin);
	nothing(a, b);
	pthread_spin_unlock(&b->spin);
	pthread_spin_unlock(&a->spin);
}

/* A lock of the program's own, which begins its sections with elide.h. */
static void own_lock(union lock *l)
{
	static const struct elide_rule is_free = {.mask = ~0u, .free = 0, .size = 4};

	if (elide_begin && elide_begin(&l->word, &is_free))
		return;
	while (__atomic_exchange_n(&l->word, 1, __ATOMIC_ACQUIRE))
		;
}

static void own_unlock(union lock *l)
{
	if (!elide_end || !elide_end(&l->word))
		__atomic_store_n(&l->word, 0, __ATOMIC_RELEASE);
}

static NOINLINE void own(union lock *a, union lock *b)
{
	own_lock(a);
	nothing(a, b);
	own_unlock(a);
}

static NOINLINE void own_nested(union lock *a, union lock *b)
{
	own_lock(a);
	own_lock(b);
	nothing(a, b);
	own_unlock(b);
	own_unlock(a);
}

enum kind { MUTEX, RWLOCK, SPIN, OWN };

static const struct {
	const char *name;
	enum kind kind;
	void (*visit)(union lock *a, union lock *b);
} cases[] = {
	{"mutex", MUTEX, mutex},
	{"mutex trylock", MUTEX, mutex_trylock},
	{"mutex nested", MUTEX, mutex_nested},
	{"mutex hand-over-hand", MUTEX, mutex_handed},
	{"rdlock", RWLOCK, rdlock},
	{"wrlock", RWLOCK, wrlock},
	{"spin", SPIN, spin},
	{"spin nested", SPIN, spin_nested},
	{"elide.h", OWN, own},
	{"elide.h nested", OWN, own_nested},
};

#define NR_CASES (sizeof(cases) / sizeof(cases[0]))

/* Of each visit the first lock; the second is the one behind it. */
static uint32_t first[VISITS];

static double now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec * 1e9 + (double)ts.tv_nsec;
}

static double measure(void (*visit)(union lock *a, union lock *b), union lock *locks)
{
	double start = now_ns();

	for (int i = 0; i < VISITS; i++)
		visit(&locks[first[i]], &locks[first[i] + 1]);
	return (now_ns() - start) / VISITS;
}

static void draw(uint32_t nr)
{
	uint32_t x = 1;

	for (int i = 0; i < VISITS; i++) {
		/* xorshift32 (Marsaglia 2003). */
		x ^= x << 13;
		x ^= x >> 17;
		x ^= x << 5;
		first[i] = x % (nr - 1);
	}
}

static void init(union lock *l, enum kind kind)
{
	switch (kind) {
	case MUTEX:
		pthread_mutex_init(&l->mutex, NULL);
		break;
	case RWLOCK:
		pthread_rwlock_init(&l->rwlock, NULL);
		break;
	case SPIN:
		pthread_spin_init(&l->spin, PTHREAD_PROCESS_PRIVATE);
		break;
	case OWN:
		l->word = 0;
		break;
	}
}

static void *idle(void *unused)
{
	return unused;
}

int main(void)
{
	static const uint32_t numbers[] = {2, MANY};
	union lock *locks;
	pthread_t thread;

	if (pthread_create(&thread, NULL, idle, NULL) || pthread_join(thread, NULL))
		return 1;
	for (unsigned int n = 0; n < sizeof(numbers) / sizeof(numbers[0]); n++) {
		draw(numbers[n]);
		for (unsigned int i = 0; i < NR_CASES; i++) {
			double without, with;

			/* Never freed: each case has locks of its own. */
			locks = aligned_alloc(sizeof(*locks), MANY * sizeof(*locks));
			if (!locks)
				return 1;
			for (uint32_t j = 0; j < MANY; j++)
				init(&locks[j], cases[i].kind);
			measure(nothing, locks);
			without = measure(nothing, locks);
			measure(cases[i].visit, locks);
			with = measure(cases[i].visit, locks);
			printf("%s,%u,%.2f\n", cases[i].name, numbers[n], with - without);
		}
	}
	return 0;
}
