// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * pairs.c - what an uncontended lock and unlock takes, alone and in nested pairs.
 *
 *   pairs                a line a case: name, number of locks, nanoseconds
 *   pairs CASE N PLACES  for turns.c: a line, of nanoseconds, for each byte of standard input
 *
 * One thread locks and unlocks one of N locks, chosen at random for each pair; where pairs are
 * nested, the lock behind it, too, and the nanoseconds are those of both. The process has, or has
 * had, a second thread, so glibc uses atomic instructions; not so in the case mutex-alone. The
 * locks are initialised at PLACES places of the program, from 1 to 30, and all are locked at one.
 *
 * Without arguments each case is measured over one lock and over a thousand; what the loop costs is
 * subtracted. This is meant for virtual time, in which a run repeats exactly. With arguments a line
 * is meant for a processor: it has the processor time of a pair, with the loop, in the best of
 * TURN_ROUNDS rounds of ROUND_PAIRS pairs.
 *
 * An ordinary program: it must contain no part of the library. Where none is preloaded, its own
 * lock has no elide_begin() either.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "../../lib/elide.h"

#pragma weak elide_begin
#pragma weak elide_end

/* Pairs in one measurement of virtual time; the first measurement of a case is a warm-up. */
#define VISITS 20000

/* Locks of the larger cases in virtual time. */
#define MANY 1000

/* A round takes 0.5 ms with few locks: most rounds are not interrupted. */
#define ROUND_PAIRS 50000
#define TURN_ROUNDS 10

/* Pairs before the rounds of a turn, which fill the caches; at most this number. */
#define WARM_PAIRS 300000

/*
 * A lock and what it protects, two cache lines, as in the objects of a program: 300,000 of them
 * are more than the last level cache of most processors.
 */
struct object {
	union {
		pthread_mutex_t mutex;
		pthread_rwlock_t rwlock;
		pthread_spinlock_t spin;
		uint32_t word;
	};
	uint64_t visits;
} __attribute__((aligned(128)));

#define NOINLINE __attribute__((noinline))

/* VISIT(name, acquire, release): a function that acquires and releases the lock of @a. */
#define VISIT(name, acquire, release)                                                              \
	static NOINLINE void name(struct object *a, struct object *b)                              \
	{                                                                                          \
		acquire;                                                                           \
		a->visits++;                                                                       \
		release;                                                                           \
	}

/* NESTED(name, acquire, release): two locks, one inside the other; the arguments take an object. */
#define NESTED(name, acquire, release)                                                             \
	static NOINLINE void name(struct object *a, struct object *b)                              \
	{                                                                                          \
		acquire(a);                                                                        \
		acquire(b);                                                                        \
		a->visits++;                                                                       \
		release(b);                                                                        \
		release(a);                                                                        \
	}

static inline void must(int error)
{
	if (error)
		abort();
}

/* A lock of the program's own, which begins its sections with elide.h. */
static void own_lock(struct object *l)
{
	static const struct elide_rule is_free = {.mask = ~0u, .free = 0, .size = 4};

	if (elide_begin && elide_begin(&l->word, &is_free))
		return;
	while (__atomic_exchange_n(&l->word, 1, __ATOMIC_ACQUIRE))
		;
}

static void own_unlock(struct object *l)
{
	if (!elide_end || !elide_end(&l->word))
		__atomic_store_n(&l->word, 0, __ATOMIC_RELEASE);
}

#define MUTEX_LOCK(l) pthread_mutex_lock(&(l)->mutex)
#define MUTEX_UNLOCK(l) pthread_mutex_unlock(&(l)->mutex)
#define SPIN_LOCK(l) pthread_spin_lock(&(l)->spin)
#define SPIN_UNLOCK(l) pthread_spin_unlock(&(l)->spin)

VISIT(nothing, , )
VISIT(mutex, MUTEX_LOCK(a), MUTEX_UNLOCK(a))
VISIT(mutex_trylock, must(pthread_mutex_trylock(&a->mutex)), MUTEX_UNLOCK(a))
NESTED(mutex_nested, MUTEX_LOCK, MUTEX_UNLOCK)
VISIT(rdlock, pthread_rwlock_rdlock(&a->rwlock), pthread_rwlock_unlock(&a->rwlock))
VISIT(wrlock, pthread_rwlock_wrlock(&a->rwlock), pthread_rwlock_unlock(&a->rwlock))
VISIT(spin, SPIN_LOCK(a), SPIN_UNLOCK(a))
VISIT(spin_trylock, must(pthread_spin_trylock(&a->spin)), SPIN_UNLOCK(a))
NESTED(spin_nested, SPIN_LOCK, SPIN_UNLOCK)
VISIT(own, own_lock(a), own_unlock(a))
NESTED(own_nested, own_lock, own_unlock)

