// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test_order.c - cycles in a graph of locks, and what a thread's lock calls make of it.
 */
#include <errno.h>
#include <unistd.h>

#include "unit.h"
#include "../../lib/compiler.h"
#include "../../lib/base/datafile-writer.h"
#include "../../lib/section/engine.h"
#include "../../lib/life/fill.h"
#include "../../lib/life/lock.h"
#include "../../lib/check/order-graph.h"
#include "../../lib/check/order.h"
#include "../../lib/state/settings.h"
#include "own-data.h"

__attribute__((constructor(101))) static void environment(void)
{
	own_data("profile");
	setenv("ELIDE_ORDER", "1", 1);
}

#define M ELIDE_KIND_MUTEX
#define R ELIDE_KIND_RWLOCK_READ
#define W ELIDE_KIND_RWLOCK_WRITE

static struct order_graph graph;

/* Adds an edge; the length of the cycle it closes. */
static int closes(uint64_t from, int from_kind, uint64_t to, int to_kind)
{
	const struct order_edge edge = {
		.from = from, .from_kind = from_kind, .to = to, .to_kind = to_kind};
	const struct order_edge *cycle[4];
	int index, nr;

	assert_false(order_graph_has(&graph, &edge));
	index = order_graph_add(&graph, &edge);
	assert_true(index >= 0);
	assert_true(order_graph_has(&graph, &edge));
	nr = order_graph_cycle(&graph, index, cycle, ARRAY_SIZE(cycle));
	/* Each edge begins where the one before ends, and the last leads back. */
	for (int i = 0; i < nr; i++)
		assert_int_equal(cycle[i]->to, cycle[(i + 1) % nr]->from);
	if (nr > 0)
		assert_int_equal(cycle[0]->from, from);
	return nr;
}

static int empty(void **state)
{
	memset(&graph, 0, sizeof(graph));
	return 0;
}

static void two(void **state)
{
	assert_int_equal(closes(1, M, 2, M), 0);
	assert_int_equal(closes(2, M, 1, M), 2);
}

static void three_and_the_shortest(void **state)
{
	assert_int_equal(closes(1, M, 2, M), 0);
	assert_int_equal(closes(2, M, 3, M), 0);
	assert_int_equal(closes(3, M, 1, M), 3);
	/* A shorter way than through 2. */
	assert_int_equal(closes(1, M, 3, M), 2);
}

static void none(void **state)
{
	/* A tree, a diamond, and a part that is not joined to them. */
	assert_int_equal(closes(1, M, 2, M), 0);
	assert_int_equal(closes(1, M, 3, M), 0);
	assert_int_equal(closes(2, M, 4, M), 0);
	assert_int_equal(closes(3, M, 4, M), 0);
	assert_int_equal(closes(1, M, 4, M), 0);
	assert_int_equal(closes(6, M, 5, M), 0);
	assert_int_equal(closes(4, M, 5, M), 0);
}

static void old_cycles_are_not_told_again(void **state)
{
	assert_int_equal(closes(1, M, 2, M), 0);
	assert_int_equal(closes(2, M, 1, M), 2);
	/* It leads into the cycle and is not part of it. */
	assert_int_equal(closes(3, M, 1, M), 0);
	assert_int_equal(closes(2, M, 4, M), 0);
}

static void longer_than_there_is_room(void **state)
{
	for (int i = 1; i < 4; i++)
		assert_int_equal(closes(i, M, i + 1, M), 0);
	assert_int_equal(closes(4, M, 1, M), 4);
	empty(state);
	for (int i = 1; i < 5; i++)
		assert_int_equal(closes(i, M, i + 1, M), 0);
	assert_int_equal(closes(5, M, 1, M), -E2BIG);
}

/* A cycle needs somebody to wait at each lock. */
static void readers(void **state)
{
	static const struct {
		int held_1, taken_2, held_2, taken_1, cycle;
	} table[] = {
		{R, R, R, R, 0}, {M, R, R, M, 0}, {R, M, M, R, 0}, {M, W, R, M, 2},
		{M, R, W, M, 2}, {M, W, W, M, 2}, {R, R, W, W, 2}, {W, R, R, W, 0},
		{R, M, M, W, 2}, {W, M, M, R, 2},
	};

	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		empty(state);
		assert_int_equal(closes(1, table[i].held_1, 2, table[i].taken_2), 0);
		assert_int_equal(closes(2, table[i].held_2, 1, table[i].taken_1), table[i].cycle);
	}
	/* The edge of readers is no way through, the one of a writer beside it is. */
	empty(state);
	assert_int_equal(closes(1, M, 2, R), 0);
	assert_int_equal(closes(2, R, 1, M), 0);
	assert_int_equal(closes(1, M, 2, W), 2);
}

