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

/**
 * check_order() - member @order of trees whose keys are numbers of 8 bytes
 * @check: the check
 * @a: a key
 * @b: a key
 */
int check_order(const struct check *check, const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
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

/* The chain of each level that has one must be the nodes in the order of the tree. */
static int chain_check(struct check *c, const void *node, unsigned int level)
{
	const void **prev = &c->prev[level];

	if (!c->ops->next || (level && !c->ops->high))
		return 0;
	if (*prev && c->ops->next(c, *prev) != node)
		return level ? fault(&c->fault, "the chain of level %u skips or repeats a node",
				     level) :
			       fault(&c->fault, "the leaf list skips or repeats a leaf");
	*prev = node;
	return 0;
}

/* A high key is the upper bound of the node's subtree. The last node of a level has none. */
static int high_check(struct check *c, const void *node, unsigned int level,
		      const struct range *range)
{
	const struct check_ops *ops = c->ops;

	if (!ops->high)
		return 0;
	if (!ops->next(c, node) != !range->high)
		return fault(&c->fault, "a node of level %u %s a right sibling", level,
			     range->high ? "without" : "with");
	if (range->high && ops->order(c, ops->high(c, node), range->high))
		return fault(&c->fault,
			     "the high key of a node of level %u is not that of its parent", level);
	return 0;
}

static int node_check(struct check *c, const void *node, unsigned int level, bool root,
		      const struct range *range)
{
	const struct check_ops *ops = c->ops;
	unsigned int fewest = root ? (level && ops->min ? 1 : 0) : ops->min;

	if (ops->level(node) != level)
		return fault(&c->fault, "a node of level %u where level %u belongs",
			     ops->level(node), level);
	if (ops->nr(node) < fewest || ops->nr(node) > ops->max)
		return fault(&c->fault, "a node of level %u with %u %ss", level, ops->nr(node),
			     ops->word);
	if (keys_check(c, node, range) || chain_check(c, node, level) ||
	    high_check(c, node, level, range))
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
		const void *child = ops->child(c, node, i);
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
 * tree_check() - check order and range of keys, fill, depth, chains and high keys of a tree
 * @check: how nodes are read, and where a fault is described
 * @root: root of the tree
 *
 * Return: 0, or -EINVAL with the fault described.
 */
int tree_check(struct check *check, const void *root)
{
	unsigned int level = check->ops->level(root);
	struct range all = { NULL, NULL };

	for (unsigned int i = 0; i < CHECK_LEVELS_MAX; i++)
		check->prev[i] = NULL;
	if (level >= check->ops->levels)
		return fault(&check->fault, "a root of level %u", level);
	if (subtree_check(check, root, level, true, &all))
		return -EINVAL;
	if (check->ops->next && check->ops->next(check, check->prev[0]))
		return fault(&check->fault, "the leaf list goes on behind the last leaf");
	return 0;
}
