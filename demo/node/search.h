/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * search.h - search inside a node: bisection without a branch on the comparison.
 *
 * The processor would mispredict such a branch half of the time. The reads are atomic, so
 * that optimistic readers may search a node that a writer changes; they get some number
 * from 0 to @nr then, and @nr itself may be out of date.
 */
#ifndef DEMO_NODE_SEARCH_H
#define DEMO_NODE_SEARCH_H

#include "node.h"

/* The number of the @nr keys that are below @bound: the place of @bound in a leaf. */
static __inline_always unsigned int keys_below(const uint64_t *keys, unsigned int nr,
					       uint64_t bound)
{
	const uint64_t *base = keys;

	while (nr > 1) {
		unsigned int half = nr / 2;

		base += half & -(unsigned int)(node_get(base[half - 1]) < bound);
		nr -= half;
	}
	return (unsigned int)(base - keys) + (nr && node_get(*base) < bound);
}

/* The number of the @nr keys that are not above @key: the number of the child of @key. */
static __inline_always unsigned int keys_upto(const uint64_t *keys, unsigned int nr, uint64_t key)
{
	const uint64_t *base = keys;

	while (nr > 1) {
		unsigned int half = nr / 2;

		base += half & -(unsigned int)(node_get(base[half - 1]) <= key);
		nr -= half;
	}
	return (unsigned int)(base - keys) + (nr && node_get(*base) <= key);
}

/* The child of @node whose subtree is the place of @key. */
static __inline_always struct node *child_of(const struct node_layout *layout, struct node *node,
					     uint64_t key)
{
	return node_child(layout, node, keys_upto(node_keys(node), node_get(node->nr), key));
}

/* The place of @key in a leaf, and whether the leaf has the key. */
static __inline_always unsigned int leaf_find(struct node *leaf, uint64_t key, bool *found)
{
	unsigned int nr = node_get(leaf->nr);
	unsigned int at = keys_below(node_keys(leaf), nr, key);

	*found = at < nr && node_get(node_keys(leaf)[at]) == key;
	return at;
}

/*
 * Prefetch the lines of the keys of a node. The branch-free search does not speculate, so
 * without this it would wait for one line after the other. A prefetch adds no line to
 * the read set of a transaction.
 */
static __inline_always void node_prefetch(const struct node_layout *layout, const struct node *node)
{
	const char *line = (const char *)node;
	const char *end = line + layout->bytes / 2;

	/* Beyond a page the search itself is as fast: it reads few of the lines. */
	if (end > line + 1024)
		end = line + 1024;
	do {
		__builtin_prefetch(line);
		line += CACHE_LINE;
	} while (line < end);
}

#endif