/* As along a list: the next one is locked before the last one is released. */
static NOINLINE void mutex_handed(struct object *a, struct object *b)
{
	MUTEX_LOCK(a);
	MUTEX_LOCK(b);
	MUTEX_UNLOCK(a);
	b->visits++;
	MUTEX_UNLOCK(b);
}

/* ALONE: a mutex of a process with one thread, in which glibc needs no atomic instruction. */
enum kind { MUTEX, ALONE, RECURSIVE, ERRORCHECK, RWLOCK, SPIN, OWN };

static const struct lock_case {
	const char *name;
	enum kind kind;
	void (*visit)(struct object *a, struct object *b);
} cases[] = {
	{"mutex", MUTEX, mutex},
	{"mutex-alone", ALONE, mutex},
	{"mutex-trylock", MUTEX, mutex_trylock},
	{"mutex-recursive", RECURSIVE, mutex},
	{"mutex-errorcheck", ERRORCHECK, mutex},
	{"mutex-nested", MUTEX, mutex_nested},
	{"mutex-hand-over-hand", MUTEX, mutex_handed},
	{"rdlock", RWLOCK, rdlock},
	{"wrlock", RWLOCK, wrlock},
	{"spin", SPIN, spin},
	{"spin-trylock", SPIN, spin_trylock},
	{"spin-nested", SPIN, spin_nested},
	{"elide.h", OWN, own},
	{"elide.h-nested", OWN, own_nested},
};

#define NR_CASES (sizeof(cases) / sizeof(cases[0]))

static pthread_mutexattr_t recursive, errorcheck;

