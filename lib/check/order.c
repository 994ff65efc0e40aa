/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * order.c - see order.h.
 *
 * Known edges, nearly all, are found without a lock; new ones and cycles are written in global-lock paths.
 */
#include <errno.h>
#include <string.h>

#include "../base/testpoint.h"
#include "../state/class.h"
#include "../state/gate.h"
#include "../state/modules.h"
#include "../state/wiped.h"
#include "order-graph.h"
#include "order.h"

/* Cycles that are written to the data file, at most; further ones count as dropped. Chosen here. */
#define MAX_CIRCLES 256

/* Places for calls that lock; at most half are used, beyond that classes stay apart. Chosen. */
#define NR_SITES 16384

/*
 * Up to this number of edges the graph of locks has those between locks of two classes, too, that may turn
 * out to be one class. Chosen: half of its room is left for locks that are of one class.
 */
#define SPARE_EDGES (ORDER_MAX_EDGES / 2)

/* Bits of an address in a node; the bits above are the generation of the lock at it. */
#define ADDRESS_BITS 48

/* A call that locks locks without an initialisation. @kind: of the class; 0: a free place */
struct order_site {
	uint64_t site;
	uint32_t kind;
	uint32_t class_index;
};

/**
 * struct order - the tables of a process, wiped by a fork.
 * @classes: order of classes
 * @locks:   order of locks of one class
 * @parents: by number of a class, a lower number of a class of which it is a part, + 1; 0: none
 * @sites:   calls that lock classes of ELIDE_CLASS_FIRST, by a hash; @nr_sites
 * @chunk:   chunk of the data file for the cycles
 * @nr_written: cycles written
 * @written: cycle_key() of each of them
 */
struct order {
	struct order_graph classes;
	struct order_graph locks;
	uint16_t parents[ELIDE_MAX_CLASSES + ELIDE_NR_KINDS];
	struct order_site sites[NR_SITES];
	uint32_t nr_sites;
	struct elide_chunk *chunk;
	uint32_t nr_written;
	uint64_t written[MAX_CIRCLES];
};

static struct order *order;

/* By a hash of the address: how often a lock was initialised or destroyed. */
#define NR_GENERATIONS 1024
static uint32_t generations[NR_GENERATIONS];

static uint32_t *generation(const void *lock)
{
	return &generations[(uintptr_t)lock / CACHE_LINE % NR_GENERATIONS];
}

int elide_order_start(void)
{
	order = elide_wiped_alloc(sizeof(*order));
	return order ? 0 : -ENOMEM;
}

void elide_order_restart(void)
{
	if (order)
		elide_wiped_clear(order, sizeof(*order));
}

static void drop(void)
{
	if (elide_data)
		__atomic_add_fetch(&elide_data->dropped[ELIDE_DROPPED_ORDERS], 1, __ATOMIC_RELAXED);
}

/*
 * The node of a lock in the graph of locks. A lock that is initialised at the address of an
 * earlier one must not inherit its edges.
 */
static uint64_t lock_node(const void *lock)
{
	return (uintptr_t)lock ^ (uint64_t)READ_ONCE(*generation(lock)) << ADDRESS_BITS;
}

void elide_order_renew(const void *lock)
{
	__atomic_add_fetch(generation(lock), 1, __ATOMIC_RELAXED);
}

/* The node of a class: that of all classes that were joined. Lock-free. */
static uint32_t class_node(uint32_t class_index)
{
	uint16_t parent;

	while ((parent = READ_ONCE(order->parents[class_index])))
		class_index = parent - 1;
	return class_index;
}

/* Hash of the classes of a cycle: a sum, so that it does not depend on the first one. */
static uint64_t cycle_key(const struct order_edge *const *cycle, int nr, uint32_t flags)
{
	uint64_t key = flags;

	for (int i = 0; i < nr; i++) {
		/* The first two rounds of splitmix64 (Steele, Lea and Flood, OOPSLA 2014). */
		uint64_t x = (class_node(cycle[i]->from_class) + 1) * 0x9e3779b97f4a7c15ull;

		x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
		key += x ^ x >> 27;
	}
	return key;
}

/* Has a cycle of the same classes been written? Only one of them is. */
static bool is_written(uint64_t key)
{
	for (uint32_t i = 0; i < order->nr_written; i++)
		if (order->written[i] == key)
			return true;
	return false;
}

