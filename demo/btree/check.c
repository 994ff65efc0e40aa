// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * check.c - checks the invariants of a B+Tree.
 */
#include "btree.h"

#include "../index/check.h"

CHECK_NODE_OF_NUMBERS(struct btree_node, keys)

static const void *child(const struct check *check, const void *node, unsigned int i)
{
	return ((const struct btree_node *)node)->children[i];
}

static const void *next(const struct check *check, const void *leaf)
{
	return ((const struct btree_node *)leaf)->next;
}

static const struct check_ops ops = {
	CHECK_NUMBERS,
	.min = BTREE_KEYS_MIN,
	.max = BTREE_KEYS,
	.levels = BTREE_LEVELS_MAX,
	.child = child,
	.next = next,
};

/**
 * btree_check() - check key order, fill, depth and leaf list
 * @tree: the tree
 * @why: receives the description of the first fault, without quotes or backslashes
 * @len: size of @why in bytes
 *
 * Return: true if the tree is correct, else false with @why written.
 */
bool btree_check(const struct btree *tree, char *why, size_t len)
{
	struct check check = { .ops = &ops, .fault = { why, len } };

	return !tree_check(&check, tree->root);
}
