/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * levels.h - the levels of a tree that is built from sorted entries, from the root down.
 *
 * The sizes of the nodes of all levels are drawn twice (see sizes.h): at first to count the
 * nodes, so that all memory is reserved before the tree changes, and then to fill them.
 */
#ifndef DEMO_NODE_LEVELS_H
#define DEMO_NODE_LEVELS_H

#include "node.h"
#include "sizes.h"
#include "../index/tree.h"

/*
 * struct level - a level under construction
 * @sizes: the sizes of its nodes
 * @left: entries, or nodes of the level below, that no node of the level has yet
 */
struct level {
	struct sizes sizes;
	uint64_t left;
};

/*
 * struct levels - a tree under construction
 * @source: the entries
 * @entry: number of the next entry
 * @leaves: number of leaves
 * @inner: number of inner nodes
 * @top: level of the root
 * @level: the levels
 */
struct levels {
	const struct bulk_source *source;
	uint64_t entry;
	uint64_t leaves, inner;
	unsigned int top;
	struct level level[NODE_LEVELS_MAX];
};

/* The size of the next node of a level. */
static inline uint64_t level_next(struct level *level)
{
	uint64_t size = sizes_next(&level->sizes, level->left);

	level->left -= size;
	return size;
}

/**
 * levels_plan() - prepare all levels
 * @levels: the tree
 * @source: the entries, one or more
 * @entries_max: maximum number of entries of a leaf
 * @children_max: maximum number of children of an inner node
 */
static inline void levels_plan(struct levels *levels, const struct bulk_source *source,
			       unsigned int entries_max, unsigned int children_max)
{
	uint64_t nodes = source->nr;

	*levels = (struct levels){ .source = source };
	for (unsigned int i = 0;; i++) {
		struct level count = {
			.sizes = i ? sizes_of(children_max, 2, source->fill) :
				     sizes_of(entries_max, 1, source->fill),
			.left = nodes,
		};

		levels->level[i] = count;
		for (nodes = 0; count.left; nodes++)
			level_next(&count);
		if (i)
			levels->inner += nodes;
		else
			levels->leaves = nodes;
		if (nodes == 1) {
			levels->top = i;
			return;
		}
	}
}

/* Fill a leaf with the next entries. Returns their number. */
static inline uint64_t levels_leaf(struct levels *levels, uint64_t *keys, uint64_t *values)
{
	const struct bulk_source *source = levels->source;
	uint64_t nr = level_next(&levels->level[0]);

	for (uint64_t i = 0; i < nr; i++)
		source->entry(source->ctx, levels->entry++, &keys[i], &values[i]);
	return nr;
}

#endif
