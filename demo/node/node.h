/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * node.h - layout of the nodes that the trees with latches in their nodes share.
 *
 * The layout is table 5.1 of Schröder, "Using modern synchronization mechanisms in
 * databases", 2016: 1024 bytes hold 62 keys and values in a leaf, and 61 keys and 62
 * children in an inner node. The size is an option (--node), so the capacities are in
 * struct node_layout.
 *
 *	offset 0   level    distance from the leaves; never changes while the node is in use
 *	       1   latch    a latch of one byte (latch/ttas.h)
 *	       2   nr       number of keys
 *	       4   word     a latch of four bytes: pthread spin lock, HLE, version, S/U/X
 *	       8   high     least key of the right sibling; without one it has no meaning
 *	      16   right    right sibling on the same level, NULL in the last node
 *	      24   slots    leaf:  keys[leaf_max], values[leaf_max]
 *			    inner: keys[inner_max], children[inner_max + 1]
 *
 * The child i of an inner node holds the keys k with keys[i - 1] <= k < keys[i]. Nodes
 * may have no key at all, because deletes take entries out and merge nothing.
 *
 * This header has the layout only and must never include a latch: the two latch fields
 * are bytes that a synchronisation scheme uses. Optimistic readers read while a writer
 * writes. So all shared fields are read with node_get() and written with node_set(), which
 * are plain moves on x86-64, and slots are moved by slots_move().
 */
#ifndef DEMO_NODE_H
#define DEMO_NODE_H

#include "../base/base.h"

#include <stdbool.h>
#include <string.h>

/* Least and greatest size of a node in bytes. */
#define NODE_BYTES_MIN 64
#define NODE_BYTES_MAX 16384

/* Bytes of a slot: a key, a value or a child. */
#define NODE_SLOT 8

/*
 * Maximum number of levels. Splits leave each inner node with at least 2 children, and
 * --preload and --ops bound the entries by 2^41.
 */
#define NODE_LEVELS_MAX 48

/**
 * struct node - an inner node or a leaf; see above
 */
struct node {
	uint8_t level;
	uint8_t latch;
	uint16_t nr;
	uint32_t word;
	uint64_t high;
	struct node *right;
	uint64_t slots[];
} __attribute__((aligned(8)));

#define NODE_HEADER offsetof(struct node, slots)
_Static_assert(NODE_HEADER == 24, "the header of table 5.1 without the pointer to children");

/**
 * struct node_layout - the capacities of nodes of one size
 * @bytes: size of a node in bytes
 * @leaf_max: maximum number of entries of a leaf
 * @inner_max: maximum number of keys of an inner node
 * @levels_max: maximum number of levels of a tree
 */
struct node_layout {
	uint32_t bytes;
	uint16_t leaf_max;
	uint16_t inner_max;
	uint16_t levels_max;
};

struct node_layout node_layout(uint64_t bytes);
unsigned int node_levels_max(unsigned int children);

/* Read and write a field that other threads access at the same time. */
#define node_get(field) __atomic_load_n(&(field), __ATOMIC_RELAXED)
#define node_set(field, value) __atomic_store_n(&(field), value, __ATOMIC_RELAXED)

/* The same for a pointer to a node: who reads it also sees what the node was filled with. */
#define node_get_link(field) __atomic_load_n(&(field), __ATOMIC_ACQUIRE)
#define node_set_link(field, value) __atomic_store_n(&(field), value, __ATOMIC_RELEASE)

static __inline_always uint64_t *node_keys(struct node *node)
{
	return node->slots;
}

/* The value of each key, in a leaf. */
static __inline_always uint64_t *node_values(const struct node_layout *layout, struct node *leaf)
{
	return leaf->slots + layout->leaf_max;
}

/* The children of an inner node, one more than keys. */
static __inline_always struct node **node_children(const struct node_layout *layout,
						   struct node *node)
{
	return (struct node **)(void *)(node->slots + layout->inner_max);
}

static __inline_always struct node *node_child(const struct node_layout *layout, struct node *node,
					       unsigned int i)
{
	return node_get_link(node_children(layout, node)[i]);
}

/* True if @key belongs to a right sibling of @node: another thread has split the node. */
static __inline_always bool node_beyond(struct node *node, uint64_t key)
{
	return unlikely(key >= node_get(node->high)) && node_get_link(node->right);
}

static __inline_always unsigned int node_max(const struct node_layout *layout,
					     const struct node *node)
{
	return node->level ? layout->inner_max : layout->leaf_max;
}

static __inline_always bool node_full(const struct node_layout *layout, const struct node *node)
{
	return node_get(node->nr) >= node_max(layout, node);
}

/* Copy @nr slots; the ranges may overlap. */
static inline void slots_move(void *to, const void *from, unsigned int nr)
{
#ifdef __SANITIZE_THREAD__
	/* ThreadSanitizer reports memmove() as a race with the reads of optimistic readers. */
	uint64_t *a = to;
	const uint64_t *b = from;

	for (unsigned int i = 0; i < nr && a < b; i++)
		__atomic_store_n(&a[i], __atomic_load_n(&b[i], __ATOMIC_ACQUIRE), __ATOMIC_RELEASE);
	for (unsigned int i = nr; i-- > 0 && a > b;)
		__atomic_store_n(&a[i], __atomic_load_n(&b[i], __ATOMIC_ACQUIRE), __ATOMIC_RELEASE);
#else
	memmove(to, from, (size_t)nr * NODE_SLOT);
#endif
}

/* Insert @value at @at into an array of @nr slots. */
static __inline_always void slot_insert(uint64_t *slots, unsigned int nr, unsigned int at,
					uint64_t value)
{
	slots_move(slots + at + 1, slots + at, nr - at);
	/* Release: the slot may be a child. */
	__atomic_store_n(&slots[at], value, __ATOMIC_RELEASE);
}

/* Remove the slot at @at from an array of @nr slots. */
static __inline_always void slot_remove(uint64_t *slots, unsigned int nr, unsigned int at)
{
	slots_move(slots + at, slots + at + 1, nr - at - 1);
}

void node_clear(struct node *node, unsigned int level);
void leaf_insert(const struct node_layout *layout, struct node *leaf, unsigned int at, uint64_t key,
		 uint64_t value);
uint64_t leaf_remove(const struct node_layout *layout, struct node *leaf, unsigned int at);
void inner_insert(const struct node_layout *layout, struct node *node, unsigned int at,
		  uint64_t key, struct node *child);
uint64_t node_split(const struct node_layout *layout, struct node *left, struct node *right);
uint64_t node_split_insert(const struct node_layout *layout, struct node *left, struct node *right,
			   unsigned int at, uint64_t key, uint64_t slot);

#endif
