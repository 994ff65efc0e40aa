// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * node-check.c - whether a page that was read is a node. It reads no byte outside the page,
 * whatever the page contains.
 */
#include "node.h"

static bool in_heap(const struct page_node *node, unsigned int offset, unsigned int len)
{
	return offset >= node->heap && offset + len <= PAGE_BYTES;
}

static const char *check_fences(const struct page_node *node)
{
	struct page_node fresh;

	if (node->lower.len > PAGE_KEY_MAX || node->upper.len > PAGE_KEY_MAX)
		return "a fence is too long";
	if (!in_heap(node, node->lower.offset, node->lower.len) ||
	    !in_heap(node, node->upper.offset, node->upper.len))
		return "a fence is outside the heap";
	if (node->lower.len && node->upper.len &&
	    bytes_compare(page_node_fence(node, node->lower),
			  page_node_fence(node, node->upper)) >= 0)
		return "the fences are not ascending";
	page_node_init(&fresh, 0, page_node_fence(node, node->lower),
		       page_node_fence(node, node->upper));
	if (node->prefix != fresh.prefix)
		return "the prefix is not that of the fences";
	return NULL;
}

/* An entry by itself. */
static const char *check_slot(const struct page_node *node, unsigned int at)
{
	const struct page_slot *slot = &node->slots[at];
	unsigned int key = node->prefix + slot->key;

	if (!in_heap(node, slot->offset, slot->key + slot->value))
		return "an entry is outside the heap";
	if (!key || key > PAGE_KEY_MAX || key + slot->value > PAGE_ENTRY_MAX)
		return "an entry has a wrong length";
	if (node->level && slot->value != sizeof(node->last))
		return "a child has a wrong length";
	if (slot->head != page_node_head(page_node_suffix(node, at)))
		return "a head is not that of its key";
	return NULL;
}

/**
 * page_node_check() - check all that a node states about itself
 * @node: the page
 *
 * Return: NULL, or what is wrong.
 */
const char *page_node_check(const struct page_node *node)
{
	unsigned int used = node->lower.len + node->upper.len;
	unsigned char key[PAGE_KEY_MAX];
	const char *wrong;

	if (node->nr > PAGE_SLOTS || node->heap > PAGE_BYTES ||
	    node->heap < offsetof(struct page_node, slots) + node->nr * sizeof(struct page_slot))
		return "the slots and the heap overlap";
	wrong = check_fences(node);
	for (unsigned int i = 0; i < node->nr && !wrong; i++) {
		wrong = check_slot(node, i);
		if (wrong)
			break;
		used += node->slots[i].key + node->slots[i].value;
		if (!page_node_covers(node, (struct bytes){ key, page_node_key(node, i, key) }))
			wrong = "a key is outside the fences";
		else if (i && bytes_compare(page_node_suffix(node, i - 1),
					    page_node_suffix(node, i)) >= 0)
			wrong = "the keys are not ascending";
	}
	if (wrong)
		return wrong;
	if (used + node->dead != PAGE_BYTES - (unsigned int)node->heap)
		return "the bytes of the heap do not add up";
	for (unsigned int i = 0; i < PAGE_HINTS && node->nr > 2 * PAGE_HINTS; i++)
		if (node->hints[i] != node->slots[node->nr / (PAGE_HINTS + 1) * (i + 1)].head)
			return "a hint is not the head of its slot";
	return NULL;
}
