// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * node.c - search and change of one slotted page. It never reads another page.
 */
#include "node.h"

#include <errno.h>
#include <string.h>

#define READ_ONCE(x) __atomic_load_n(&(x), __ATOMIC_RELAXED)

#ifdef DEMO_TSAN
/* memcmp(), which ThreadSanitizer would take for a race where the page may be changing. */
__reads_unlatched
static int compare(const unsigned char *a, const unsigned char *b, unsigned int len)
{
	for (unsigned int i = 0; i < len; i++) {
		int order = READ_ONCE(a[i]) - READ_ONCE(b[i]);

		if (order)
			return order;
	}
	return 0;
}
#else
#define compare memcmp
#endif

/**
 * bytes_compare() - the order of keys: byte by byte, a prefix before what it begins
 * @a: a key
 * @b: another key
 *
 * Return: less than, equal to or greater than 0, as @a is below, equal to or above @b.
 */
__reads_unlatched
int bytes_compare(struct bytes a, struct bytes b)
{
	unsigned int len = a.len < b.len ? a.len : b.len;
	int order = len ? compare(a.data, b.data, len) : 0;

	return order ? order : (a.len > b.len) - (a.len < b.len);
}

/** bytes_common() - number of bytes that two keys begin with both */
unsigned int bytes_common(struct bytes a, struct bytes b)
{
	const unsigned char *x = a.data, *y = b.data;
	unsigned int len = a.len < b.len ? a.len : b.len, i = 0;

	while (i < len && x[i] == y[i])
		i++;
	return i;
}

/**
 * page_node_head() - the head of a key
 * @suffix: the bytes of the key behind the prefix
 *
 * Return: see struct page_slot.
 */
uint32_t page_node_head(struct bytes suffix)
{
	unsigned char head[4] = { 0 };
	uint32_t first;

	if (likely(suffix.len >= sizeof(first))) {
		memcpy(&first, suffix.data, sizeof(first));
		return __builtin_bswap32(first);
	}
	if (suffix.len)
		memcpy(head, suffix.data, suffix.len);
	return (uint32_t)head[0] << 24 | (uint32_t)head[1] << 16 | (uint32_t)head[2] << 8 | head[3];
}

/* Take bytes from the free part, which has room for them, and return their offset. */
static uint16_t heap_take(struct page_node *node, unsigned int len)
{
	node->heap = (uint16_t)(node->heap - len);
	return node->heap;
}

static struct page_fence fence_put(struct page_node *node, struct bytes fence)
{
	struct page_fence at = { heap_take(node, fence.len), (uint16_t)fence.len };

	if (fence.len)
		memcpy((unsigned char *)node + at.offset, fence.data, fence.len);
	return at;
}

/**
 * page_node_init() - make an empty node
 * @node: the node
 * @level: 0 for a leaf
 * @lower: bound that all keys are above; 0 bytes for none
 * @upper: bound that no key is above; 0 bytes for none
 *
 * Neither bound lies in @node. Its tag stays, and its free bytes are any.
 */
void page_node_init(struct page_node *node, unsigned int level, struct bytes lower,
		    struct bytes upper)
{
	memset(node, 0, offsetof(struct page_node, tag));
	memset(&node->hints, 0, sizeof(node->hints));
	node->level = (uint16_t)level;
	node->heap = PAGE_BYTES;
	node->lower = fence_put(node, lower);
	node->upper = fence_put(node, upper);
	node->prefix = (uint16_t)bytes_common(lower, upper);
}

/**
 * page_node_covers() - true if a key is between the fences of a node
 * @node: the node
 * @key: the key
 */
bool page_node_covers(const struct page_node *node, struct bytes key)
{
	struct bytes lower = page_node_fence(node, node->lower);
	struct bytes upper = page_node_fence(node, node->upper);

	return (!lower.len || bytes_compare(key, lower) > 0) &&
	       (!upper.len || bytes_compare(key, upper) <= 0);
}

static unsigned int hint_distance(unsigned int nr)
{
	return nr / (PAGE_HINTS + 1);
}

static void hints_set(struct page_node *node)
{
	unsigned int distance = hint_distance(node->nr);

	if (node->nr <= 2 * PAGE_HINTS)
		return;
	for (unsigned int i = 0; i < PAGE_HINTS; i++)
		node->hints[i] = node->slots[distance * (i + 1)].head;
}

