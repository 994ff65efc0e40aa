/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * delta-node.h - layout of the delta storage index: nodes of IDs.
 *
 * Layout only: this header must never know of a latch. After Karnagel et al.,
 * HPCA 2014, sections 2 and 5.1.1: branching 31, IDs in place of values, an
 * inner node of six cache lines and a leaf of three.
 *
 * An inner node with nr IDs has nr + 1 children; the subtree children[i] holds
 * the IDs whose values are not below that of ids[i - 1] and below that of ids[i].
 */
#ifndef DEMO_DELTA_NODE_H
#define DEMO_DELTA_NODE_H

#include "base.h"

/* IDs of a full node. */
#define DELTA_IDS 30

/* Fewest IDs of a node other than the root: what the smaller half of a split has. */
#define DELTA_IDS_MIN 14

/*
 * Most levels: an inner node has at least DELTA_IDS_MIN + 1 = 15 children, a leaf
 * 14 IDs, and 14 * 15^8 is more than the 2^32 IDs there are.
 */
#define DELTA_LEVELS_MAX 9

/**
 * struct delta_node - what inner nodes and leaves begin with
 * @nr: IDs in use
 * @level: distance from the leaves, 0 for a leaf
 * @ids: in ascending order of their values, no value twice
 */
struct delta_node {
	uint16_t nr;
	uint16_t level;
	uint32_t ids[DELTA_IDS];
};

/**
 * struct delta_leaf - a node of level 0
 * @node: its IDs
 * @next: the leaf with the next higher values, NULL for the last
 */
struct delta_leaf {
	struct delta_node node;
	struct delta_leaf *next;
} __cacheline_aligned;

/**
 * struct delta_inner - a node of a higher level
 * @node: the IDs that tell its children apart
 * @children: subtrees
 */
struct delta_inner {
	struct delta_node node;
	struct delta_node *children[DELTA_IDS + 1];
} __cacheline_aligned;

/* Cache lines of each, which is what the allocator counts in. */
#define DELTA_LEAF_LINES 3
#define DELTA_INNER_LINES 6

_Static_assert(sizeof(struct delta_leaf) == DELTA_LEAF_LINES * CACHE_LINE, "as in 5.1.1");
_Static_assert(sizeof(struct delta_inner) == DELTA_INNER_LINES * CACHE_LINE, "as in 5.1.1");

#endif
