// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * load-trees.c - a reservation system: three balanced trees and the customers under one mutex.
 *
 * The kind of work is that of STAMP's vacation (Minh et al., "STAMP: Stanford Transactional
 * Applications for Multi-Processing", IISWC'08). The trees are treaps (Seidel and Aragon,
 * "Randomized search trees", 1996): in the order of their keys, and each node's priority is not
 * below those of its children. A job is one of
 *
 *   reserve   --lines look-ups in random trees; of each tree the dearest that is free is booked. A
 *             customer with too many gives up the oldest
 *   cancel    all that a customer has booked, each found in its tree again
 *   change    --lines keys: one that is missing is inserted, one without bookings is removed,
 *             others have a new price
 *
 * What the jobs add is the number of bookings. Each key has a node of its own, so nothing is
 * allocated in a section. Without locks, too, every walk has an end, and no pointer is read twice:
 * what another thread has set to NULL meanwhile is followed by nobody.
 */
#include "load.h"

#define TREES       3
#define PLACES      100 /* of a resource */
#define QUERIES_MAX 16
#define BOOKED_MAX  14
#define PRICES      1000

/* Apart from its node, which look-ups of others pass. */
struct resource {
	uint32_t price;
	uint32_t booked;
} __attribute__((aligned(CACHE_LINE)));

struct node {
	struct node *child[2];
	uint32_t key;
	uint32_t priority;
	struct resource *resource;
} __attribute__((aligned(CACHE_LINE)));

/* booked[] has 0 or 1 + key * TREES + tree; the oldest is that at @next. */
struct customer {
	uint32_t next;
	uint32_t booked[BOOKED_MAX];
} __attribute__((aligned(CACHE_LINE)));

struct query {
	uint32_t tree;
	uint32_t key;
	uint32_t price;
};

static union lock common;
static struct node *roots[TREES], *nodes[TREES];
static struct customer *customers;
static uint32_t nr_queries;

/* The pointer to the node with that key; NULL is what it points to if there is none. */
static inline struct node **find(uint32_t tree, uint32_t key)
{
	struct node **at = &roots[tree], *node;

	for (uint32_t steps = numbers.span; (node = *at) && node->key != key && steps; steps--)
		at = &node->child[key > node->key];
	return at;
}

/* Above the first of lower priority; what is below it is divided. */
static void insert(uint32_t tree, struct node *new)
{
	struct node **at = &roots[tree], **side[2] = { &new->child[0], &new->child[1] }, *node;
	uint32_t steps = numbers.span;

	for (; (node = *at) && node->priority >= new->priority && steps; steps--)
		at = &node->child[new->key > node->key];
	*at = new;
	for (; node && steps; steps--) {
		bool below = node->key < new->key;

		*side[!below] = node;
		side[!below] = &node->child[below];
		node = node->child[below];
	}
	*side[0] = *side[1] = NULL;
}

/* The node at @at, whose children are merged in its place. */
static void remove_at(struct node **at, const struct node *node)
{
	struct node *child[2] = { node->child[0], node->child[1] };

	for (uint32_t steps = numbers.span; child[0] && child[1] && steps; steps--) {
		unsigned int top = child[0]->priority < child[1]->priority;

		*at = child[top];
		at = &child[top]->child[!top];
		child[top] = *at;
	}
	*at = child[0] ? child[0] : child[1];
}

static void init(void)
{
	lock_init(&common, 0);
	nr_queries = numbers.lines < QUERIES_MAX ? numbers.lines : QUERIES_MAX;
	customers = lines_of(numbers.span * sizeof(*customers));
	for (uint32_t tree = 0; tree < TREES; tree++) {
		struct resource *resources = lines_of(numbers.span * sizeof(*resources));

		nodes[tree] = lines_of(numbers.span * sizeof(struct node));
		for (uint32_t key = 0; key < numbers.span; key++) {
			struct node *node = &nodes[tree][key];

			node->key = key;
			node->priority = mix(mix(key) ^ mix(key) >> 15);
			node->resource = &resources[key];
			node->resource->price = mix(key + tree) % PRICES;
			insert(tree, node);
		}
	}
}

