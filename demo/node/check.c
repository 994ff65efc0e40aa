// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * check.c - checks a tree of struct node at rest: order, high keys, chains, latches, and
 * that each node is in exactly one place.
 */
#include "tree.h"

#include "../index/census.h"
#include "../index/check.h"

/*
 * struct tree_census - the tree that is checked and its nodes
 * @tree: the tree
 * @nodes: the nodes
 */
struct tree_census {
	const struct node_tree *tree;
	struct census nodes;
};

CHECK_NODE_OF_NUMBERS(struct node, slots)

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
	const struct tree_census *census = check->ctx;

	return node_children(&census->tree->layout, (struct node *)(uintptr_t)node)[i];
}

static int visit(struct check *check, const void *node)
{
	struct tree_census *census = check->ctx;
	const struct node *n = node;

	if (n->nr > node_max(&census->tree->layout, n))
		return fault(&check->fault, "a node of level %u with %u keys", n->level, n->nr);
	if (n->latch || (n->word & census->tree->held) != census->tree->free)
		return fault(&check->fault, "a node of level %u whose latch is held", n->level);
	census_add(&census->nodes, node);
	return 0;
}

/* Each node of the pools must be in the tree, free or retired, and in no two of them. */
static int all_nodes_check(struct tree_census *census, const struct fault *where)
{
	const struct node_tree *tree = census->tree;

	census_add_pool(&census->nodes, &tree->own);
	for (const struct node_thread *t = tree->threads; t; t = t->next) {
		census_add_pool(&census->nodes, &t->pool);
		census_add_retired(&census->nodes, &t->epoch);
	}
	return census_check(&census->nodes, where);
}

/**
 * node_tree_check() - check a tree at rest
 * @tree: the tree; no other thread may use it
 * @why: receives the description of the first fault, without quotes or backslashes
 * @len: size of @why in bytes
 *
 * Return: true if the tree is correct, else false with @why written.
 */
bool node_tree_check(const void *tree, char *why, size_t len)
{
	const struct node_tree *t = tree;
	struct tree_census census = { .tree = t };
	uint64_t nodes = t->own.nr_nodes;
	struct check_ops ops = {
		CHECK_NUMBERS,
		.max = t->layout.leaf_max > t->layout.inner_max ? t->layout.leaf_max :
								  t->layout.inner_max,
		.levels = NODE_LEVELS_MAX,
		.child = child,
		.next = next,
		.high = high,
		.visit = visit,
	};
	struct check check = { .ops = &ops, .fault = { why, len }, .ctx = &census };
	int err;

	for (const struct node_thread *thread = t->threads; thread; thread = thread->next)
		nodes += thread->pool.nr_nodes;
	census_begin(&census.nodes, nodes);
	err = tree_check(&check, t->root);
	if (!err)
		err = all_nodes_check(&census, &check.fault);
	census_end(&census.nodes);
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