/* @flags: of struct elide_order */
static void write_cycle(const struct order_edge *const *cycle, int nr, uint32_t flags)
{
	uint64_t key = cycle_key(cycle, nr, flags);
	struct elide_order *record;

	if (is_written(key))
		return;
	if (order->nr_written >= MAX_CIRCLES)
		return drop();
	record = elide_data_record(&order->chunk, ELIDE_CHUNK_ORDER, sizeof(*record));
	if (!record)
		return drop();
	record->nr_edges = nr;
	record->flags = flags;
	for (int i = 0; i < nr; i++) {
		const struct order_edge *e = cycle[i];

		/* The site of a wait for a condition variable has no row that has recorded its object. */
		elide_module_of_past(e->from_site);
		elide_module_of_past(e->to_site);
		record->edges[i] = (struct elide_order_edge){
			.class_index = e->from_class,
			.tid = e->tid,
			.held_kind = e->from_kind,
			.taken_kind = e->to_kind,
			.held_site = e->from_site,
			.taken_site = e->to_site,
		};
	}
	elide_data_publish(order->chunk);
	order->written[order->nr_written++] = key;
}

/* An edge that is new to a graph. */
struct new_edge {
	struct order_graph *graph;
	const struct order_edge *edge;
};

/* Writes the cycle that an edge closes, if any. */
static void look_for_cycle(struct order_graph *g, uint32_t index)
{
	const struct order_edge *cycle[ELIDE_ORDER_EDGES];
	int nr = order_graph_cycle(g, index, cycle, ELIDE_ORDER_EDGES);

	if (nr == -E2BIG)
		return drop();
	if (nr > 0)
		write_cycle(cycle, nr, g == &order->locks ? ELIDE_ORDER_LOCKS : 0);
}

static void add_locked(struct order_graph *g, const struct order_edge *edge)
{
	int index;

	/* Another thread may have added it meanwhile. */
	if (order_graph_has(g, edge))
		return;
	test_point(order_publish);
	index = order_graph_add(g, edge);
	if (index < 0)
		return drop();
	look_for_cycle(g, index);
}

/* The place of a call, or a free one. */
static struct order_site *site_of(uint64_t site, uint32_t kind)
{
	uint32_t at = (site ^ (uint64_t)kind << 56) * 0x9e3779b97f4a7c15ull >> 32;

	for (uint32_t i = 0; i < NR_SITES; i++) {
		struct order_site *s = &order->sites[(at + i) % NR_SITES];

		if (!s->kind || (s->site == site && s->kind == kind))
			return s;
	}
	return &order->sites[0];
}

/* The lower number is the node, so that a chain of parents ends. */
static void join_classes(uint32_t a, uint32_t b)
{
	uint32_t x = class_node(a), y = class_node(b), low = x < y ? x : y, high = x < y ? y : x;
	uint32_t before = order->classes.nr;

	if (x == y)
		return;
	WRITE_ONCE(order->parents[high], low + 1);
	if (order_graph_move(&order->classes, high, low))
		drop();
	for (uint32_t i = before; i < order->classes.nr; i++)
		look_for_cycle(&order->classes, i);
}

/* The call at @site locks a lock of the class. */
static void add_site(uint32_t class_index, uint64_t site, uint32_t kind)
{
	struct order_site *s = site_of(site, kind);

	if (s->kind)
		return join_classes(s->class_index, class_index);
	if (order->nr_sites == NR_SITES / 2)
		return;
	order->nr_sites++;
	*s = (struct order_site){site, kind, class_index};
}

/* Do the lock calls that meet decide of which class the lock is? */
static const struct elide_class *first_class(uint32_t class_index)
{
	const struct elide_class *class = elide_class_info(class_index);

	return class->type == ELIDE_CLASS_FIRST ? class : NULL;
}

void elide_order_site(uint32_t class_index, uint64_t site)
{
	const struct elide_class *class = first_class(class_index);

	if (!class)
		return;
	add_site(class_index, class->address, class->kind);
	add_site(class_index, site, class->kind);
}

/* May the two turn out to be one class? */
static bool may_be_one(uint32_t a, uint32_t b)
{
	const struct elide_class *x = first_class(a), *y = first_class(b);

	return x && y && x->kind == y->kind;
}

static void order_global(void *arg)
{
	const struct new_edge *new = arg;

	test_point(order_entered);
	add_locked(new->graph, new->edge);
	test_point(order_done);
}

static __cold void add(struct order_graph *g, const struct order_edge *edge)
{
	struct new_edge new = {g, edge};

	/* The graph is full: save the global-lock path. */
	if (READ_ONCE(g->nr) >= ORDER_MAX_EDGES)
		return drop();
	elide_global_run(order_global, &new);
}