/* A node becomes a part of another one: its edges are that one's. */
static void moved(void **state)
{
	const struct order_edge *cycle[4];

	assert_int_equal(closes(1, M, 2, M), 0);
	assert_int_equal(closes(3, M, 1, M), 0);
	assert_int_equal(closes(4, M, 5, M), 0);
	/* The edge between the two is none any more; 3 -> 1 is. */
	assert_int_equal(order_graph_move(&graph, 2, 1), 0);
	assert_int_equal(graph.nr, 3);
	assert_int_equal(closes(1, M, 4, M), 0);
	assert_int_equal(order_graph_move(&graph, 5, 3), 0);
	/* 3 -> 1 -> 4 -> 3: the copy of the edge to 5 closes it. */
	assert_int_equal(graph.nr, 5);
	assert_int_equal(order_graph_cycle(&graph, 4, cycle, ARRAY_SIZE(cycle)), 3);
}

static void full(void **state)
{
	struct order_edge edge = {.from_kind = M, .to_kind = M};
	const struct order_edge *cycle[4];
	uint64_t i;

	/* One long chain: the search has to go all of it. */
	for (i = 1; i < ORDER_MAX_EDGES; i++) {
		edge.from = i;
		edge.to = i + 1;
		assert_int_equal(order_graph_add(&graph, &edge), i - 1);
	}
	edge.from = i;
	edge.to = 1;
	assert_int_equal(order_graph_add(&graph, &edge), ORDER_MAX_EDGES - 1);
	assert_int_equal(order_graph_cycle(&graph, ORDER_MAX_EDGES - 1, cycle, 4), -E2BIG);
	edge.to = 2;
	assert_int_equal(order_graph_add(&graph, &edge), -ENOSPC);
	assert_false(order_graph_has(&graph, &edge));
}

/* From here on through the engine: lock calls of this thread. */

static const struct elide_chunk *chunk_of_orders(void)
{
	for (uint64_t at = ELIDE_HEADER_SIZE; elide_data && at < elide_data->size;
	     at += ELIDE_CHUNK_SIZE) {
		const struct elide_chunk *chunk = (const void *)((const char *)elide_data + at);

		if (chunk->type == ELIDE_CHUNK_ORDER)
			return chunk;
	}
	return NULL;
}

static unsigned int nr_cycles(void)
{
	const struct elide_chunk *chunk = chunk_of_orders();

	return chunk ? chunk->nr_records : 0;
}

/* One class each, as they lie in the program's data; and ten of one class on the heap. */
static struct lock {
	char bytes[CACHE_LINE];
} v, w, x, y, z, *nodes;

/* @at: each number is a call of its own */
static void take_at(const void *lock, enum elide_kind kind, int at, bool wait)
{
	const void *site = (const char *)take_at + ELIDE_NR_KINDS * at + kind;
	struct elide_call *call = elide_call_get(lock, site, kind);

	assert_non_null(call);
	elide_order_acquired(elide_self, elide_call_row(call), lock, wait);
}

static void take(const void *lock, enum elide_kind kind, bool wait)
{
	take_at(lock, kind, 0, wait);
}

static void drop(const void *lock)
{
	elide_order_released(elide_self, lock);
}

static void pair(const void *first, const void *second)
{
	take(first, M, true);
	take(second, M, true);
	drop(second);
	drop(first);
}

static void calls_that_do_not_wait(void **state)
{
	unsigned int before = nr_cycles();

	pair(&x, &y);
	take(&y, M, true);
	take(&x, M, false);
	drop(&x);
	drop(&y);
	assert_int_equal(nr_cycles(), before);
	/* Taken without waiting it is held all the same. */
	take(&z, M, false);
	take(&x, M, true);
	drop(&x);
	drop(&z);
	pair(&y, &z);
	assert_int_equal(nr_cycles(), before + 1);
	assert_int_equal(elide_self->nr_acquired, 0);
}

static void each_cycle_once(void **state)
{
	unsigned int before;

	pair(&x, &y);
	pair(&y, &x);
	before = nr_cycles();
	assert_true(before >= 1);
	for (int i = 0; i < 10; i++) {
		pair(&x, &y);
		pair(&y, &x);
	}
	assert_int_equal(nr_cycles(), before);
}

static void taken_again(void **state)
{
	struct lock *m = &v, *n = &w;
	unsigned int before = nr_cycles();

	/* Waiting with a mutex that is not held, or alone: nothing. */
	elide_order_reacquired(elide_self, m, taken_again);
	take(m, M, true);
	elide_order_reacquired(elide_self, m, taken_again);
	assert_int_equal(elide_self->nr_acquired, 1);
	take(n, M, true);
	assert_int_equal(nr_cycles(), before);
	elide_order_reacquired(elide_self, m, taken_again);
	assert_int_equal(nr_cycles(), before + 1);
	drop(m);
	drop(n);
	assert_int_equal(elide_self->nr_acquired, 0);
}

