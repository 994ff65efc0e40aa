// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * node-split.c - one node becomes two, and two neighbours become one. The parent is the caller's.
 */
#include "node.h"

#include <string.h>

/*
 * Append entries [from, to) of @old, whose keys are between the fences of @node. Returns whether
 * all fit.
 */
static bool append(struct node *node, const struct node *old, unsigned int from, unsigned int to)
{
	unsigned char key[NODE_KEY_MAX];

	for (unsigned int i = from; i < to; i++)
		if (node_insert(node, (struct bytes){ key, node_key(old, i, key) },
				node_value(old, i)))
			return false;
	return true;
}

static uint32_t child_of(const struct node *node, unsigned int at)
{
	uint32_t child;

	memcpy(&child, node_value(node, at).data, sizeof(child));
	return child;
}

/**
 * node_separator() - a short key that divides a node behind an entry
 * @node: the node
 * @at: number of the slot; in a leaf not the last one
 * @key: receives up to NODE_KEY_MAX bytes
 *
 * In an inner node it is the key of the entry, which moves up. In a leaf it is the shortest
 * prefix of the next key that is above this key if that is shorter than the next key, else this
 * key (suffix truncation: Bayer and Unterauer, "Prefix B-trees", TODS 1977).
 *
 * Return: number of bytes.
 */
unsigned int node_separator(const struct node *node, unsigned int at, unsigned char *key)
{
	unsigned char next[NODE_KEY_MAX];
	unsigned int len = node_key(node, at, key), next_len, same = 0;

	if (node->level)
		return len;
	next_len = node_key(node, at + 1, next);
	while (same < len && same < next_len && key[same] == next[same])
		same++;
	if (same + 1 >= next_len || same + 1 > len)
		return len;
	key[same] = next[same];
	return same + 1;
}

/**
 * node_split() - divide a node behind an entry
 * @left: the node, which keeps the keys up to @separator
 * @right: receives the other keys
 * @at: number of the slot behind which the node is divided
 * @separator: as of node_separator(); not in @left or @right
 *
 * The separator becomes the upper fence of @left and the lower fence of @right. In an inner node
 * the child of the entry becomes the last one of @left, and the entry goes. A separator that is
 * longer than the fence it replaces and than the entries that leave does not fit.
 *
 * Return: true, or false if a half does not fit, and @left is as before.
 */
bool node_split(struct node *left, struct node *right, unsigned int at, struct bytes separator)
{
	struct node half;

	node_init(right, left->level, separator, node_fence(left, left->upper));
	node_init(&half, left->level, node_fence(left, left->lower), separator);
	if (!append(right, left, at + 1, left->nr) ||
	    !append(&half, left, 0, left->level ? at : at + 1))
		return false;
	right->last = left->last;
	half.last = left->level ? child_of(left, at) : 0;
	*left = half;
	return true;
}

/* Bytes of all entries of @node, if they leave out @prefix bytes. */
static unsigned int entries_bytes(const struct node *node, unsigned int prefix)
{
	unsigned int bytes = node->nr * (unsigned int)sizeof(struct node_slot);

	for (unsigned int i = 0; i < node->nr; i++)
		bytes += node->prefix - prefix + node->slots[i].key + node->slots[i].value;
	return bytes;
}

/**
 * node_merge() - move the entries of a node into its left neighbour
 * @left: the left neighbour, on the same level
 * @right: the node, whose lower fence is the upper fence of @left; it stays as it is
 *
 * The bytes are counted exactly before anything is written: the common prefix of the outer
 * fences may be shorter than those of the two nodes, which lengthens all keys.
 *
 * Return: true, or false if the entries do not fit, and @left is as before.
 */
bool node_merge(struct node *left, const struct node *right)
{
	struct bytes separator = node_fence(right, right->lower);
	struct node merged;
	unsigned int need;

	node_init(&merged, left->level, node_fence(left, left->lower),
		  node_fence(right, right->upper));
	need = entries_bytes(left, merged.prefix) + entries_bytes(right, merged.prefix);
	if (left->level)
		need += separator.len - merged.prefix + (unsigned int)sizeof(left->last) +
			(unsigned int)sizeof(struct node_slot);
	if (need > node_free(&merged))
		return false;
	if (!append(&merged, left, 0, left->nr) ||
	    (left->level && node_insert(&merged, separator,
					(struct bytes){ &left->last, sizeof(left->last) })) ||
	    !append(&merged, right, 0, right->nr))
		return false;
	merged.last = right->last;
	*left = merged;
	return true;
}