/*
 * Narrow the slots [*low, *high) that the first key not below @head can be in, *high included.
 * *high is the number of slots at first.
 */
__reads_unlatched
static void hints_narrow(const struct page_node *node, uint32_t head, unsigned int *low,
			 unsigned int *high)
{
	unsigned int distance = hint_distance(*high), i = 0;

	if (*high <= 2 * PAGE_HINTS)
		return;
	while (i < PAGE_HINTS && node->hints[i] < head)
		i++;
	*low = distance * i;
	while (i < PAGE_HINTS && node->hints[i] == head)
		i++;
	if (i < PAGE_HINTS)
		*high = distance * (i + 1);
}

/* The bytes of a key behind the prefix; no data if they are not within the page. */
__reads_unlatched
static struct bytes suffix_once(const struct page_slot *slot, const struct page_node *node)
{
	unsigned int offset = READ_ONCE(slot->offset), len = READ_ONCE(slot->key);

	if (unlikely(offset + len > PAGE_BYTES))
		return (struct bytes){ NULL, 0 };
	return (struct bytes){ (const unsigned char *)node + offset, len };
}

/**
 * page_node_find() - the first entry whose key is not below a key
 * @node: the node
 * @key: the key, between the fences of the node
 * @found: set to whether that entry has this key
 *
 * A reader without a latch may call it while a writer changes the page: it ends, and reads no byte
 * outside the page and the key; the result means nothing then.
 *
 * Return: number of its slot, or the number of entries if all keys are below.
 */