static inline __attribute__((always_inline)) void init(struct object *l, enum kind kind)
{
	switch (kind) {
	case MUTEX:
	case ALONE:
		pthread_mutex_init(&l->mutex, NULL);
		break;
	case RECURSIVE:
		pthread_mutex_init(&l->mutex, &recursive);
		break;
	case ERRORCHECK:
		pthread_mutex_init(&l->mutex, &errorcheck);
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

/*
 * A place of the program where locks are initialised, which makes them a class of their own. The
 * statements with the number keep the compiler from merging the places.
 */
#define PLACE(n)                                                                                   \
	static NOINLINE void place_##n(struct object *l, enum kind kind)                           \
	{                                                                                          \
		__asm__ volatile("" : : "i"(n) : "memory");                                        \
		init(l, kind);                                                                     \
		__asm__ volatile("" : : "i"(n) : "memory");                                        \
	}

#define PLACES                                                                                     \
	P(0) P(1) P(2) P(3) P(4) P(5) P(6) P(7) P(8) P(9) P(10) P(11) P(12) P(13) P(14)            \
	P(15) P(16) P(17) P(18) P(19) P(20) P(21) P(22) P(23) P(24) P(25) P(26) P(27) P(28) P(29)

#define P(n) PLACE(n)
PLACES
#undef P

static void (*const places[])(struct object *l, enum kind kind) = {
#define P(n) place_##n,
	PLACES
#undef P
};

#define NR_PLACES ((long)(sizeof(places) / sizeof(places[0])))

static double now_ns(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return (double)ts.tv_sec * 1e9 + (double)ts.tv_nsec;
}

/* Never freed: each case has locks of its own. One more than @nr, which is behind the last one. */
static struct object *make_locks(long nr, enum kind kind, long nr_places)
{
	struct object *locks = aligned_alloc(sizeof(*locks), (size_t)(nr + 1) * sizeof(*locks));

	if (!locks)
		abort();
	for (long i = 0; i <= nr; i++) {
		locks[i].visits = 0;
		places[i % nr_places](&locks[i], kind);
	}
	return locks;
}

/* The generator of Numerical Recipes; its upper bits are the good ones. */
static inline uint32_t draw(uint32_t *random, uint32_t nr)
{
	*random = *random * 1664525u + 1013904223u;
	return (*random >> 8) % nr;
}

/* The pairs of a thread: one of @nr locks, chosen by @random, each. */
struct turns {
	const struct lock_case *c;
	struct object *locks;
	uint32_t nr;
	uint32_t random;
};

static NOINLINE void pairs(struct turns *t, long nr)
{
	void (*visit)(struct object *a, struct object *b) = t->c->visit;
	uint32_t random = t->random;

	while (nr--) {
		struct object *l = &t->locks[draw(&random, t->nr)];

		visit(l, l + 1);
	}
	t->random = random;
}

static double turn(struct turns *t)
{
	double best = 0;

	pairs(t, t->nr < WARM_PAIRS ? t->nr : WARM_PAIRS);
	for (int i = 0; i < TURN_ROUNDS; i++) {
		double ns = now_ns(CLOCK_THREAD_CPUTIME_ID);

		pairs(t, ROUND_PAIRS);
		ns = (now_ns(CLOCK_THREAD_CPUTIME_ID) - ns) / ROUND_PAIRS;
		if (!i || ns < best)
			best = ns;
	}
	return best;
}

/* The thread that takes the turns. It meets each lock once, so that no round has more to do. */
static void *take_turns(void *arg)
{
	struct turns *t = arg;
	char byte;

	for (uint32_t i = 0; i < t->nr; i++)
		t->c->visit(&t->locks[i], &t->locks[i + 1]);
	while (read(0, &byte, 1) == 1) {
		printf("%.3f\n", turn(t));
		fflush(stdout);
	}
	return NULL;
}

static int main_turns(const char *name, long nr, long nr_places)
{
	struct turns t = {.nr = (uint32_t)nr, .random = 1};
	pthread_t thread;

	for (unsigned int i = 0; i < NR_CASES; i++)
		if (!strcmp(cases[i].name, name))
			t.c = &cases[i];
	if (!t.c || nr_places < 1 || nr_places > NR_PLACES)
		return -1;
	t.locks = make_locks(nr, t.c->kind, nr_places);
	if (t.c->kind == ALONE) {
		take_turns(&t);
		return 0;
	}
	must(pthread_create(&thread, NULL, take_turns, &t));
	must(pthread_join(thread, NULL));
	return 0;
}

static void *idle(void *unused)
{
	return unused;
}

/* Of each visit in virtual time the first lock; the second is the one behind it. */
static uint32_t first[VISITS];

static double measure(void (*visit)(struct object *a, struct object *b), struct object *locks)
{
	double start = now_ns(CLOCK_MONOTONIC);

	for (int i = 0; i < VISITS; i++)
		visit(&locks[first[i]], &locks[first[i] + 1]);
	return (now_ns(CLOCK_MONOTONIC) - start) / VISITS;
}

static int main_virtual(void)
{
	static const uint32_t numbers[] = {1, MANY - 1};
	pthread_t thread;

	must(pthread_create(&thread, NULL, idle, NULL));
	must(pthread_join(thread, NULL));
	for (unsigned int n = 0; n < sizeof(numbers) / sizeof(numbers[0]); n++) {
		uint32_t random = 1;

		for (int i = 0; i < VISITS; i++)
			first[i] = draw(&random, numbers[n]);
		for (unsigned int i = 0; i < NR_CASES; i++) {
			struct object *locks;
			double without, with;

			if (cases[i].kind == ALONE)
				continue;
			locks = make_locks(numbers[n], cases[i].kind, 1);
			measure(nothing, locks);
			without = measure(nothing, locks);
			measure(cases[i].visit, locks);
			with = measure(cases[i].visit, locks);
			printf("%s,%u,%.2f\n", cases[i].name, numbers[n] + 1, with - without);
		}
	}
	return 0;
}

int main(int argc, char **argv)
{
	long nr = argc == 4 ? atol(argv[2]) : 0;

	must(pthread_mutexattr_init(&recursive));
	must(pthread_mutexattr_settype(&recursive, PTHREAD_MUTEX_RECURSIVE));
	must(pthread_mutexattr_init(&errorcheck));
	must(pthread_mutexattr_settype(&errorcheck, PTHREAD_MUTEX_ERRORCHECK));
	if (argc == 1)
		return main_virtual();
	/* draw() chooses among fewer than 2^24. */
	if (nr > 0 && nr < 1 << 24 && !main_turns(argv[1], nr, atol(argv[3])))
		return 0;
	fprintf(stderr, "usage: pairs [CASE N PLACES]; N below 2^24, PLACES up to %ld; cases:",
		NR_PLACES);
	for (unsigned int i = 0; i < NR_CASES; i++)
		fprintf(stderr, " %s", cases[i].name);
	fputc('\n', stderr);
	return 2;
}
