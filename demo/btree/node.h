/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * node.h - layout of a B+Tree node of 8-byte keys and values.
 *
 * This header has the layout only and must never include a latch. Entries are in
 * the leaves (level 0). An inner node with nr keys has nr + 1 children, and the
 * subtree children[i] holds the keys k with keys[i - 1] <= k < keys[i].
 */
#ifndef DEMO_BTREE_NODE_H
#define DEMO_BTREE_NODE_H

#include "../base/base.h"

/* Maximum number of keys of a node. With 31 keys a node is exactly eight cache lines. */
#define BTREE_KEYS 31

/* Minimum number of keys of a node other than the root: the smaller half of a split. */
#define BTREE_KEYS_MIN (BTREE_KEYS / 2)

/*
 * Maximum number of levels. An inner node has at least BTREE_KEYS_MIN + 1 = 16
 * children, and 16^16 = 2^64 is the number of keys, so there are at most 16 levels
 * above the leaves.
 */
#define BTREE_LEVELS_MAX 17

/**
 * struct btree_node - an inner node or a leaf
 * @nr: number of keys in use
 * @level: distance from the leaves, 0 for a leaf
 * @keys: the keys, strictly ascending
 * @values: value of each key, in a leaf
 * @next: leaf with the next higher keys, NULL in the last leaf; in a leaf
 * @children: subtrees, in an inner node
 */
struct btree_node {
	uint32_t nr;
	uint32_t level;
	uint64_t keys[BTREE_KEYS];
	union {
		struct {
			uint64_t values[BTREE_KEYS];
			struct btree_node *next;
		};
		struct btree_node *children[BTREE_KEYS + 1];
	};
} __cacheline_aligned;

_Static_assert(sizeof(struct btree_node) == 8 * CACHE_LINE, "a node fills its cache lines");

#endif