__reads_unlatched
unsigned int page_node_find(const struct page_node *node, struct bytes key, bool *found)
{
	unsigned int prefix = READ_ONCE(node->prefix);
	unsigned int low = 0, high = READ_ONCE(node->nr);
	struct bytes suffix = { (const unsigned char *)key.data + prefix, key.len - prefix };
	uint32_t head;

	*found = false;
	if (unlikely(prefix > key.len || high > PAGE_SLOTS))
		return 0;
	head = page_node_head(suffix);
	hints_narrow(node, head, &low, &high);
	while (low < high) {
		unsigned int mid = (low + high) / 2;
		uint32_t other = node->slots[mid].head;
		int order = (other > head) - (other < head);

		if (!order) {
			struct bytes here = suffix_once(&node->slots[mid], node);

			if (unlikely(!here.data))
				return 0;
			order = bytes_compare(here, suffix);
		}
		if (!order) {
			*found = true;
			return mid;
		}
		if (order < 0)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

/**
 * page_node_key() - copy the whole key of an entry
 * @node: the node
 * @at: number of its slot
 * @key: receives up to PAGE_KEY_MAX bytes
 *
 * Return: number of bytes.
 */
unsigned int page_node_key(const struct page_node *node, unsigned int at, unsigned char *key)
{
	struct bytes suffix = page_node_suffix(node, at);

	memcpy(key, page_node_fence(node, node->lower).data, node->prefix);
	memcpy(key + node->prefix, suffix.data, suffix.len);
	return node->prefix + suffix.len;
}

/* Write an entry into a slot. The heap has room for it. */
static void slot_put(struct page_node *node, unsigned int at, struct bytes suffix,
		     struct bytes value)
{
	uint16_t offset = heap_take(node, suffix.len + value.len);
	unsigned char *to = (unsigned char *)node + offset;

	if (suffix.len)
		memcpy(to, suffix.data, suffix.len);
	if (value.len)
		memcpy(to + suffix.len, value.data, value.len);
	node->slots[at] = (struct page_slot){ page_node_head(suffix), offset, (uint16_t)suffix.len,
					      (uint16_t)value.len };
}

/* Make @len bytes of the free part contiguous; @slots more slots are taken from it. */
static bool make_room(struct page_node *node, unsigned int slots, unsigned int len)
{
	unsigned int need = len + slots * (unsigned int)sizeof(struct page_slot);

	if (page_node_free(node) < need)
		return false;
	if (page_node_free(node) - node->dead < need)
		page_node_compact(node);
	return true;
}

/**
 * page_node_insert_at() - add an entry whose position is known
 * @node: the node
 * @at: what page_node_find() returned for the key, which is not in the node
 * @key: its key, as of page_node_insert()
 * @value: its value, as of page_node_insert()
 *
 * Return: 0, or -ENOSPC if the entry does not fit, and the entries are as before.
 */
int page_node_insert_at(struct page_node *node, unsigned int at, struct bytes key,
			struct bytes value)
{
	struct bytes suffix = { (const unsigned char *)key.data + node->prefix,
				key.len - node->prefix };

	if (!make_room(node, 1, suffix.len + value.len))
		return -ENOSPC;
	memmove(&node->slots[at + 1], &node->slots[at],
		(node->nr - at) * sizeof(struct page_slot));
	node->nr++;
	slot_put(node, at, suffix, value);
	hints_set(node);
	return 0;
}

/**
 * page_node_insert() - add an entry
 * @node: the node
 * @key: its key, between the fences, of 1..PAGE_KEY_MAX bytes, not in the node
 * @value: its value; with the key at most PAGE_ENTRY_MAX bytes, not in the node
 *
 * Return: 0, -EEXIST if the key is there, or -ENOSPC if the entry does not fit. The entries are
 * as before unless the result is 0.
 */
int page_node_insert(struct page_node *node, struct bytes key, struct bytes value)
{
	bool found;
	unsigned int at = page_node_find(node, key, &found);

	return found ? -EEXIST : page_node_insert_at(node, at, key, value);
}

/* Bytes that an entry of another node takes in a node. */
static unsigned int bytes_of(const struct page_node *node, const struct page_node *old,
			     const struct page_slot *slot)
{
	return (unsigned int)old->prefix + slot->key + slot->value - node->prefix +
	       (unsigned int)sizeof(*slot);
}

/* An entry of another node into a slot, whose key gets bytes of the prefix of @old. */
static void put_longer(struct page_node *node, unsigned int at, const struct page_node *old,
		       unsigned int from)
{
	unsigned char key[PAGE_KEY_MAX];
	unsigned int len = page_node_key(old, from, key) - node->prefix;

	slot_put(node, at, (struct bytes){ key + node->prefix, len }, page_node_value(old, from));
}

/*
 * Write @nr entries of another node into slots from @at on. The heap has room for them. An entry is
 * copied at once, as its value is behind its key.
 */
static void put_all(struct page_node *node, unsigned int at, const struct page_node *old,
		    unsigned int from, unsigned int nr)
{
	const struct page_slot *slot = &old->slots[from];
	struct page_slot *to = &node->slots[at];
	unsigned int less = (unsigned int)node->prefix - old->prefix, heap = node->heap;

	if (node->prefix < old->prefix) {
		while (nr--)
			put_longer(node, at++, old, from++);
		return;
	}
	for (; nr--; slot++, to++) {
		const unsigned char *data = (const unsigned char *)old + slot->offset + less;
		unsigned int len = slot->key - less, bytes = len + slot->value;

		heap -= bytes;
		memcpy((unsigned char *)node + heap, data, bytes);
		to->head = less ? page_node_head((struct bytes){ data, len }) : slot->head;
		to->offset = (uint16_t)heap;
		to->key = (uint16_t)len;
		to->value = slot->value;
	}
	node->heap = (uint16_t)heap;
}

/**
 * page_node_append() - add entries of another node behind the last entry
 * @node: the node, from which no entry was removed
 * @old: the other node
 * @from: number of the slot of the first entry of @old, whose key is above all of @node
 * @to: number of the slot behind that of the last one; all keys are between the fences of @node
 *
 * Return: true, or false if one does not fit, and @node has those before.
 */
bool page_node_append(struct page_node *node, const struct page_node *old, unsigned int from,
		      unsigned int to)
{
	unsigned int room = page_node_free(node), nr = 0;

	while (from + nr < to) {
		unsigned int bytes = bytes_of(node, old, &old->slots[from + nr]);

		if (bytes > room)
			break;
		room -= bytes;
		nr++;
	}
	put_all(node, node->nr, old, from, nr);
	node->nr = (uint16_t)(node->nr + nr);
	hints_set(node);
	return from + nr == to;
}

/**
 * page_node_open() - make room for entries in front of the first one, under another lower fence
 * @node: the node
 * @nr: number of the entries, which page_node_prepend() must add
 * @bytes: their bytes with whole keys, and with slots
 * @lower: the lower fence; not in the node
 *
 * Return: true; or false, and the node is as before: no entry of it could stay where it is.
 */
bool page_node_open(struct page_node *node, unsigned int nr, unsigned int bytes,
		    struct bytes lower)
{
	struct bytes upper = page_node_fence(node, node->upper);
	unsigned int slots = offsetof(struct page_node, slots) +
			     node->nr * (unsigned int)sizeof(struct page_slot);

	if (bytes_common(lower, upper) != node->prefix ||
	    slots + bytes - nr * node->prefix + lower.len > node->heap)
		return false;
	memmove(&node->slots[nr], node->slots, node->nr * sizeof(struct page_slot));
	node->nr = (uint16_t)(node->nr + nr);
	node->dead = (uint16_t)(node->dead + node->lower.len);
	node->lower = fence_put(node, lower);
	return true;
}

/**
 * page_node_prepend() - add entries of another node after page_node_open()
 * @node: the node
 * @at: number of the slot of the first one in @node
 * @old: the other node
 * @from: number of the slot of the first one in @old
 * @nr: number of entries
 */
void page_node_prepend(struct page_node *node, unsigned int at, const struct page_node *old,
		       unsigned int from, unsigned int nr)
{
	put_all(node, at, old, from, nr);
	hints_set(node);
}

/**
 * page_node_update() - replace the value of an entry
 * @node: the node
 * @at: number of its slot
 * @value: the value, which may have another length; with the key at most PAGE_ENTRY_MAX bytes,
 *	   not in the node
 *
 * Return: 0, or -ENOSPC if the value does not fit, and the entry is as before.
 */
int page_node_update(struct page_node *node, unsigned int at, struct bytes value)
{
	struct page_slot *slot = &node->slots[at];
	unsigned char key[PAGE_KEY_MAX];
	struct bytes suffix = { key, slot->key };
	unsigned int old = slot->key + slot->value;

	if (value.len == slot->value) {
		if (value.len)
			memcpy((unsigned char *)node + slot->offset + slot->key, value.data,
			       value.len);
		return 0;
	}
	if (page_node_free(node) + old < suffix.len + value.len)
		return -ENOSPC;
	memcpy(key, page_node_suffix(node, at).data, suffix.len);
	node->dead = (uint16_t)(node->dead + old);
	slot->key = slot->value = 0;
	make_room(node, 0, suffix.len + value.len);
	slot_put(node, at, suffix, value);
	return 0;
}

/**
 * page_node_remove() - remove an entry
 * @node: the node
 * @at: number of its slot
 */
void page_node_remove(struct page_node *node, unsigned int at)
{
	node->dead = (uint16_t)(node->dead + node->slots[at].key + node->slots[at].value);
	node->nr--;
	memmove(&node->slots[at], &node->slots[at + 1],
		(node->nr - at) * sizeof(struct page_slot));
	hints_set(node);
}

/* Bytes that are copied at a time: with many more the C library uses string instructions. */
#define COPY_STEP 1024

static void copy_bytes(unsigned char *to, const unsigned char *from, unsigned int len)
{
	for (; len > COPY_STEP; len -= COPY_STEP, to += COPY_STEP, from += COPY_STEP)
		memcpy(to, from, COPY_STEP);
	memcpy(to, from, len);
}

/**
 * page_node_copy() - copy a node
 * @to: the page that receives it, whose tag stays, and whose free bytes are any
 * @from: the node, elsewhere
 */
void page_node_copy(struct page_node *to, const struct page_node *from)
{
	memcpy(to, from, offsetof(struct page_node, tag));
	copy_bytes((unsigned char *)to->hints, (const unsigned char *)from->hints,
		   (unsigned int)(offsetof(struct page_node, slots) -
				  offsetof(struct page_node, hints) +
				  from->nr * sizeof(struct page_slot)));
	copy_bytes((unsigned char *)to + from->heap, (const unsigned char *)from + from->heap,
		   PAGE_BYTES - from->heap);
}

/**
 * page_node_compact() - make the free bytes of a node contiguous
 * @node: the node
 */
void page_node_compact(struct page_node *node)
{
	struct page_node old;

	page_node_copy(&old, node);
	node->heap = PAGE_BYTES;
	node->dead = 0;
	node->lower = fence_put(node, page_node_fence(&old, old.lower));
	node->upper = fence_put(node, page_node_fence(&old, old.upper));
	for (unsigned int i = 0; i < old.nr; i++)
		slot_put(node, i, page_node_suffix(&old, i), page_node_value(&old, i));
}
