// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * readers.c - what a reader lock costs look-ups that only read, across two
 * sockets: HPCA'14 2.1.3, 2.1.4, figures 3c and 4c.
 *
 * Look-ups in a tree of height 6 with the paper's footprints: in the delta
 * index 6 lines of each inner node, 3 of the leaf and 10 random dictionary
 * entries at each level, 93 lines; in the B+Tree 20. Which lines, of the ones
 * that a level has, is random; a search inside of a line is a sum of it. The
 * lowest level and the dictionary have as many lines as the program has
 * memory for, several times the last-level cache.
 */
#include <pthread.h>

#include "fidelity.h"

/* Two Xeon E5-2680: a socket's cores, all cores, all hardware threads. HPCA'14 2.1.2. */
#define SOCKET  8
#define CORES   16
#define THREADS 32

/* Cycles that each measurement lasts, after as many for warming up. */
#define CYCLES 2000000

/* Random lines a core reads at first: those of a socket fill its last level. */
#define WARM_LINES 40960

#define MEMORY_LINES (KIB * KIB) /* 64 MiB */

/* Average children of a node: 0.69 of 31, HPCA'14 2.2. */
#define CHILDREN 21
#define HEIGHT   6

struct shape {
	int node, leaf, dictionary; /* lines: of an inner node, of a leaf, looked up a level */
};

static const struct shape delta = {6, 3, 10};
static const struct shape btree = {3, 5, 0};

struct reader_lock {
	void (*lock)(void);
	void (*unlock)(void);
};

static uint64_t *memory;
/* Readers in the lower bits; a writer would have the sign. */
static int64_t state __cacheline_aligned;
static pthread_rwlock_t rwlock __cacheline_aligned = PTHREAD_RWLOCK_INITIALIZER;

static void nothing(void)
{
}

static void count_lock(void)
{
	for (;;) {
		if (READ_ONCE(state) >= 0 && __atomic_add_fetch(&state, 1, __ATOMIC_ACQUIRE) > 0)
			return;
		cpu_relax();
	}
}

static void count_unlock(void)
{
	__atomic_fetch_sub(&state, 1, __ATOMIC_RELEASE);
}

static void rwlock_lock(void)
{
	pthread_rwlock_rdlock(&rwlock);
}

static void rwlock_unlock(void)
{
	pthread_rwlock_unlock(&rwlock);
}

static const struct reader_lock none = {nothing, nothing};
static const struct reader_lock count = {count_lock, count_unlock};
static const struct reader_lock posix = {rwlock_lock, rwlock_unlock};

struct run {
	const struct shape *shape;
	const struct reader_lock *lock;
	uint64_t lookups[THREADS];
};

static uint64_t line_sum(uint64_t line)
{
	const uint64_t *word = memory + line * (CACHE_LINE / sizeof(*word));
	uint64_t sum = 0;

	for (unsigned int i = 0; i < CACHE_LINE / sizeof(*word); i++)
		sum += word[i];
	return sum;
}

/* One look-up; the levels lie one after the other, the dictionary is the whole memory. */
static uint64_t look_up(const struct shape *s, uint64_t *random)
{
	uint64_t nodes = 1, begin = 0, sum = 0;
	int level, i;

	for (level = HEIGHT - 1; level >= 0; level--) {
		int lines = level ? s->node : s->leaf;
		uint64_t room = (MEMORY_LINES - begin) / lines;
		uint64_t here = nodes < room ? nodes : room;
		uint64_t node = begin + random_below(random, here) * lines;

		for (i = 0; i < lines; i++)
			sum += line_sum(node + i);
		for (i = 0; i < s->dictionary; i++)
			sum += line_sum(random_below(random, MEMORY_LINES));
		begin += level > 1 ? here * lines : 0;
		nodes *= CHILDREN;
	}
	return sum;
}

static void reading(int thread, void *arg)
{
	struct run *run = arg;
	uint64_t random = random_start(thread), begun = cycles_now(), sum = 0, nr = 0, now;

	while ((now = cycles_now()) < begun + 2 * CYCLES) {
		run->lock->lock();
		sum += look_up(run->shape, &random);
		run->lock->unlock();
		nr += now > begun + CYCLES;
	}
	/* The memory is all zeroes; the compiler must not know. */
	run->lookups[thread] = nr + sum;
}

static void warming(int thread, void *arg)
{
	uint64_t random = random_start(THREADS + thread), sum = 0;

	for (int i = 0; i < WARM_LINES; i++)
		sum += line_sum(random_below(&random, MEMORY_LINES));
	__atomic_fetch_add((uint64_t *)arg, sum, __ATOMIC_RELAXED);
}

static double throughput(const struct shape *shape, const struct reader_lock *lock, int threads)
{
	static struct run run;
	double all = 0;

	run = (struct run){.shape = shape, .lock = lock};
	in_threads(threads, reading, &run);
	for (int i = 0; i < threads; i++)
		all += run.lookups[i];
	return all;
}

/* Throughput at each number of threads that is looked at. */
struct scaling {
	double one, socket, cores, threads;
};

static struct scaling scaling(const char *name, const struct shape *shape,
			      const struct reader_lock *lock)
{
	struct scaling s = {
		throughput(shape, lock, 1),
		throughput(shape, lock, SOCKET),
		throughput(shape, lock, CORES),
		throughput(shape, lock, THREADS),
	};

	curve(name, 1, 1);
	curve(name, SOCKET, s.socket / s.one);
	curve(name, CORES, s.cores / s.one);
	curve(name, THREADS, s.threads / s.one);
	return s;
}

/* What the lock leaves of the throughput without it, with all cores beside one socket's. */
static double gap(const struct scaling *lock, const struct scaling *free)
{
	return lock->cores / free->cores / (lock->socket / free->socket);
}

int main(void)
{
	struct scaling delta_free, delta_lock, btree_free, btree_lock, btree_posix;
	uint64_t sum = 0;

	fidelity_begin(false);
	memory = (uint64_t *)lines_alloc((size_t)MEMORY_LINES * CACHE_LINE);
	fidelity_measure();
	in_threads(CORES, warming, &sum);
	delta_free = scaling("delta_none", &delta, &none);
	delta_lock = scaling("delta_lock", &delta, &count);
	btree_free = scaling("btree_none", &btree, &none);
	btree_lock = scaling("btree_lock", &btree, &count);
	btree_posix = scaling("btree_pthread", &btree, &posix);
	figure("delta_speedup_8", delta_lock.socket / delta_lock.one);
	figure("delta_lock_8", delta_lock.socket / delta_free.socket);
	figure("delta_drop_16", delta_lock.cores / delta_lock.socket * SOCKET / CORES);
	figure("delta_32_over_16", delta_lock.threads / delta_lock.cores);
	figure("delta_gap_16", gap(&delta_lock, &delta_free));
	figure("btree_gap_16", gap(&btree_lock, &btree_free));
	figure("btree_beside_delta", btree_lock.cores / btree_lock.one /
						(delta_lock.cores / delta_lock.one));
	figure("pthread_gap_16", gap(&btree_posix, &btree_free));
	return 0;
}
