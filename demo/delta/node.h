/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * node.h - layout of the nodes of the delta storage's index.
 *
 * This header has the layout only and must never include a latch. It follows
 * Karnagel et al., HPCA 2014, sections 2 and 5.1.1: 31 children a node, IDs in
 * place of values, an inner node of six cache lines and a leaf of three.
 *
 * An inner node with nr IDs has nr + 1 children. The subtree children[i] holds the
 * IDs whose values are not below the value of ids[i - 1] and below that of ids[i].
 */
#ifndef DEMO_DELTA_NODE_H
#define DEMO_DELTA_NODE_H

#include "../base/base.h"

/* Maximum number of IDs of a node. */
#define DELTA_IDS 30

/* Minimum number of IDs of a node other than the root: the smaller half of a split. */
#define DELTA_IDS_MIN 14

/*
 * Maximum number of levels. An inner node has at least DELTA_IDS_MIN + 1 = 15
 * children, a leaf at least 14 IDs, and 14 * 15^8 is more than the 2^32 IDs.
 */
#define DELTA_LEVELS_MAX 9

/**
 * struct delta_node - the common first part of inner nodes and leaves
 * @nr: number of IDs in use
 * @level: distance from the leaves, 0 for a leaf
 * @ids: the IDs, in strictly ascending order of their values
 */
struct delta_node {
	uint16_t nr;
	uint16_t level;
	uint32_t ids[DELTA_IDS];
};

/**
 * struct delta_leaf - a node of level 0
 * @node: level 0, and the IDs of the leaf
 * @next: leaf with the next higher values, NULL in the last leaf
 */
struct delta_leaf {
	struct delta_node node;
	struct delta_leaf *next;
} __cacheline_aligned;

/**
 * struct delta_inner - a node of a level above 0
 * @node: the level, and the IDs that separate the children
 * @children: the subtrees
 */
struct delta_inner {
	struct delta_node node;
	struct delta_node *children[DELTA_IDS + 1];
} __cacheline_aligned;

/* Size of a leaf and of an inner node in cache lines, the unit of the allocators. */
#define DELTA_LEAF_LINES 3
#define DELTA_INNER_LINES 6

_Static_assert(sizeof(struct delta_leaf) == DELTA_LEAF_LINES * CACHE_LINE, "as in 5.1.1");
_Static_assert(sizeof(struct delta_inner) == DELTA_INNER_LINES * CACHE_LINE, "as in 5.1.1");

#endif