/* Bookings in a subtree whose keys are between @from and @to. */
static bool sum_tree(const struct node *node, uint32_t from, uint32_t to, uint64_t *booked)
{
	if (!node)
		return true;
	if (node->key < from || node->key >= to)
		return false;
	for (unsigned int i = 0; i < 2; i++)
		if (node->child[i] && node->child[i]->priority > node->priority)
			return false;
	*booked += node->resource->booked;
	return sum_tree(node->child[0], from, node->key, booked) &&
	       sum_tree(node->child[1], node->key + 1, to, booked);
}

static bool sum(uint64_t *sum)
{
	uint64_t of_customers = 0;

	for (uint32_t tree = 0; tree < TREES; tree++)
		if (!sum_tree(roots[tree], 0, numbers.span, sum))
			return false;
	for (uint32_t i = 0; i < numbers.span; i++)
		for (unsigned int b = 0; b < BOOKED_MAX; b++)
			of_customers += customers[i].booked[b] != 0;
	return *sum == of_customers;
}

const struct family family_trees = { .init = init, .sum = sum };

/* Give a booking up. False: its node is not in the tree. */
static bool give_up(uint32_t *booked)
{
	struct node *node = *find((*booked - 1) % TREES, (*booked - 1) / TREES);

	*booked = 0;
	if (node)
		node->resource->booked--;
	return node;
}

static uint64_t reserve(const struct query *queries, struct customer *customer, bool *bad)
{
	struct node *best[TREES] = { NULL };
	uint64_t added = 0;

	for (uint32_t i = 0; i < nr_queries; i++) {
		const struct query *q = &queries[i];
		struct node *node = *find(q->tree, q->key);

		if (node && node->resource->booked < PLACES &&
		    (!best[q->tree] || node->resource->price > best[q->tree]->resource->price))
			best[q->tree] = node;
	}
	for (uint32_t tree = 0; tree < TREES; tree++) {
		uint32_t *booked = &customer->booked[customer->next % BOOKED_MAX];

		if (!best[tree])
			continue;
		if (*booked) {
			*bad |= !give_up(booked);
			added--;
		}
		best[tree]->resource->booked++;
		*booked = 1 + best[tree]->key * TREES + tree;
		customer->next++;
		added++;
	}
	return added;
}

static uint64_t cancel(struct customer *customer, bool *bad)
{
	uint64_t added = 0;

	for (unsigned int i = 0; i < BOOKED_MAX; i++) {
		if (!customer->booked[i])
			continue;
		*bad |= !give_up(&customer->booked[i]);
		added--;
	}
	return added;
}

static void change(const struct query *queries)
{
	for (uint32_t i = 0; i < nr_queries; i++) {
		const struct query *q = &queries[i];
		struct node **at = find(q->tree, q->key), *node = *at;

		if (!node)
			insert(q->tree, &nodes[q->tree][q->key]);
		else if (!node->resource->booked)
			remove_at(at, node);
		else
			node->resource->price = q->price;
	}
}

site void load_trees(struct worker *w)
{
	struct customer *customer = &customers[draw(w, numbers.span)];
	struct query queries[QUERIES_MAX];
	uint32_t what = draw(w, 200);
	uint64_t added = 0;
	bool bad = false;

	for (uint32_t i = 0; i < nr_queries; i++) {
		queries[i].tree = draw(w, TREES);
		queries[i].key = draw(w, numbers.span);
		queries[i].price = draw(w, PRICES);
	}
	lock_acquire(&common, &w->guard);
	if (what >= 2 * numbers.writes)
		added = reserve(queries, customer, &bad);
	else if (what >= numbers.writes)
		added = cancel(customer, &bad);
	else
		change(queries);
	spend(numbers.work);
	lock_release(&common, &w->guard);
	w->added += added;
	w->bad += bad;
}
