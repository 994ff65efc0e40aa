// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * node.c - operations on one node, which the calling thread may change.
 *
 * The functions acquire no latch and allocate nothing. Readers without a latch may read
 * the node at the same time, so stores go in an order in which they see pointers to
 * filled nodes only.
 */
#include "node.h"

/* Bits of the maximum number of entries: --preload and --ops are at most 2^40 each. */
#define ENTRIES_BITS 41

/**
 * node_layout() - the capacities of nodes
 * @bytes: size of a node, a multiple of the cache line from NODE_BYTES_MIN to NODE_BYTES_MAX
 *
 * A node of the thesis has room for a pointer to its children, and an inner node has a
 * child more than keys. In 64 bytes there is no room for the pointer, as a node with one
 * key would not be worth a level.
 */
struct node_layout node_layout(uint64_t bytes)
{
	struct node_layout layout = {
		.bytes = (uint32_t)bytes,
		.leaf_max = (uint16_t)((bytes - NODE_HEADER - NODE_SLOT) / (2 * NODE_SLOT)),
		.inner_max = (uint16_t)((bytes - NODE_HEADER - 2 * NODE_SLOT) / (2 * NODE_SLOT)),
	};

	if (bytes == NODE_BYTES_MIN)
		layout.inner_max = 2;
	layout.levels_max = (uint16_t)node_levels_max(layout.inner_max < 4 ? 2 : layout.inner_max / 2);
	return layout;
}

/**
 * node_levels_max() - the maximum number of levels of a tree
 * @children: children that the smaller half of a split has at least, 2 or more
 */
unsigned int node_levels_max(unsigned int children)
{
	unsigned int levels = 2;

	for (unsigned int bits = 0; bits < ENTRIES_BITS; bits += 31 - __builtin_clz(children))
		levels++;
	return levels;
}

/**
 * node_clear() - make a node from a pool empty; its latch is free already
 * @node: the node, which no other thread can reach
 * @level: its level
 */
void node_clear(struct node *node, unsigned int level)
{
	node->level = (uint8_t)level;
	node_set(node->nr, 0);
	node_set(node->high, UINT64_MAX);
	node_set(node->right, NULL);
}

/**
 * leaf_insert() - insert an entry into a leaf that is not full
 * @layout: the capacities
 * @leaf: the leaf
 * @at: place of @key, from leaf_find()
 * @key: the key, which the leaf does not have
 * @value: its value
 */
void leaf_insert(const struct node_layout *layout, struct node *leaf, unsigned int at, uint64_t key,
		 uint64_t value)
{
	unsigned int nr = leaf->nr;

	slot_insert(node_values(layout, leaf), nr, at, value);
	slot_insert(node_keys(leaf), nr, at, key);
	node_set(leaf->nr, (uint16_t)(nr + 1));
}

/**
 * leaf_remove() - take an entry out of a leaf
 * @layout: the capacities
 * @leaf: the leaf
 * @at: place of the entry
 *
 * Return: the value of the entry.
 */
uint64_t leaf_remove(const struct node_layout *layout, struct node *leaf, unsigned int at)
{
	uint64_t value = node_values(layout, leaf)[at];
	unsigned int nr = leaf->nr;

	slot_remove(node_keys(leaf), nr, at);
	slot_remove(node_values(layout, leaf), nr, at);
	node_set(leaf->nr, (uint16_t)(nr - 1));
	return value;
}

/**
 * inner_insert() - insert a key and the child to its right into a node that is not full
 * @layout: the capacities
 * @node: the inner node
 * @at: number of the keys below @key
 * @key: the key
 * @child: the subtree of the keys from @key on
 */
void inner_insert(const struct node_layout *layout, struct node *node, unsigned int at,
		  uint64_t key, struct node *child)
{
	unsigned int nr = node->nr;

	slot_insert((uint64_t *)(void *)node_children(layout, node), nr + 1, at + 1,
		    (uint64_t)(uintptr_t)child);
	slot_insert(node_keys(node), nr, at, key);
	node_set(node->nr, (uint16_t)(nr + 1));
}

/* Make @right, which has its keys, the right sibling of @left, from @separator on. */
static void link_right(struct node *left, struct node *right, uint64_t separator)
{
	node_set(right->high, left->high);
	node_set(right->right, left->right);
	node_set_link(left->right, right);
	node_set(left->high, separator);
}