/* An edge of the locks, or of their classes. */
static void edge_in(struct order_graph *g, const struct elide_thread *t, const struct elide_acquired *held,
		    const struct elide_acquired *acquired)
{
	bool locks = g == &order->locks;
	struct order_edge edge = {
		.from = locks ? lock_node(held->lock) : class_node(held->class_index),
		.to = locks ? lock_node(acquired->lock) : class_node(acquired->class_index),
		.from_site = (uintptr_t)held->site,
		.to_site = (uintptr_t)acquired->site,
		.tid = t->tid,
		.from_class = held->class_index,
		.from_kind = held->kind,
		.to_kind = acquired->kind,
	};

	if (likely(order_graph_has(g, &edge)))
		return;
	add(g, &edge);
}

static void edge_between(const struct elide_thread *t, const struct elide_acquired *held,
			 const struct elide_acquired *acquired)
{
	bool one_class = class_node(held->class_index) == class_node(acquired->class_index);

	if (!one_class)
		edge_in(&order->classes, t, held, acquired);
	if (one_class || (READ_ONCE(order->locks.nr) < SPARE_EDGES &&
			  may_be_one(held->class_index, acquired->class_index)))
		edge_in(&order->locks, t, held, acquired);
}

static void edges_to(const struct elide_thread *t, const struct elide_acquired *acquired)
{
	for (uint32_t i = 0; i < t->nr_acquired; i++)
		if (t->acquired[i].lock)
			edge_between(t, &t->acquired[i], acquired);
}

/* Index of the lock in the thread's list, -1 if it is not in it. */
static int find(const struct elide_thread *t, const void *lock)
{
	for (int i = t->nr_acquired; i--;)
		if (t->acquired[i].lock == lock)
			return i;
	return -1;
}

static struct elide_acquired of_row(const struct elide_row *row, const void *lock)
{
	return (struct elide_acquired){
		.lock = lock,
		.site = (const void *)row->site,
		.class_index = row->class_index,
		.kind = row->kind,
	};
}

/* Rows without a kind, as elide_no_row, and kinds that are not judged. */
static bool is_left_out(const struct elide_row *row)
{
	return !row->kind || row->kind == ELIDE_KIND_CUSTOM || !elide_kind_is_lock(row->kind);
}

/*
 * A signal handler may take and release locks anywhere in here: the entry is the
 * thread's before it is written, and counts once its lock is there.
 */
static void push(struct elide_thread *t, const struct elide_acquired *acquired)
{
	uint32_t nr = t->nr_acquired;
	struct elide_acquired *entry = &t->acquired[nr];

	if (nr == ELIDE_MAX_ACQUIRED)
		return drop();
	WRITE_ONCE(entry->lock, NULL);
	barrier();
	WRITE_ONCE(t->nr_acquired, nr + 1);
	barrier();
	entry->site = acquired->site;
	entry->class_index = acquired->class_index;
	entry->kind = acquired->kind;
	barrier();
	WRITE_ONCE(entry->lock, acquired->lock);
}

void elide_order_waits(struct elide_thread *t, const struct elide_row *row, const void *lock)
{
	struct elide_acquired acquired = of_row(row, lock);

	if (!is_left_out(row) && find(t, lock) < 0)
		edges_to(t, &acquired);
}

void elide_order_acquired(struct elide_thread *t, const struct elide_row *row, const void *lock,
			  bool wait)
{
	struct elide_acquired acquired = of_row(row, lock);
	bool held = find(t, lock) >= 0;

	if (is_left_out(row))
		return;
	/* Only a reader gets a lock that it holds: this one was released by another thread. */
	if (held && acquired.kind != ELIDE_KIND_RWLOCK_READ) {
		elide_order_released(t, lock);
		held = false;
	}
	if (wait && !held)
		edges_to(t, &acquired);
	push(t, &acquired);
}

void elide_order_released(struct elide_thread *t, const void *lock)
{
	/* Read once: in a child that a signal handler forks it turns to 0. */
	int last = (int)READ_ONCE(t->nr_acquired) - 1, i = find(t, lock);

	if (i < 0 || i > last)
		return;
	for (; i < last; i++)
		t->acquired[i] = t->acquired[i + 1];
	WRITE_ONCE(t->acquired[last].lock, NULL);
	barrier();
	WRITE_ONCE(t->nr_acquired, last);
}

void elide_order_reacquired(struct elide_thread *t, const void *lock, const void *site)
{
	int i = find(t, lock);
	struct elide_acquired acquired;

	if (i < 0)
		return;
	acquired = t->acquired[i];
	acquired.site = (const void *)elide_recorded_known(site);
	elide_order_released(t, lock);
	edges_to(t, &acquired);
	push(t, &acquired);
}
