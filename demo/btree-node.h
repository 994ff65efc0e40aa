/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * btree-node.h - layout of a B+Tree node of 8-byte keys and values.
 *
 * Layout only: this header must never know of a latch. Entries live in the
 * leaves (level 0); an inner node with nr keys has nr + 1 children, and the
 * subtree children[i] holds the keys k with keys[i - 1] <= k < keys[i].
 */
#ifndef DEMO_BTREE_NODE_H
#define DEMO_BTREE_NODE_H

#include "base.h"

/* Keys of a full node: with them a node is exactly eight cache lines. */
#define BTREE_KEYS 31

/* Fewest keys of a node other than the root: what the smaller half of a split has. */
#define BTREE_KEYS_MIN (BTREE_KEYS / 2)

/*
 * Most levels: an inner node has at least BTREE_KEYS_MIN + 1 = 16 children and
 * 16^16 = 2^64, so no more than 16 inner levels above the leaves fit the keys.
 */
#define BTREE_LEVELS_MAX 17

/**
 * struct btree_node - an inner node or a leaf
 * @nr: keys in use
 * @level: distance from the leaves, 0 for a leaf
 * @keys: ascending, no key twice
 * @values: leaf: the value of each key
 * @next: leaf: the leaf with the next higher keys, NULL for the last
 * @children: inner node: subtrees
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
