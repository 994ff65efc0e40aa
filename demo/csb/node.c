// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * node.c - operations on the nodes of a CSB+ tree, which the calling thread may change.
 *
 * The functions acquire no latch, allocate nothing, and read and write no latch.
 */
#include "csb.h"

/**
 * csb_layout() - the capacities of nodes
 * @bytes: size of a node, a multiple of the cache line from NODE_BYTES_MIN to CSB_BYTES_MAX
 */
struct node_layout csb_layout(uint64_t bytes)
{
	uint16_t slots = (uint16_t)((bytes - CSB_HEADER) / NODE_SLOT);

	return (struct node_layout){
		.bytes = (uint32_t)bytes,
		.leaf_max = slots / 2,
		.inner_max = slots,
		/* See csb_half() for the smaller half. */
		.levels_max = (uint16_t)node_levels_max((slots + 2u) / 2 - 1),
	};
}

/**
 * csb_leaf_insert() - insert an entry into a leaf that is not full
 * @layout: the capacities
 * @leaf: the leaf
 * @at: place of @key, from csb_find()
 * @key: the key, which the leaf does not have
 * @value: its value
 */
void csb_leaf_insert(const struct node_layout *layout, struct csb_node *leaf, unsigned int at,
		     uint64_t key, uint64_t value)
{
	slot_insert(csb_values(layout, leaf), leaf->nr, at, value);
	slot_insert(leaf->slots, leaf->nr, at, key);
	leaf->nr++;
}

/**
 * csb_leaf_remove() - take an entry out of a leaf
 * @layout: the capacities
 * @leaf: the leaf
 * @at: place of the entry
 *
 * Return: the value of the entry.
 */
uint64_t csb_leaf_remove(const struct node_layout *layout, struct csb_node *leaf, unsigned int at)
{
	uint64_t value = csb_values(layout, leaf)[at];

	slot_remove(leaf->slots, leaf->nr, at);
	slot_remove(csb_values(layout, leaf), leaf->nr, at);
	leaf->nr--;
	return value;
}

/**
 * csb_copy() - copy a node, but not its latches
 * @layout: the capacities
 * @to: place that no node uses
 * @from: the node
 */
void csb_copy(const struct node_layout *layout, struct csb_node *to, const struct csb_node *from)
{
	to->level = from->level;
	to->nr = from->nr;
	to->children = from->children;
	memcpy(to->slots, from->slots, layout->bytes - CSB_HEADER);
}

/**
 * csb_key_insert() - insert a key into an inner node that is not full
 * @node: the node
 * @at: number of the child whose right sibling, at @at + 1, has the keys from @key on
 * @key: the key
 */
void csb_key_insert(struct csb_node *node, unsigned int at, uint64_t key)
{
	slot_insert(node->slots, node->nr, at, key);
	node->nr++;
}

/* Move the entries from @from on from the leaf @left into the unused place @right. */
static void leaf_cut(const struct node_layout *layout, struct csb_node *left,
		     struct csb_node *right, unsigned int from)
{
	unsigned int nr = left->nr - from;

	right->level = 0;
	right->children = NULL;
	memcpy(right->slots, left->slots + from, nr * sizeof(uint64_t));
	memcpy(csb_values(layout, right), csb_values(layout, left) + from, nr * sizeof(uint64_t));
	right->nr = (uint16_t)nr;
	left->nr = (uint16_t)from;
}

/**
 * csb_leaf_split_insert() - split a full leaf and insert an entry into the proper half
 * @layout: the capacities
 * @left: the leaf
 * @right: place for the upper half, which no node uses
 * @at: place of @key in @left
 * @key: the key to insert
 * @value: its value
 *
 * Return: the least key of @right.
 */
uint64_t csb_leaf_split_insert(const struct node_layout *layout, struct csb_node *left,
			       struct csb_node *right, unsigned int at, uint64_t key,
			       uint64_t value)
{
	unsigned int half = (left->nr + 2u) / 2;

	if (at < half) {
		leaf_cut(layout, left, right, half - 1);
		csb_leaf_insert(layout, left, at, key, value);
	} else {
		leaf_cut(layout, left, right, half);
		csb_leaf_insert(layout, right, at - half, key, value);
	}
	return right->slots[0];
}

/**
 * csb_half() - where to cut a full inner node of which a child will split
 * @node: the node
 * @at: number of that child; its new sibling will be in the same half
 *
 * The halves will have the same number of children, or numbers that differ by 2.
 *
 * Return: the number of the first child that goes into the upper half.
 */
unsigned int csb_half(const struct csb_node *node, unsigned int at)
{
	unsigned int half = (node->nr + 2u) / 2;

	return at + 1 < half ? half - 1 : half;
}

/**
 * csb_inner_cut() - cut an inner node whose upper children have been copied into a new group
 * @left: the node
 * @right: place for the upper half, which no node uses
 * @group: the group of the upper half
 * @from: number of the first child that is in @group
 *
 * Return: the key between the halves, which neither of them has.
 */
uint64_t csb_inner_cut(struct csb_node *left, struct csb_node *right, struct csb_node *group,
		       unsigned int from)
{
	right->level = left->level;
	right->children = group;
	right->nr = (uint16_t)(left->nr - from);
	memcpy(right->slots, left->slots + from, right->nr * sizeof(uint64_t));
	left->nr = (uint16_t)(from - 1);
	return left->slots[from - 1];
}