static void locks_of_one_class(void **state)
{
	unsigned int before = nr_cycles();

	/* Hand over hand, up and down: no two of them in both orders. */
	for (int i = 0; i < 6; i++)
		pair(&nodes[i], &nodes[i + 1]);
	pair(&nodes[7], &nodes[3]);
	assert_int_equal(nr_cycles(), before);
	/* A new lock there has no past. */
	elide_lock_new(&nodes[1], M, locks_of_one_class, false);
	pair(&nodes[1], &nodes[0]);
	assert_int_equal(nr_cycles(), before);
	pair(&nodes[3], &nodes[2]);
	assert_int_equal(nr_cycles(), before + 1);
	/* Two of another cycle of that class say nothing new. */
	pair(&nodes[5], &nodes[4]);
	assert_int_equal(nr_cycles(), before + 1);
}

static void pair_at(const void *first, int at_first, const void *second, int at_second)
{
	take_at(first, M, at_first, true);
	take_at(second, M, at_second, true);
	drop(second);
	drop(first);
}

/* Without an initialisation the call that first locks a lock has named its class. */
static void classes_that_a_call_joins(void **state)
{
	struct lock *l = calloc(10, sizeof(*l));
	unsigned int before = nr_cycles();

	/* By address, at two calls: first a class each. */
	for (int i = 0; i < 6; i++)
		pair_at(&l[i], 1, &l[i + 1], 2);
	pair_at(&l[2], 1, &l[5], 2);
	pair_at(&l[2], 2, &l[5], 1);
	assert_int_equal(nr_cycles(), before);
	/* Two locks in both orders, the first of them before their classes were joined. */
	pair_at(&l[1], 3, &l[0], 4);
	assert_int_equal(nr_cycles(), before + 1);
	free(l);
}

static void a_cycle_of_joined_classes(void **state)
{
	static struct lock fixed;
	struct lock *l = calloc(4, sizeof(*l));
	unsigned int before;

	take_at(&l[0], M, 11, true);
	drop(&l[0]);
	take_at(&l[1], M, 12, true);
	drop(&l[1]);
	before = nr_cycles();
	pair_at(&l[0], 11, &fixed, 0);
	pair_at(&fixed, 0, &l[1], 12);
	assert_int_equal(nr_cycles(), before);
	/* The two turn out to be of one class. */
	take_at(&l[1], M, 11, true);
	drop(&l[1]);
	assert_int_equal(nr_cycles(), before + 1);
	free(l);
}

static void more_than_can_be_held(void **state)
{
	uint64_t before = elide_data->dropped[ELIDE_DROPPED_ORDERS];

	for (int i = 0; i < ELIDE_MAX_ACQUIRED + 3; i++)
		take(&x, R, true);
	assert_int_equal(elide_self->nr_acquired, ELIDE_MAX_ACQUIRED);
	assert_int_equal(elide_data->dropped[ELIDE_DROPPED_ORDERS], before + 3);
	for (int i = 0; i < ELIDE_MAX_ACQUIRED + 3; i++)
		drop(&x);
	assert_int_equal(elide_self->nr_acquired, 0);
}

/* Another thread has released it, as one may a semaphore made of a mutex. */
static void taken_twice(void **state)
{
	take(&x, M, true);
	take(&x, M, true);
	assert_int_equal(elide_self->nr_acquired, 1);
	drop(&x);
}

static int start(void **state)
{
	nodes = calloc(10, sizeof(*nodes));
	for (int i = 0; i < 10; i++)
		elide_lock_new(&nodes[i], M, start, false);
	/* The call brings the engine, and its constructor, into the program. */
	elide_status(NULL);
	return !nodes || !elide_process.order;
}

static int stop(void **state)
{
	free(nodes);
	return unlink(elide_data_path());
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(two, empty),
		cmocka_unit_test_setup(three_and_the_shortest, empty),
		cmocka_unit_test_setup(none, empty),
		cmocka_unit_test_setup(old_cycles_are_not_told_again, empty),
		cmocka_unit_test_setup(longer_than_there_is_room, empty),
		cmocka_unit_test(readers),
		cmocka_unit_test_setup(moved, empty),
		cmocka_unit_test_setup(full, empty),
		cmocka_unit_test(calls_that_do_not_wait),
		cmocka_unit_test(each_cycle_once),
		cmocka_unit_test(taken_again),
		cmocka_unit_test(locks_of_one_class),
		cmocka_unit_test(classes_that_a_call_joins),
		cmocka_unit_test(a_cycle_of_joined_classes),
		cmocka_unit_test(more_than_can_be_held),
		cmocka_unit_test(taken_twice),
	};

	return cmocka_run_group_tests(tests, start, stop);
}
