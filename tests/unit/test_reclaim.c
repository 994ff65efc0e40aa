// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test_reclaim.c - the reclamation of retired nodes: when a node comes back, how much memory
 * stays retired, and threads that read nodes while others retire them.
 */
#include <pthread.h>

#include "unit.h"
#include "../../demo/base/rng.h"
#include "../../demo/mem/epoch.h"

#define NODE 128

/* struct thread - a thread of a test: its part of the epoch and its pool */
struct thread {
	struct epoch_thread epoch;
	struct node_pool pool;
};

static struct epoch epoch;
static struct thread threads[4];

static void set_up(unsigned int nr)
{
	epoch_init(&epoch);
	for (unsigned int i = 0; i < nr; i++) {
		epoch_attach(&epoch, &threads[i].epoch);
		pool_init(&threads[i].pool, NODE);
		assert_int_equal(pool_reserve(&threads[i].pool, 1000), 0);
	}
}

static void tear_down(unsigned int nr)
{
	for (unsigned int i = 0; i < nr; i++) {
		epoch_detach(&threads[i].epoch);
		pool_destroy(&threads[i].pool);
	}
}

/* An operation of a thread that retires @nr nodes. */
static void operate(struct thread *t, unsigned int nr)
{
	assert_int_equal(epoch_reserve(&t->epoch, nr), 0);
	epoch_begin(&t->epoch);
	for (unsigned int i = 0; i < nr; i++) {
		if (!t->pool.nr_free)
			assert_int_equal(pool_grow(&t->pool, 1), 0);
		epoch_retire(&t->epoch, &t->pool, pool_get(&t->pool));
	}
}

/* A node does not come back while a thread is in the operation in which it could be read. */
static void test_waits_for_readers(void **state)
{
	unsigned long before;

	set_up(2);
	epoch_begin(&threads[1].epoch);
	before = threads[0].pool.nr_free;
	for (unsigned int i = 0; i < 10 * EPOCH_BATCH; i++)
		operate(&threads[0], 1);
	assert_int_equal(epoch_retired(&threads[0].epoch), 10 * EPOCH_BATCH);
	assert_int_equal(threads[0].pool.nr_free, before - 10 * EPOCH_BATCH);
	/* The reader goes on, and what was retired before its operation comes back. */
	for (unsigned int i = 0; i < 3 * EPOCH_BATCH; i++) {
		epoch_begin(&threads[1].epoch);
		operate(&threads[0], 1);
	}
	assert_in_range(epoch_retired(&threads[0].epoch), 1, 3 * EPOCH_BATCH);
	tear_down(2);
}

/* Nobody waits for a thread that is idle, or that has not begun an operation yet. */
static void test_idle(void **state)
{
	for (int was_active = 0; was_active < 2; was_active++) {
		set_up(2);
		if (was_active) {
			epoch_begin(&threads[1].epoch);
			epoch_idle(&threads[1].epoch);
		}
		for (unsigned int i = 0; i < 100 * EPOCH_BATCH; i++) {
			operate(&threads[0], 1);
			assert_in_range(epoch_retired(&threads[0].epoch), 0, 4 * EPOCH_BATCH);
		}
		/* Back again, it holds up what is retired from now on. */
		epoch_begin(&threads[1].epoch);
		for (unsigned int i = 0; i < 10 * EPOCH_BATCH; i++)
			operate(&threads[0], 1);
		assert_in_range(epoch_retired(&threads[0].epoch), 10 * EPOCH_BATCH,
				14 * EPOCH_BATCH);
		tear_down(2);
	}
}

/* Several nodes in an operation, and into pools of other sizes. */
static void test_many(void **state)
{
	struct node_pool other;

	set_up(1);
	pool_init(&other, 4 * NODE);
	for (unsigned int i = 0; i < 1000; i++) {
		operate(&threads[0], 37);
		assert_int_equal(epoch_reserve(&threads[0].epoch, 1), 0);
		assert_int_equal(pool_reserve(&other, 1), 0);
		epoch_retire(&threads[0].epoch, &other, pool_get(&other));
		assert_in_range(epoch_retired(&threads[0].epoch), 0, 40 * EPOCH_BATCH);
	}
	assert_true(other.nr_nodes < 1000);
	tear_down(1);
	pool_destroy(&other);
}

/* Slots with a node each, which threads replace, and read between two looks at its content. */
#define SLOTS 8
#define STEPS 20000

static void *slots[SLOTS];
static int bad;

static void fill(void *node, uint64_t content)
{
	uint64_t *words = node;

	for (unsigned int i = 0; i < NODE / 8; i++)
		__atomic_store_n(&words[i], content, __ATOMIC_RELAXED);
}

/* True if all words of a node are equal, read twice. */
static bool looks_whole(void *node)
{
	uint64_t *words = node, first = __atomic_load_n(&words[1], __ATOMIC_RELAXED);

	for (unsigned int round = 0; round < 2; round++)
		for (unsigned int i = 0; i < NODE / 8; i++)
			if (__atomic_load_n(&words[i], __ATOMIC_RELAXED) != first)
				return false;
	return true;
}

static void *stress(void *arg)
{
	struct thread *t = arg;
	struct rng rng;

	rng_seed(&rng, 1, (uint64_t)(t - threads));
	for (unsigned int i = 0; i < STEPS; i++) {
		unsigned int slot = (unsigned int)rng_below(&rng, SLOTS);
		void *node, *old;

		if (epoch_reserve(&t->epoch, 1) || pool_reserve(&t->pool, 1))
			break;
		epoch_begin(&t->epoch);
		if (rng_below(&rng, 4)) {
			if (!looks_whole(__atomic_load_n(&slots[slot], __ATOMIC_ACQUIRE)))
				__atomic_store_n(&bad, 1, __ATOMIC_RELAXED);
		} else {
			node = pool_get(&t->pool);
			fill(node, rng_next(&rng));
			old = __atomic_exchange_n(&slots[slot], node, __ATOMIC_ACQ_REL);
			epoch_retire(&t->epoch, &t->pool, old);
		}
		if (!rng_below(&rng, 100))
			epoch_idle(&t->epoch);
	}
	epoch_idle(&t->epoch);
	return NULL;
}

static void test_stress(void **state)
{
	pthread_t handles[4];

	set_up(4);
	for (unsigned int i = 0; i < SLOTS; i++) {
		slots[i] = pool_get(&threads[0].pool);
		fill(slots[i], i);
	}
	for (unsigned int i = 0; i < 4; i++)
		assert_int_equal(pthread_create(&handles[i], NULL, stress, &threads[i]), 0);
	for (unsigned int i = 0; i < 4; i++)
		pthread_join(handles[i], NULL);
	assert_int_equal(bad, 0);
	for (unsigned int i = 0; i < SLOTS; i++)
		assert_true(looks_whole(slots[i]));
	tear_down(4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_waits_for_readers),
		cmocka_unit_test(test_idle),
		cmocka_unit_test(test_many),
		cmocka_unit_test(test_stress),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
