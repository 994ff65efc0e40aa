// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * bulk.c - builds a tree of struct node from sorted entries, level by level.
 */
#include "sizes.h"
#include "tree.h"

#include <errno.h>

/* The sizes of the nodes of a level: entries of leaves, children of inner nodes. */
static struct sizes level_sizes(const struct node_layout *layout, unsigned int level,
				unsigned int fill)
{
	return level ? sizes_of(layout->inner_max + 1u, 2, fill) :
		       sizes_of(layout->leaf_max, 1, fill);
}

/* Append a new node to a level, whose last node is @last; NULL if out of memory. */
static struct node *append(struct node_thread *thread, unsigned int level, struct node *last)
{
	struct node *node;

	if (pool_reserve(&thread->pool, 1))
		return NULL;
	node = node_new(thread, level);
	if (last)
		last->right = node;
	return node;
}

/* Give all nodes of the level that begins with @node, and of the levels below, back. */
static void discard(const struct node_layout *layout, struct node_thread *thread, struct node *node)
{
	while (node) {
		struct node *below = node->level ? node_children(layout, node)[0] : NULL;

		while (node) {
			struct node *right = node->right;

			pool_put(&thread->pool, node);
			node = right;
		}
		node = below;
	}
}

/* Build the leaves. Returns the first one, or NULL if out of memory, with nothing kept. */
static struct node *build_leaves(const struct node_layout *layout, struct node_thread *thread,
				 const struct bulk_source *source)
{
	struct sizes sizes = level_sizes(layout, 0, source->fill);
	struct node *first = NULL, *last = NULL;

	for (uint64_t i = 0; i < source->nr;) {
		uint64_t size = sizes_next(&sizes, source->nr - i);
		struct node *leaf = append(thread, 0, last);

		if (!leaf) {
			discard(layout, thread, first);
			return NULL;
		}
		for (uint64_t at = 0; at < size; at++)
			source->entry(source->ctx, i++, &node_keys(leaf)[at],
				      &node_values(layout, leaf)[at]);
		leaf->nr = (uint16_t)size;
		if (last)
			last->high = node_keys(leaf)[0];
		first = first ? first : leaf;
		last = leaf;
	}
	return first;
}

static uint64_t length(const struct node *node)
{
	uint64_t nr = 0;

	for (; node; node = node->right)
		nr++;
	return nr;
}

/* Build the level above the nodes from @below on. Returns its first node, or NULL. */
static struct node *build_level(const struct node_layout *layout, struct node_thread *thread,
				struct node *below, unsigned int fill)
{
	struct sizes sizes = level_sizes(layout, below->level + 1u, fill);
	struct node *first = NULL, *last = NULL;
	uint64_t left = length(below);

	while (left) {
		uint64_t size = sizes_next(&sizes, left);
		struct node *node = append(thread, below->level + 1u, last);

		if (!node) {
			discard(layout, thread, first);
			return NULL;
		}
		left -= size;
		for (uint64_t at = 0; at < size; at++) {
			node_children(layout, node)[at] = below;
			if (at + 1 < size)
				node_keys(node)[at] = below->high;
			else
				node->high = below->high;
			below = below->right;
		}
		node->nr = (uint16_t)(size - 1);
		first = first ? first : node;
		last = node;
	}
	return first;
}

/**
 * node_tree_bulk() - build an empty tree from sorted entries
 * @tree: the tree, which no other thread uses
 * @thread: the share whose pool provides the nodes
 * @source: the entries
 *
 * Return: 0, or -ENOMEM with the tree empty.
 */
int node_tree_bulk(void *tree, void *thread, const struct bulk_source *source)
{
	struct node_tree *t = tree;
	struct node *level, *above;

	if (!source->nr)
		return 0;
	level = build_leaves(&t->layout, thread, source);
	while (level && level->right) {
		above = build_level(&t->layout, thread, level, source->fill);
		if (!above)
			discard(&t->layout, thread, level);
		level = above;
	}
	if (!level)
		return -ENOMEM;
	pool_put(&t->own, t->root);
	t->root = level;
	return 0;
}
