// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * node-check.c - whether a page that was read is a node. It reads no byte outside the page,
 * whatever the page contains.
 */
#include "node.h"

static bool in_heap(const struct node *node, unsigned int offset, unsigned int len)
{
	return offset >= node->heap && offset + len <= NODE_BYTES;
}

static const char *check_fences(const struct node *node)
{
	struct node fresh;

	if (node->lower.len > NODE_KEY_MAX || node->upper.len > NODE_KEY_MAX)
		return "a fence is too long";
	if (!in_heap(node, node->lower.offset, node->lower.len) ||
	    !in_heap(node, node->upper.offset, node->upper.len))
		return "a fence is outside the heap";
	if (node->lower.len && node->upper.len &&
	    bytes_compare(node_fence(node, node->lower), node_fence(node, node->upper)) >= 0)
		return "the fences are not ascending";
	node_init(&fresh, 0, node_fence(node, node->lower), node_fence(node, node->upper));
	if (node->prefix != fresh.prefix)
		return "the prefix is not that of the fences";
	return NULL;
}

/* An entry by itself. */
static const char *check_slot(const struct node *node, unsigned int at)
{
	const struct node_slot *slot = &node->slots[at];
	unsigned int key = node->prefix + slot->key;

	if (!in_heap(node, slot->offset, slot->key + slot->value))
		return "an entry is outside the heap";
	if (!key || key > NODE_KEY_MAX || key + slot->value > NODE_ENTRY_MAX)
		return "an entry has a wrong length";
	if (node->level && slot->value != sizeof(node->last))
		return "a child has a wrong length";
	if (slot->head != node_head(node_suffix(node, at)))
		return "a head is not that of its key";
	return NULL;
}

/**
 * node_check() - check all that a node states about itself
 * @node: the page
 *
 * Return: NULL, or what is wrong.
 */
const char *node_check(const struct node *node)
{
	unsigned int used = node->lower.len + node->upper.len;
	unsigned char key[NODE_KEY_MAX];
	const char *wrong;

	if (node->nr > NODE_SLOTS || node->heap > NODE_BYTES ||
	    node->heap < offsetof(struct node, slots) + node->nr * sizeof(struct node_slot))
		return "the slots and the heap overlap";
	wrong = check_fences(node);
	for (unsigned int i = 0; i < node->nr && !wrong; i++) {
		wrong = check_slot(node, i);
		if (wrong)
			break;
		used += node->slots[i].key + node->slots[i].value;
		if (!node_covers(node, (struct bytes){ key, node_key(node, i, key) }))
			wrong = "a key is outside the fences";
		else if (i && bytes_compare(node_suffix(node, i - 1), node_suffix(node, i)) >= 0)
			wrong = "the keys are not ascending";
	}
	if (wrong)
		return wrong;
	if (used + node->dead != NODE_BYTES - (unsigned int)node->heap)
		return "the bytes of the heap do not add up";
	for (unsigned int i = 0; i < NODE_HINTS && node->nr > 2 * NODE_HINTS; i++)
		if (node->hints[i] != node->slots[node->nr / (NODE_HINTS + 1) * (i + 1)].head)
			return "a hint is not the head of its slot";
	return NULL;
}
