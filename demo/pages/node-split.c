// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * node-split.c - one node becomes two, and two neighbours become one. The parent is the caller's.
 */
#include "node.h"

#include <string.h>

static uint32_t child_of(const struct page_node *node, unsigned int at)
{
	uint32_t child;

	memcpy(&child, page_node_value(node, at).data, sizeof(child));
	return child;
}

/**
 * page_node_separator() - a short key that divides a node behind an entry
 * @node: the node
 * @at: number of the slot; in a leaf not the last one
 * @key: receives up to PAGE_KEY_MAX bytes
 *
 * In an inner node it is the key of the entry, which moves up. In a leaf it is the shortest
 * prefix of the next key that is above this key if that is shorter than the next key, else this
 * key (suffix truncation: Bayer and Unterauer, "Prefix B-trees", TODS 1977).
 *
 * Return: number of bytes.
 */
unsigned int page_node_separator(const struct page_node *node, unsigned int at, unsigned char *key)
{
	unsigned char next[PAGE_KEY_MAX];
	unsigned int len = page_node_key(node, at, key), next_len, same = 0;

	if (node->level)
		return len;
	next_len = page_node_key(node, at + 1, next);
	while (same < len && same < next_len && key[same] == next[same])
		same++;
	if (same + 1 >= next_len || same + 1 > len)
		return len;
	key[same] = next[same];
	return same + 1;
}

/**
 * page_node_split() - divide a node behind an entry
 * @left: the node, which keeps the keys up to @separator
 * @right: receives the other keys
 * @at: number of the slot behind which the node is divided
 * @separator: as of page_node_separator(); not in @left or @right
 *
 * The separator becomes the upper fence of @left and the lower fence of @right. In an inner node
 * the child of the entry becomes the last one of @left, and the entry goes. A separator that is
 * longer than the fence it replaces and than the entries that leave does not fit.
 *
 * Return: true, or false if a half does not fit, and @left is as before.
 */
bool page_node_split(struct page_node *left, struct page_node *right, unsigned int at,
		     struct bytes separator)
{
	struct page_node half;

	page_node_init(right, left->level, separator, page_node_fence(left, left->upper));
	page_node_init(&half, left->level, page_node_fence(left, left->lower), separator);
	if (!page_node_append(right, left, at + 1, left->nr) ||
	    !page_node_append(&half, left, 0, left->level ? at : at + 1))
		return false;
	right->last = left->last;
	half.last = left->level ? child_of(left, at) : 0;
	page_node_copy(left, &half);
	return true;
}

/* Bytes of all entries of @node, if they leave out @prefix bytes. */
static unsigned int entries_bytes(const struct page_node *node, unsigned int prefix)
{
	unsigned int bytes = node->nr * (unsigned int)sizeof(struct page_slot);

	for (unsigned int i = 0; i < node->nr; i++)
		bytes += node->prefix - prefix + node->slots[i].key + node->slots[i].value;
	return bytes;
}

/**
 * page_node_merge() - move the entries of a node into its left neighbour
 * @left: the left neighbour, on the same level
 * @right: the node, whose lower fence is the upper fence of @left; it stays as it is
 *
 * The bytes are counted exactly before anything is written: the common prefix of the outer
 * fences may be shorter than those of the two nodes, which lengthens all keys.
 *
 * Return: true, or false if the entries do not fit, and @left is as before.
 */
bool page_node_merge(struct page_node *left, const struct page_node *right)
{
	struct bytes separator = page_node_fence(right, right->lower);
	struct page_node merged;
	unsigned int need;

	page_node_init(&merged, left->level, page_node_fence(left, left->lower),
		       page_node_fence(right, right->upper));
	need = entries_bytes(left, merged.prefix) + entries_bytes(right, merged.prefix);
	if (left->level)
		need += separator.len - merged.prefix + (unsigned int)sizeof(left->last) +
			(unsigned int)sizeof(struct page_slot);
	if (need > page_node_free(&merged))
		return false;
	if (!page_node_append(&merged, left, 0, left->nr) ||
	    (left->level && page_node_insert(&merged, separator,
					     (struct bytes){ &left->last, sizeof(left->last) })) ||
	    !page_node_append(&merged, right, 0, right->nr))
		return false;
	merged.last = right->last;
	page_node_copy(left, &merged);
	return true;
}
