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

/* Cycles that each measurement lasts, after half as many to get going. */
#define CYCLES 1500000

/* Look-ups of both kinds a core does at first: those of a socket fill its last level. */
#define WARM_LOOKUPS 2000

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
	int nr; /* each looks up something else, or the caches would know it */
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
	uint64_t random = random_start(run->nr * THREADS + thread), begun = cycles_now(), sum = 0, nr = 0, now;

	while ((now = cycles_now()) < begun + CYCLES / 2 + CYCLES) {
		run->lock->lock();
		sum += look_up(run->shape, &random);
		run->lock->unlock();
		nr += now > begun + CYCLES / 2;
	}
	/* The memory is all zeroes; the compiler must not know. */
	run->lookups[thread] = nr + sum;
}

static void warming(int thread, void *arg)
{
	uint64_t random = random_start(thread), sum = 0;

	for (int i = 0; i < WARM_LOOKUPS; i++)
		sum += look_up(&delta, &random) + look_up(&btree, &random);
	__atomic_fetch_add((uint64_t *)arg, sum, __ATOMIC_RELAXED);
}

static double throughput(const struct shape *shape, const struct reader_lock *lock, int threads)
{
	static struct run run;
	double all = 0;

	run = (struct run){.shape = shape, .lock = lock, .nr = run.nr + 1};
	in_threads(threads, reading, &run);
	for (int i = 0; i < threads; i++)
		all += run.lookups[i];
	return all;
}

/* What is compared; each without a lock, too. */
enum { DELTA_NONE, DELTA_COUNT, BTREE_NONE, BTREE_COUNT, BTREE_POSIX, NR_CASES };

static const struct {
	const char *name;
	const struct shape *shape;
	const struct reader_lock *lock;
} cases[NR_CASES] = {
	[DELTA_NONE] = {"delta_none", &delta, &none},
	[DELTA_COUNT] = {"delta_lock", &delta, &count},
	[BTREE_NONE] = {"btree_none", &btree, &none},
	[BTREE_COUNT] = {"btree_lock", &btree, &count},
	[BTREE_POSIX] = {"btree_pthread", &btree, &posix},
};

/* Threads: one, a socket's cores, all cores, all hardware threads. */
enum { ONE, ONE_SOCKET, ALL_CORES, ALL_THREADS, NR_SIZES };
static const int sizes[NR_SIZES] = {1, SOCKET, CORES, THREADS};

static double ops[NR_CASES][NR_SIZES];

/* What the lock leaves of the throughput without it, with all cores beside one socket's. */
static double gap(int lock, int free)
{
	return ops[lock][ALL_CORES] / ops[free][ALL_CORES] /
	       (ops[lock][ONE_SOCKET] / ops[free][ONE_SOCKET]);
}

static double speedup(int case_nr, int size)
{
	return ops[case_nr][size] / ops[case_nr][ONE];
}

int main(void)
{
	uint64_t sum = 0;
	int i, size;

	fidelity_begin(false);
	memory = (uint64_t *)lines_alloc((size_t)MEMORY_LINES * CACHE_LINE);
	fidelity_measure();
	in_threads(CORES, warming, &sum);
	for (size = 0; size < NR_SIZES; size++) {
		for (i = 0; i < NR_CASES; i++) {
			ops[i][size] = throughput(cases[i].shape, cases[i].lock, sizes[size]);
			curve(cases[i].name, sizes[size], ops[i][size]);
		}
	}
	figure("delta_speedup_8", speedup(DELTA_COUNT, ONE_SOCKET));
	figure("delta_lock_8", ops[DELTA_COUNT][ONE_SOCKET] / ops[DELTA_NONE][ONE_SOCKET]);
	figure("delta_drop_16", ops[DELTA_COUNT][ALL_CORES] / CORES /
				(ops[DELTA_COUNT][ONE_SOCKET] / SOCKET));
	figure("delta_32_over_16", ops[DELTA_COUNT][ALL_THREADS] / ops[DELTA_COUNT][ALL_CORES]);
	figure("delta_gap_16", gap(DELTA_COUNT, DELTA_NONE));
	figure("btree_gap_16", gap(BTREE_COUNT, BTREE_NONE));
	figure("btree_beside_delta",
	       speedup(BTREE_COUNT, ALL_CORES) / speedup(DELTA_COUNT, ALL_CORES));
	figure("pthread_gap_16", gap(BTREE_POSIX, BTREE_NONE));
	return 0;
}
