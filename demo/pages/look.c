// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * look.c - reads of a node that another thread may be changing (see look.h).
 */
#include "look.h"

#include <string.h>

#define READ_ONCE(x) __atomic_load_n(&(x), __ATOMIC_RELAXED)

/** look_level() - the level of a node */
__reads_unlatched
unsigned int look_level(const struct page_node *node)
{
	return READ_ONCE(node->level);
}

/** look_nr() - number of entries of a node, at most PAGE_SLOTS */
__reads_unlatched
unsigned int look_nr(const struct page_node *node)
{
	unsigned int nr = READ_ONCE(node->nr);

	return nr < PAGE_SLOTS ? nr : PAGE_SLOTS;
}

/* Copy bytes that another thread may be changing. */
__reads_unlatched
static void copy(void *to, const unsigned char *from, unsigned int len)
{
#ifdef DEMO_TSAN
	for (unsigned int i = 0; i < len; i++)
		((unsigned char *)to)[i] = READ_ONCE(from[i]);
#else
	memcpy(to, from, len);
#endif
}

/*
 * The bytes of the value of an entry; NULL if they are not within the page. *@len is their number.
 */
__reads_unlatched
static const unsigned char *value_at(const struct page_node *node, unsigned int at,
				     unsigned int *len)
{
	const struct page_slot *slot = &node->slots[at];
	unsigned int offset = READ_ONCE(slot->offset) + (unsigned int)READ_ONCE(slot->key);

	*len = READ_ONCE(slot->value);
	return offset + *len <= PAGE_BYTES ? (const unsigned char *)node + offset : NULL;
}

/**
 * look_child_at() - the child of an inner node at a position
 * @node: the node
 * @at: the position
 *
 * Return: number of its page, or any number.
 */
__reads_unlatched
uint32_t look_child_at(const struct page_node *node, unsigned int at)
{
	const unsigned char *value;
	unsigned int len;
	uint32_t child;

	if (at >= READ_ONCE(node->nr) || at >= PAGE_SLOTS)
		return READ_ONCE(node->last);
	value = value_at(node, at, &len);
	if (unlikely(!value || len != sizeof(child)))
		return 0;
	copy(&child, value, sizeof(child));
	return child;
}

/**
 * look_child() - the child of an inner node that has a key
 * @node: the node
 * @key: the key
 *
 * Return: number of its page, or any number.
 */
__reads_unlatched
uint32_t look_child(const struct page_node *node, struct bytes key)
{
	bool found;

	return look_child_at(node, page_node_find(node, key, &found));
}

/**
 * look_free() - free bytes of a node, as page_node_free()
 * @node: the node
 *
 * Return: their number, at most PAGE_BYTES.
 */
__reads_unlatched
unsigned int look_free(const struct page_node *node)
{
	unsigned int all = READ_ONCE(node->heap) + (unsigned int)READ_ONCE(node->dead);
	unsigned int used = (unsigned int)offsetof(struct page_node, slots) +
			    READ_ONCE(node->nr) * (unsigned int)sizeof(struct page_slot);

	return all < used || all - used > PAGE_BYTES ? 0 : all - used;
}

/**
 * look_value() - copy the value of a key from a leaf
 * @node: the leaf
 * @key: the key
 * @value: receives up to @room bytes
 * @room: bytes that @value has room for
 * @len: receives the number of bytes that the value has
 *
 * Return: true if the key was found.
 */
__reads_unlatched
bool look_value(const struct page_node *node, struct bytes key, void *value, unsigned int room,
		unsigned int *len)
{
	const unsigned char *from;
	bool found;
	unsigned int at = page_node_find(node, key, &found);

	if (!found)
		return false;
	from = value_at(node, at, len);
	if (unlikely(!from))
		return false;
	copy(value, from, *len < room ? *len : room);
	return true;
}
