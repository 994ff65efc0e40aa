// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * check.c - checks the invariants that all trees have (see check.h).
 */
#include "check.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

/* The keys that a subtree may hold: low <= key < high; NULL is no bound. */
struct range {
	const void *low, *high;
};

/**
 * fault() - describe a fault
 * @fault: receives the description
 * @fmt: format of printf()
 *
 * Return: -EINVAL.
 */
int fault(const struct fault *fault, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(fault->why, fault->len, fmt, ap);
	va_end(ap);
	return -EINVAL;
}

static int keys_check(struct check *c, const void *node, const struct range *range)
{
	const struct check_ops *ops = c->ops;
	const void *prev = NULL;

	for (unsigned int i = 0; i < ops->nr(node); i++) {
		const void *value = ops->value(c, node, i);

		if (!value)
			return -EINVAL;
		if (prev && ops->order(c, prev, value) >= 0)
			return fault(&c->fault, "%s %llu out of order in a node of level %u",
				     ops->word, ops->number(node, i), ops->level(node));
		if ((range->low && ops->order(c, value, range->low) < 0) ||
		    (range->high && ops->order(c, value, range->high) >= 0))
			return fault(&c->fault,
				     "%s %llu outside the range of its subtree at level %u",
				     ops->word, ops->number(node, i), ops->level(node));
		prev = value;
	}
	return 0;
}

static int leaf_check(struct check *c, const void *leaf)
{
	if (c->prev && c->ops->next(c->prev) != leaf)
		return fault(&c->fault, "the leaf list skips or repeats a leaf");
	c->prev = leaf;
	return 0;
}

static int node_check(struct check *c, const void *node, unsigned int level, bool root,
		      const struct range *range)
{
	const struct check_ops *ops = c->ops;
	unsigned int fewest = root ? (level ? 1 : 0) : ops->min;

	if (ops->level(node) != level)
		return fault(&c->fault, "a node of level %u where level %u belongs",
			     ops->level(node), level);
	if (ops->nr(node) < fewest || ops->nr(node) > ops->max)
		return fault(&c->fault, "a node of level %u with %u %ss", level, ops->nr(node),
			     ops->word);
	if (keys_check(c, node, range) || (!level && leaf_check(c, node)))
		return -EINVAL;
	return ops->visit ? ops->visit(c, node) : 0;
}

/* The recursion ends, because a node must have the level of its parent less one. */
static int subtree_check(struct check *c, const void *node, unsigned int level, bool root,
			 const struct range *range)
{
	const struct check_ops *ops = c->ops;

	if (node_check(c, node, level, root, range))
		return -EINVAL;
	for (unsigned int i = 0; level && i <= ops->nr(node); i++) {
		const void *child = ops->child(node, i);
		struct range sub = *range;

		if (i)
			sub.low = ops->value(c, node, i - 1);
		if (i < ops->nr(node))
			sub.high = ops->value(c, node, i);
		if (!child)
			return fault(&c->fault, "a node of level %u without child %u", level, i);
		if (subtree_check(c, child, level - 1, false, &sub))
			return -EINVAL;
	}
	return 0;
}

/**
 * tree_check() - check order and range of keys, fill, depth and leaf list of a tree
 * @check: how nodes are read, and where a fault is described
 * @root: root of the tree
 *
 * Return: 0, or -EINVAL with the fault described.
 */
int tree_check(struct check *check, const void *root)
{
	unsigned int level = check->ops->level(root);
	struct range all = { NULL, NULL };

	check->prev = NULL;
	if (level >= check->ops->levels)
		return fault(&check->fault, "a root of level %u", level);
	if (subtree_check(check, root, level, true, &all))
		return -EINVAL;
	if (check->ops->next(check->prev))
		return fault(&check->fault, "the leaf list goes on behind the last leaf");
	return 0;
}
