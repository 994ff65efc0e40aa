/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * count.c - counters under locks: count KIND SEED. Threads add to counters
 * under a lock of KIND and now and then make a system call in the section, so
 * that elided and locked sections meet. Exit 0 if the totals are exact.
 *
 * Prints the number of acquisitions made, for comparison with the data file.
 */
#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

#define NR_THREADS  4
#define NR_COUNTERS 4

/* Sections of each thread; COUNT_ROUNDS overrides it for the emulator. */
static unsigned long nr_rounds = 8000;

struct shared {
	union {
		pthread_mutex_t mutex;
		pthread_rwlock_t rwlock;
		pthread_spinlock_t spin;
		mtx_t mtx;
	} lock;
	unsigned long value __attribute__((aligned(64)));
	char pad[56];
};

static struct shared shared[NR_COUNTERS];
static unsigned long expected[NR_THREADS], acquired[NR_THREADS], torn;

/* xorshift32, as in Marsaglia's paper. */
static uint32_t next(uint32_t *seed)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 17;
	*seed ^= *seed << 5;
	return *seed;
}

/* An increment that takes its time, in all the ways a section can go. */
static void increment(volatile unsigned long *value, uint32_t random)
{
	unsigned long old = *value;

	for (volatile unsigned int spin = random & 63; spin; spin--)
		;
	if (!(random >> 8 & 31))
		syscall(SYS_getppid);
	*value = old + 1;
}

static int lock_mutex(struct shared *s, uint32_t r) { return pthread_mutex_lock(&s->lock.mutex); }
static int lock_try(struct shared *s, uint32_t r) { return pthread_mutex_trylock(&s->lock.mutex); }
static void unlock_mutex(struct shared *s) { pthread_mutex_unlock(&s->lock.mutex); }
static int lock_spin(struct shared *s, uint32_t r) { return pthread_spin_lock(&s->lock.spin); }
static void unlock_spin(struct shared *s) { pthread_spin_unlock(&s->lock.spin); }
static int lock_mtx(struct shared *s, uint32_t r) { return mtx_lock(&s->lock.mtx); }
static void unlock_mtx(struct shared *s) { mtx_unlock(&s->lock.mtx); }
static int lock_write(struct shared *s, uint32_t r) { return pthread_rwlock_wrlock(&s->lock.rwlock); }
static void unlock_rw(struct shared *s) { pthread_rwlock_unlock(&s->lock.rwlock); }

static int lock_timed(struct shared *s, uint32_t r)
{
	struct timespec until;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_nsec += (r & 3) * 10000;
	if (until.tv_nsec >= 1000000000) {
		until.tv_sec++;
		until.tv_nsec -= 1000000000;
	}
	return pthread_mutex_timedlock(&s->lock.mutex, &until);
}

/* A reader sees no half of a write: value and its double are written together. */
static int lock_read_or_write(struct shared *s, uint32_t r)
{
	if (r >> 16 & 3)
		return pthread_rwlock_wrlock(&s->lock.rwlock);
	pthread_rwlock_rdlock(&s->lock.rwlock);
	if (s->value != *(unsigned long *)s->pad)
		__atomic_add_fetch(&torn, 1, __ATOMIC_RELAXED);
	pthread_rwlock_unlock(&s->lock.rwlock);
	return EBUSY;
}

static const struct kind {
	const char *name;
	int (*lock)(struct shared *s, uint32_t random);
	void (*unlock)(struct shared *s);
	bool nested;
} kinds[] = {
	{"mutex", lock_mutex, unlock_mutex, false},
	{"nested", lock_mutex, unlock_mutex, true},
	{"trylock", lock_try, unlock_mutex, false},
	{"timedlock", lock_timed, unlock_mutex, false},
	{"spin", lock_spin, unlock_spin, false},
	{"mtx", lock_mtx, unlock_mtx, false},
	{"rwlock", lock_write, unlock_rw, false},
	{"readers", lock_read_or_write, unlock_rw, false},
};

static const struct kind *kind;
static uint32_t seed;

static void add(struct shared *s, uint32_t random, unsigned int me)
{
	increment(&s->value, random);
	*(volatile unsigned long *)s->pad += 1;
	expected[me]++;
}

static void *work(void *arg)
{
	unsigned int me = (uintptr_t)arg;
	uint32_t random = seed * 2654435761u + me * 40503u + 1;

	for (unsigned long i = 0; i < nr_rounds; i++) {
		uint32_t r = next(&random);
		struct shared *first = &shared[r >> 28 & 1], *second = &shared[2 + (r >> 29 & 1)];
		int err = kind->lock(first, r);

		acquired[me] += !err || kind->lock == lock_read_or_write;
		if (err)
			continue;
		add(first, r, me);
		if (!kind->nested) {
			kind->unlock(first);
			continue;
		}
		kind->lock(second, r);
		acquired[me]++;
		add(second, r >> 4, me);
		/* In order and crosswise. */
		kind->unlock(r >> 30 & 1 ? first : second);
		kind->unlock(r >> 30 & 1 ? second : first);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	unsigned long sum = 0, doubles = 0, wanted = 0, calls = 0;
	pthread_t threads[NR_THREADS];

	for (unsigned int i = 0; argc == 3 && i < sizeof(kinds) / sizeof(*kinds); i++)
		if (!strcmp(argv[1], kinds[i].name))
			kind = &kinds[i];
	if (!kind) {
		fprintf(stderr, "usage: count KIND SEED\n");
		return 2;
	}
	seed = strtoul(argv[2], NULL, 10);
	if (getenv("COUNT_ROUNDS"))
		nr_rounds = strtoul(getenv("COUNT_ROUNDS"), NULL, 10);
	for (int i = 0; kind->lock == lock_spin && i < NR_COUNTERS; i++)
		pthread_spin_init(&shared[i].lock.spin, PTHREAD_PROCESS_PRIVATE);
	for (uintptr_t i = 0; i < NR_THREADS; i++)
		pthread_create(&threads[i], NULL, work, (void *)i);
	for (int i = 0; i < NR_THREADS; i++)
		pthread_join(threads[i], NULL);
	for (int i = 0; i < NR_COUNTERS; i++) {
		sum += shared[i].value;
		doubles += *(unsigned long *)shared[i].pad;
	}
	for (int i = 0; i < NR_THREADS; i++) {
		wanted += expected[i];
		calls += acquired[i];
	}
	printf("%lu\n", calls);
	if (sum == wanted && doubles == wanted && !torn)
		return 0;
	fprintf(stderr, "counted %lu and %lu, not %lu; %lu torn reads\n", sum, doubles, wanted, torn);
	return 1;
}
