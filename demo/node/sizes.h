/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sizes.h - the sizes of the nodes of a level that is built from sorted entries.
 *
 * The sizes are spread evenly around the mean up to full nodes, as random inserts leave
 * them. So the first inserts after the loading split about as many nodes as later ones:
 * if all nodes had the same size, none would be split for a long time, and then all at
 * once. The same level always gets the same sizes.
 */
#ifndef DEMO_NODE_SIZES_H
#define DEMO_NODE_SIZES_H

#include "../base/rng.h"

/**
 * struct sizes - the sizes of the nodes of a level, in entries or in children
 * @max: maximum size of a node
 * @least: minimum size, unless the level has less: 1 entry or 2 children
 * @mean: mean size of a node
 * @made: number of sizes that were drawn
 */
struct sizes {
	unsigned int max, least;
	double mean;
	uint64_t made;
};

/**
 * sizes_of() - the sizes of a level
 * @max: maximum size of a node, above @least
 * @least: minimum size of a node: with one child a node would not be worth its level
 * @fill: mean fill of the nodes in per cent
 */
static inline struct sizes sizes_of(unsigned int max, unsigned int least, unsigned int fill)
{
	struct sizes sizes = { .max = max, .least = least, .mean = (double)max * fill / 100 };

	if (sizes.mean < least)
		sizes.mean = least;
	return sizes;
}

/**
 * sizes_next() - the size of the next node
 * @sizes: the sizes of the level
 * @left: number of entries or children that the level has yet to distribute
 */
static inline uint64_t sizes_next(struct sizes *sizes, uint64_t left)
{
	double spread = (double)sizes->max - sizes->mean;
	double unit = (double)(mix64(sizes->made++) >> 11) * 0x1p-53;
	uint64_t size;

	/* A low mean is in the middle of the minimum and of less than the maximum. */
	if (sizes->mean - spread < sizes->least)
		spread = sizes->mean - sizes->least;
	size = (uint64_t)(sizes->mean - spread + unit * 2 * spread + 0.5);
	if (size > sizes->max)
		size = sizes->max;
	if (size >= left)
		return left;
	/* What is left must be enough for one more node, or this node takes it, too. */
	if (left - size >= sizes->least)
		return size;
	return left <= sizes->max ? left : left - sizes->least;
}

#endif
