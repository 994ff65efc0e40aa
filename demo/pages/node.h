/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * node.h - slotted pages, the nodes of a B-tree with keys and values of variable length.
 *
 *	header | hints | slots, ascending ->      free      <- heap: keys, values, fences
 *
 * The keys of a node are above its lower fence and not above its upper fence. A fence of 0 bytes
 * is no bound. All keys between two fences begin with the common prefix of the fences, which the
 * entries therefore leave out (prefix compression). A slot has the first four of the bytes that
 * are left, its head, and the node has the heads of 16 slots at equal distances, its hints.
 * Source: Alhomssi and Leis, CIDR 2021, section 5, names variable-length keys, prefix compression
 * and merging; the fences are those of Graefe, "Write-optimized B-trees", VLDB 2004.
 *
 * A node has no latch. Nothing here allocates memory or does I/O.
 */
#ifndef DEMO_PAGES_NODE_H
#define DEMO_PAGES_NODE_H

#include "../base/base.h"

#include <stdbool.h>

/* Bytes of a page: Alhomssi and Leis, section 5. */
#define NODE_BYTES 16384
#define NODE_HEADER 64
#define NODE_HINTS 16

/* Limits of an entry, so that a node with two fences has room for four: see below. */
#define NODE_KEY_MAX 1024
#define NODE_ENTRY_MAX 3072

/**
 * struct node_fence - where a bound of a node's keys lies
 * @offset: offset of its bytes in the node
 * @len: their number, 0 if there is no bound
 */
struct node_fence {
	uint16_t offset;
	uint16_t len;
};

/**
 * struct node_slot - an entry of a node
 * @head: the first four bytes of the key behind the prefix, the first one the most significant;
 *	  0 for bytes that the key does not have
 * @offset: offset of the key's bytes behind the prefix, which the value follows
 * @key: number of these bytes
 * @value: number of bytes of the value
 */
struct node_slot {
	uint32_t head;
	uint16_t offset;
	uint16_t key;
	uint16_t value;
} __attribute__((packed, aligned(2)));

/* Slots that fit into a node. */
#define NODE_SLOTS ((NODE_BYTES - NODE_HEADER - 4 * NODE_HINTS) / sizeof(struct node_slot))

/**
 * struct node - a page of a tree
 * @level: 0 is a leaf
 * @nr: number of entries
 * @heap: offset of the lowest byte of the heap
 * @dead: bytes of the heap that belong to no entry and no fence
 * @prefix: bytes that all keys begin with and the entries leave out
 * @lower: the keys are above this fence; the prefix is its first bytes
 * @upper: the keys are not above this fence
 * @last: of an inner node: the child of the keys above those of all slots. The value of a slot
 *	  is the child of the keys up to that of the slot
 * @hints: heads of slots, used if there are more than 2 * NODE_HINTS slots
 * @slots: the entries
 */
struct node {
	uint16_t level;
	uint16_t nr;
	uint16_t heap;
	uint16_t dead;
	uint16_t prefix;
	struct node_fence lower, upper;
	uint16_t pad;
	uint32_t last;
	unsigned char reserved[NODE_HEADER - 24];
	uint32_t hints[NODE_HINTS];
	struct node_slot slots[NODE_SLOTS];
	unsigned char rest[(NODE_BYTES - NODE_HEADER - 4 * NODE_HINTS) % sizeof(struct node_slot)];
};

_Static_assert(sizeof(struct node) == NODE_BYTES, "a node has no padding");
_Static_assert(offsetof(struct node, slots) + 2 * NODE_KEY_MAX +
			       4 * (NODE_ENTRY_MAX + sizeof(struct node_slot)) <= NODE_BYTES,
	       "a node has room for two fences and four entries");

/**
 * struct bytes - a key, a value or a fence
 * @data: the bytes, not owned
 * @len: their number
 */
struct bytes {
	const void *data;
	unsigned int len;
};

/* The bytes of a key behind the prefix. */
static inline struct bytes node_suffix(const struct node *node, unsigned int at)
{
	const struct node_slot *slot = &node->slots[at];

	return (struct bytes){ (const unsigned char *)node + slot->offset, slot->key };
}

/* The value of an entry. */
static inline struct bytes node_value(const struct node *node, unsigned int at)
{
	const struct node_slot *slot = &node->slots[at];

	return (struct bytes){ (const unsigned char *)node + slot->offset + slot->key,
			       slot->value };
}

/* The bytes of a fence. */
static inline struct bytes node_fence(const struct node *node, struct node_fence fence)
{
	return (struct bytes){ (const unsigned char *)node + fence.offset, fence.len };
}

/* Free bytes, including those that node_compact() gains. */
static inline unsigned int node_free(const struct node *node)
{
	return node->heap + node->dead -
	       (unsigned int)(offsetof(struct node, slots) + node->nr * sizeof(struct node_slot));
}

int bytes_compare(struct bytes a, struct bytes b);
uint32_t node_head(struct bytes suffix);
void node_init(struct node *node, unsigned int level, struct bytes lower, struct bytes upper);
bool node_covers(const struct node *node, struct bytes key);
unsigned int node_find(const struct node *node, struct bytes key, bool *found);
unsigned int node_key(const struct node *node, unsigned int at, unsigned char *key);
int node_insert(struct node *node, struct bytes key, struct bytes value);
int node_update(struct node *node, unsigned int at, struct bytes value);
void node_remove(struct node *node, unsigned int at);
void node_compact(struct node *node);

unsigned int node_separator(const struct node *node, unsigned int at, unsigned char *key);
bool node_split(struct node *left, struct node *right, unsigned int at, struct bytes separator);
bool node_merge(struct node *left, const struct node *right);

const char *node_check(const struct node *node);

#endif
