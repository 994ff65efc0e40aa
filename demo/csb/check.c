// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * check.c - checks a CSB+ tree at rest: order, latches, and that each group is in exactly
 * one place. There are no links between leaves.
 */
#include "csb.h"

#include "../index/census.h"
#include "../index/check.h"

/*
 * struct csb_census - the tree that is checked and its groups
 * @tree: the tree
 * @groups: the groups
 */
struct csb_census {
	const struct csb_tree *tree;
	struct census groups;
};

CHECK_NODE_OF_NUMBERS(struct csb_node, slots)

static const void *child(const struct check *check, const void *node, unsigned int i)
{
	const struct csb_census *census = check->ctx;
	const struct csb_node *n = node;

	return n->children ? csb_child(&census->tree->layout, n, i) : NULL;
}

/* Count a group; all its latches must be free, also those of places that no node uses. */
static int group_check(struct check *check, struct csb_node *group)
{
	struct csb_census *census = check->ctx;
	const struct csb_tree *tree = census->tree;

	census_add(&census->groups, group);
	for (unsigned int i = 0; i < csb_children_max(&tree->layout); i++) {
		const struct csb_node *node = csb_place(&tree->layout, group, i);

		if (node->latch || (node->word & tree->held) != tree->free)
			return fault(&check->fault, "a latch is held at place %u of a group", i);
	}
	return 0;
}

static int visit(struct check *check, const void *node)
{
	const struct csb_census *census = check->ctx;
	const struct csb_node *n = node;

	if (!n->level && n->nr > census->tree->layout.leaf_max)
		return fault(&check->fault, "a leaf with %u keys", n->nr);
	if (n->level && !n->children)
		return fault(&check->fault, "a node of level %u without children", n->level);
	return n->level ? group_check(check, n->children) : 0;
}

static int tree_and_groups_check(struct check *check)
{
	struct csb_census *census = check->ctx;
	const struct csb_tree *tree = census->tree;
	int err = tree_check(check, tree->root);

	if (!err)
		err = group_check(check, tree->root);
	if (err)
		return err;
	census_add_pool(&census->groups, &tree->own);
	for (const struct csb_thread *t = tree->threads; t; t = t->next)
		census_add_pool(&census->groups, &t->pool);
	return census_check(&census->groups, &check->fault);
}

/**
 * csb_check() - check a tree at rest
 * @tree: the tree; no other thread may use it
 * @why: receives the description of the first fault, without quotes or backslashes
 * @len: size of @why in bytes
 *
 * Return: true if the tree is correct, else false with @why written.
 */
bool csb_check(const void *tree, char *why, size_t len)
{
	const struct csb_tree *t = tree;
	struct csb_census census = { .tree = t };
	uint64_t groups = t->own.nr_nodes;
	struct check_ops ops = {
		CHECK_NUMBERS,
		.max = t->layout.inner_max,
		.levels = NODE_LEVELS_MAX,
		.child = child,
		.visit = visit,
	};
	struct check check = { .ops = &ops, .fault = { why, len }, .ctx = &census };
	int err;

	for (const struct csb_thread *thread = t->threads; thread; thread = thread->next)
		groups += thread->pool.nr_nodes;
	census_begin(&census.groups, groups);
	err = tree_and_groups_check(&check);
	census_end(&census.groups);
	return !err;
}

static int walk(const struct node_layout *layout, struct csb_node *node, visit_fn visit, void *ctx)
{
	int ret = 0;

	if (node->level) {
		for (unsigned int i = 0; i <= node->nr && !ret; i++)
			ret = walk(layout, csb_child(layout, node, i), visit, ctx);
		return ret;
	}
	for (unsigned int at = 0; at < node->nr && !ret; at++)
		ret = visit(ctx, node->slots[at], csb_values(layout, node)[at]);
	return ret;
}

/**
 * csb_walk() - call a function for all entries in ascending order of keys
 * @tree: the tree
 * @visit: called for each entry; a result other than 0 ends the walk
 * @ctx: first argument of @visit
 *
 * Return: the result of the last @visit, 0 for an empty tree.
 */
int csb_walk(const void *tree, visit_fn visit, void *ctx)
{
	const struct csb_tree *t = tree;

	return walk(&t->layout, t->root, visit, ctx);
}

static void add_shape(const struct node_layout *layout, const struct csb_node *node,
		      struct tree_shape *shape)
{
	if (!node->level) {
		shape->leaves++;
		shape->entries += node->nr;
		return;
	}
	shape->inner++;
	for (unsigned int i = 0; i <= node->nr; i++)
		add_shape(layout, csb_child(layout, node, i), shape);
}

/**
 * csb_shape() - the size of a tree
 * @tree: the tree; no other thread may use it
 * @shape: receives it; the bytes are those of whole groups
 */
void csb_shape(const void *tree, struct tree_shape *shape)
{
	const struct csb_tree *t = tree;

	*shape = (struct tree_shape){ .height = t->root->level + 1u };
	add_shape(&t->layout, t->root, shape);
	/* Each inner node has a group, and the root is in one. */
	shape->bytes = (shape->inner + 1) * csb_children_max(&t->layout) * t->layout.bytes;
}