/* Move the entries from @from on from the leaf @left into the empty leaf @right. */
static void leaf_cut(const struct node_layout *layout, struct node *left, struct node *right,
		     unsigned int from)
{
	unsigned int nr = left->nr;

	slots_move(node_keys(right), node_keys(left) + from, nr - from);
	slots_move(node_values(layout, right), node_values(layout, left) + from, nr - from);
	node_set(right->nr, (uint16_t)(nr - from));
	node_set(left->nr, (uint16_t)from);
}

/*
 * Leave the inner node @left @keys keys, and move the keys from @from on and the children
 * from the number @from on into the empty node @right, the latter behind @before others.
 */
static void inner_cut(const struct node_layout *layout, struct node *left, struct node *right,
		      unsigned int keys, unsigned int from, unsigned int before)
{
	unsigned int nr = left->nr;

	slots_move(node_keys(right), node_keys(left) + from - before, nr - from + before);
	slots_move(node_children(layout, right) + before, node_children(layout, left) + from,
		   nr + 1 - from);
	node_set(right->nr, (uint16_t)(nr - from + before));
	node_set(left->nr, (uint16_t)keys);
}

/**
 * node_split() - move the upper half of a node into a new right sibling
 * @layout: the capacities
 * @left: the node, with at least 3 keys
 * @right: an empty node of the same level
 *
 * The middle key of an inner node moves to neither half. The right sibling is reachable
 * through @left afterwards; a parent must get it and the returned key.
 *
 * Return: the least key that belongs to @right, which is the high key of @left.
 */
uint64_t node_split(const struct node_layout *layout, struct node *left, struct node *right)
{
	unsigned int half = (left->nr + 1u) / 2;
	uint64_t separator = node_keys(left)[half];

	if (left->level)
		inner_cut(layout, left, right, half, half + 1, 0);
	else
		leaf_cut(layout, left, right, half);
	link_right(left, right, separator);
	return separator;
}

static uint64_t leaf_split_insert(const struct node_layout *layout, struct node *left,
				  struct node *right, unsigned int at, uint64_t key, uint64_t value)
{
	unsigned int half = (left->nr + 2u) / 2;

	if (at < half) {
		leaf_cut(layout, left, right, half - 1);
		leaf_insert(layout, left, at, key, value);
	} else {
		leaf_cut(layout, left, right, half);
		leaf_insert(layout, right, at - half, key, value);
	}
	return node_keys(right)[0];
}

static uint64_t inner_split_insert(const struct node_layout *layout, struct node *left,
				   struct node *right, unsigned int at, uint64_t key,
				   struct node *child)
{
	unsigned int middle = (left->nr + 1u) / 2;
	uint64_t separator = key;

	if (at < middle) {
		separator = node_keys(left)[middle - 1];
		inner_cut(layout, left, right, middle - 1, middle, 0);
		inner_insert(layout, left, at, key, child);
	} else if (at > middle) {
		separator = node_keys(left)[middle];
		inner_cut(layout, left, right, middle, middle + 1, 0);
		inner_insert(layout, right, at - middle - 1, key, child);
	} else {
		/* The new key is the middle one, and its child is the first of @right. */
		inner_cut(layout, left, right, middle, middle + 1, 1);
		node_set_link(node_children(layout, right)[0], child);
	}
	return separator;
}

/**
 * node_split_insert() - split a full node and insert a key into the proper half
 * @layout: the capacities
 * @left: the node
 * @right: an empty node of the same level
 * @at: number of the keys of @left below @key
 * @key: the key to insert
 * @slot: its value if @left is a leaf, else the address of the child to its right
 *
 * As in node_split(), but the halves are of the same size after the insert, so that a
 * split of a node with 2 keys leaves two children in each half.
 *
 * Return: the least key that belongs to @right, which is the high key of @left.
 */
uint64_t node_split_insert(const struct node_layout *layout, struct node *left, struct node *right,
			   unsigned int at, uint64_t key, uint64_t slot)
{
	uint64_t separator;

	if (left->level)
		separator = inner_split_insert(layout, left, right, at, key,
					       (struct node *)(uintptr_t)slot);
	else
		separator = leaf_split_insert(layout, left, right, at, key, slot);
	link_right(left, right, separator);
	return separator;
}
