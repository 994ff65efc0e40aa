// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * check.c - checks a tree of struct node at rest: order, high keys, chains, latches, and
 * that each node is in exactly one place.
 */
#include "tree.h"

#include "../index/check.h"

#include <errno.h>
#include <stdlib.h>

/*
 * struct census - the nodes of a tree and of its pools
 * @tree: the tree
 * @nr: number of nodes that were found
 * @all: their addresses; NULL if there is no memory for them
 * @max: number of nodes that the pools took from the heap
 */
struct census {
	const struct node_tree *tree;
	uint64_t nr, max;
	const void **all;
};

static unsigned int nr(const void *node)
{
	return ((const struct node *)node)->nr;
}

static unsigned int level(const void *node)
{
	return ((const struct node *)node)->level;
}

static unsigned long long number(const void *node, unsigned int i)
{
	return ((const struct node *)node)->slots[i];
}

static const void *value(struct check *check, const void *node, unsigned int i)
{
	return &((const struct node *)node)->slots[i];
}

static int order(const struct check *check, const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static const void *next(const struct check *check, const void *node)
{
	return ((const struct node *)node)->right;
}

static const void *high(const struct check *check, const void *node)
{
	return &((const struct node *)node)->high;
}

static const void *child(const struct check *check, const void *node, unsigned int i)
{
	const struct census *census = check->ctx;

	return node_children(&census->tree->layout, (struct node *)(uintptr_t)node)[i];
}

static void count(struct census *census, const void *node)
{
	if (census->all && census->nr < census->max)
		census->all[census->nr] = node;
	census->nr++;
}

static int visit(struct check *check, const void *node)
{
	struct census *census = check->ctx;
	const struct node *n = node;

	if (n->nr > node_max(&census->tree->layout, n))
		return fault(&check->fault, "a node of level %u with %u keys", n->level, n->nr);
	if (n->latch || (n->word & census->tree->held) != census->tree->free)
		return fault(&check->fault, "a node of level %u whose latch is held", n->level);
	count(census, node);
	return 0;
}

static void count_pool(struct census *census, const struct node_pool *pool)
{
	const struct pool_free *link = pool->free;

	for (unsigned long i = 0; i < pool->nr_free; i++, link = link->next)
		count(census, (const char *)link - pool->of.link);
}

static void count_retired(struct census *census, const struct epoch_thread *thread)
{
	for (unsigned int i = 0; i < EPOCH_LISTS; i++)
		for (size_t at = 0; at < thread->lists[i].nr; at++)
			count(census, thread->lists[i].nodes[at].node);
}

static int by_address(const void *a, const void *b)
{
	const char *x = *(const char *const *)a, *y = *(const char *const *)b;

	return (x > y) - (x < y);
}

/* Each node of the pools must be in the tree, free or retired, and in no two of them. */
static int census_check(struct census *census, const struct fault *where)
{
	const struct node_tree *tree = census->tree;
	uint64_t in_tree = census->nr;

	count_pool(census, &tree->own);
	for (const struct node_thread *t = tree->threads; t; t = t->next) {
		count_pool(census, &t->pool);
		count_retired(census, &t->epoch);
	}
	if (census->nr != census->max)
		return fault(where, "%llu nodes in the tree, free or retired, of %llu: %lld lost",
			     (unsigned long long)census->nr, (unsigned long long)census->max,
			     (long long)(census->max - census->nr));
	if (!census->all)
		return 0;
	qsort(census->all, census->nr, sizeof(census->all[0]), by_address);
	for (uint64_t i = 1; i < census->nr; i++)
		if (census->all[i] == census->all[i - 1])
			return fault(where, "a node is in two places, %llu nodes in the tree",
				     (unsigned long long)in_tree);
	return 0;
}

/**
 * node_tree_check() - check a tree at rest
 * @tree: the tree; no other thread may use it
 * @why: receives the description of the first fault, without quotes or backslashes
 * @len: size of @why in bytes
 *
 * If there is no memory for the addresses of the nodes, a node that is in two places
 * while another one is lost is not found.
 *
 * Return: true if the tree is correct, else false with @why written.
 */
bool node_tree_check(const void *tree, char *why, size_t len)
{
	const struct node_tree *t = tree;
	struct census census = { .tree = t, .max = t->own.nr_nodes };
	struct check_ops ops = {
		.word = "key",
		.max = t->layout.leaf_max > t->layout.inner_max ? t->layout.leaf_max :
								  t->layout.inner_max,
		.levels = NODE_LEVELS_MAX,
		.nr = nr,
		.level = level,
		.number = number,
		.value = value,
		.order = order,
		.child = child,
		.next = next,
		.high = high,
		.visit = visit,
	};
	struct check check = { .ops = &ops, .fault = { why, len }, .ctx = &census };
	int err;

	for (const struct node_thread *thread = t->threads; thread; thread = thread->next)
		census.max += thread->pool.nr_nodes;
	census.all = calloc(census.max, sizeof(census.all[0]));
	err = tree_check(&check, t->root);
	if (!err)
		err = census_check(&census, &check.fault);
	free(census.all);
	return !err;
}

static const struct node *first_of_level(const struct node_tree *tree, unsigned int level)
{
	struct node *node = tree->root;

	while (node->level > level)
		node = node_children(&tree->layout, node)[0];
	return node;
}

/**
 * node_tree_walk() - call a function for all entries in the order of the leaf list
 * @tree: the tree
 * @visit: called for each entry; a result other than 0 ends the walk
 * @ctx: first argument of @visit
 *
 * Return: the result of the last @visit, 0 for an empty tree.
 */
int node_tree_walk(const void *tree, visit_fn visit, void *ctx)
{
	const struct node_tree *t = tree;
	const struct node *leaf = first_of_level(t, 0);
	int ret = 0;

	for (; leaf && !ret; leaf = leaf->right)
		for (unsigned int at = 0; at < leaf->nr && !ret; at++)
			ret = visit(ctx, leaf->slots[at], leaf->slots[t->layout.leaf_max + at]);
	return ret;
}

/**
 * node_tree_shape() - the size of a tree
 * @tree: the tree; no other thread may use it
 * @shape: receives it
 */
void node_tree_shape(const void *tree, struct tree_shape *shape)
{
	const struct node_tree *t = tree;

	*shape = (struct tree_shape){ .height = t->root->level + 1u };
	for (unsigned int level = 0; level < shape->height; level++) {
		for (const struct node *n = first_of_level(t, level); n; n = n->right) {
			if (level) {
				shape->inner++;
			} else {
				shape->leaves++;
				shape->entries += n->nr;
			}
		}
	}
	shape->bytes = (shape->leaves + shape->inner) * t->layout.bytes;
}
