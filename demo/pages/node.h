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

/*
 * A function that reads a page without a latch, and whose result is used only if the page did not
 * change meanwhile. ThreadSanitizer would take its reads for races; the latches it still checks.
 */
#ifdef DEMO_TSAN
#define __reads_unlatched __attribute__((no_sanitize("thread"), noinline))
#else
#define __reads_unlatched
#endif

/* Bytes of a page: Alhomssi and Leis, section 5. */
#define PAGE_BYTES 16384
#define PAGE_HEADER 64
#define PAGE_HINTS 16

/* Readable bytes behind a page that readers without a latch need: an offset and two lengths. */
#define PAGE_SLACK (3 * 65536)

/* Limits of an entry, so that a node with two fences has room for four: see below. */
#define PAGE_KEY_MAX 1024
#define PAGE_ENTRY_MAX 3072

/**
 * struct page_fence - where a bound of a node's keys lies
 * @offset: offset of its bytes in the node
 * @len: their number, 0 if there is no bound
 */
struct page_fence {
	uint16_t offset;
	uint16_t len;
};

/**
 * struct page_slot - an entry of a node
 * @head: the first four bytes of the key behind the prefix, the first one the most significant;
 *	  0 for bytes that the key does not have
 * @offset: offset of the key's bytes behind the prefix, which the value follows
 * @key: number of these bytes
 * @value: number of bytes of the value
 */
struct page_slot {
	uint32_t head;
	uint16_t offset;
	uint16_t key;
	uint16_t value;
} __attribute__((packed, aligned(2)));

/**
 * struct page_tag - what the header of a page says of the page in its file
 * @crc: CRC32C of all other bytes of the page; valid in the file alone
 * @id: number of the page
 * @generation: of the superblock after which the page was written; valid in the file alone
 * @tree: number of the root (see store.h) to which the page belongs
 * @kind: enum page_kind
 * @reserved: 0
 */
struct page_tag {
	uint32_t crc;
	uint32_t id;
	uint64_t generation;
	uint32_t tree;
	uint32_t kind;
	unsigned char reserved[16];
};

enum page_kind {
	PAGE_NONE,
	PAGE_NODE,
	PAGE_FREE,
};

/* Slots that fit into a node. */
#define PAGE_SLOTS ((PAGE_BYTES - PAGE_HEADER - 4 * PAGE_HINTS) / sizeof(struct page_slot))

/**
 * struct page_node - a page of a tree
 * @level: 0 is a leaf
 * @nr: number of entries
 * @heap: offset of the lowest byte of the heap
 * @dead: bytes of the heap that belong to no entry and no fence
 * @prefix: bytes that all keys begin with and the entries leave out
 * @lower: the keys are above this fence; the prefix is its first bytes
 * @upper: the keys are not above this fence
 * @pad: 0
 * @last: of an inner node: the child of the keys above those of all slots. The value of a slot
 *	  is the child of the keys up to that of the slot
 * @tag: of the page in its file, which changes of the node leave as it is
 * @hints: heads of slots, used if there are more than 2 * PAGE_HINTS slots
 * @slots: the entries
 */
struct page_node {
	uint16_t level;
	uint16_t nr;
	uint16_t heap;
	uint16_t dead;
	uint16_t prefix;
	struct page_fence lower, upper;
	uint16_t pad;
	uint32_t last;
	struct page_tag tag;
	uint32_t hints[PAGE_HINTS];
	struct page_slot slots[PAGE_SLOTS];
	unsigned char rest[(PAGE_BYTES - PAGE_HEADER - 4 * PAGE_HINTS) % sizeof(struct page_slot)];
};

_Static_assert(sizeof(struct page_node) == PAGE_BYTES, "a node has no padding");
_Static_assert(offsetof(struct page_node, hints) == PAGE_HEADER, "the header has 64 bytes");
_Static_assert(offsetof(struct page_node, slots) + 2 * PAGE_KEY_MAX +
			       4 * (PAGE_ENTRY_MAX + sizeof(struct page_slot)) <= PAGE_BYTES,
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
static inline struct bytes page_node_suffix(const struct page_node *node, unsigned int at)
{
	const struct page_slot *slot = &node->slots[at];

	return (struct bytes){ (const unsigned char *)node + slot->offset, slot->key };
}

/* The value of an entry. */
static inline struct bytes page_node_value(const struct page_node *node, unsigned int at)
{
	const struct page_slot *slot = &node->slots[at];

	return (struct bytes){ (const unsigned char *)node + slot->offset + slot->key,
			       slot->value };
}

/* The bytes of a fence. */
static inline struct bytes page_node_fence(const struct page_node *node, struct page_fence fence)
{
	return (struct bytes){ (const unsigned char *)node + fence.offset, fence.len };
}

/* Free bytes, including those that page_node_compact() gains. */
static inline unsigned int page_node_free(const struct page_node *node)
{
	return node->heap + node->dead -
	       (unsigned int)(offsetof(struct page_node, slots) +
			      node->nr * sizeof(struct page_slot));
}

/* Bytes that an entry with a key between the fences would take. */
static inline unsigned int page_node_need(const struct page_node *node, struct bytes key,
					  unsigned int value_len)
{
	return key.len - node->prefix + value_len + (unsigned int)sizeof(struct page_slot);
}

int bytes_compare(struct bytes a, struct bytes b);
unsigned int bytes_common(struct bytes a, struct bytes b);
uint32_t page_node_head(struct bytes suffix);
void page_node_init(struct page_node *node, unsigned int level, struct bytes lower,
		    struct bytes upper);
bool page_node_covers(const struct page_node *node, struct bytes key);
unsigned int page_node_find(const struct page_node *node, struct bytes key, bool *found);
unsigned int page_node_key(const struct page_node *node, unsigned int at, unsigned char *key);
int page_node_insert(struct page_node *node, struct bytes key, struct bytes value);
int page_node_insert_at(struct page_node *node, unsigned int at, struct bytes key,
			struct bytes value);
bool page_node_append(struct page_node *node, const struct page_node *old, unsigned int from,
		      unsigned int to);
bool page_node_open(struct page_node *node, unsigned int nr, unsigned int bytes,
		    struct bytes lower);
void page_node_prepend(struct page_node *node, unsigned int at, const struct page_node *old,
		       unsigned int from, unsigned int nr);
int page_node_update(struct page_node *node, unsigned int at, struct bytes value);
void page_node_remove(struct page_node *node, unsigned int at);
void page_node_compact(struct page_node *node);
void page_node_copy(struct page_node *to, const struct page_node *from);

unsigned int page_node_separator(const struct page_node *node, unsigned int at, unsigned char *key);
bool page_node_split(struct page_node *left, struct page_node *right, unsigned int at,
		     struct bytes separator);
bool page_node_merge(struct page_node *left, const struct page_node *right);

const char *page_node_check(const struct page_node *node);

#endif
