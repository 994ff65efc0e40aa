/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * page.h - what all pages of the database begin with, and the content of heap pages.
 *
 * Page 0 does not exist, so that 0 means "no page".
 */
#ifndef DEMO_TATP_PAGE_H
#define DEMO_TATP_PAGE_H

#include "../base/base.h"

#include <stdbool.h>

/* Bytes of a page, as of Shore-MT (sm_page_size of its public source, 8 KiB). */
#define PAGE_BYTES 8192
#define PAGE_HEADER 64
#define PAGE_BODY (PAGE_BYTES - PAGE_HEADER)

enum page_kind {
	PAGE_NONE,
	PAGE_HEAP,
	PAGE_NODE,
	NR_PAGE_KINDS,
};

/**
 * struct page - a page of the database
 * @lsn: number of the last log record that changed the page, 0 if none did
 * @crc: checksum of the page while it is in the volume, else any number
 * @id: number of the page
 * @kind: an enum page_kind
 * @store: number of the heap or the tree that owns the page
 * @level: of a node: 0 is a leaf
 * @nr: of a node: number of its entries; of a heap page: number of its rows
 * @next: of a node: the node to its right, 0 for the last
 * @stride: of a heap page: bytes of a row
 * @body: the content
 */
struct page {
	uint64_t lsn;
	uint32_t crc;
	uint32_t id;
	uint16_t kind;
	uint16_t store;
	uint16_t level;
	uint16_t nr;
	uint32_t next;
	uint32_t stride;
	unsigned char reserved[PAGE_HEADER - 32];
	unsigned char body[PAGE_BODY];
};

_Static_assert(sizeof(struct page) == PAGE_BYTES, "a page has no padding");

/*
 * A heap page begins with a bitmap of the rows that are present. It has room for rows of
 * 16 bytes at least.
 */
#define HEAP_MAP_BYTES 64
#define HEAP_ROW_MIN ((PAGE_BODY - HEAP_MAP_BYTES + HEAP_MAP_BYTES * 8 - 1) / (HEAP_MAP_BYTES * 8))

/** heap_page_rows() - number of rows of @stride bytes that a page holds */
static inline unsigned int heap_page_rows(uint32_t stride)
{
	return (PAGE_BODY - HEAP_MAP_BYTES) / stride;
}

/** heap_page_row() - address of a row of a page */
static inline unsigned char *heap_page_row(struct page *page, unsigned int slot)
{
	return page->body + HEAP_MAP_BYTES + slot * page->stride;
}

/** heap_page_has() - true if a row is present */
static inline bool heap_page_has(const struct page *page, unsigned int slot)
{
	return page->body[slot / 8] >> slot % 8 & 1;
}

/** heap_page_set() - note whether a row is present */
static inline void heap_page_set(struct page *page, unsigned int slot, bool present)
{
	unsigned char bit = (unsigned char)(1u << slot % 8);

	if (heap_page_has(page, slot) == present)
		return;
	page->body[slot / 8] ^= bit;
	page->nr = (uint16_t)(page->nr + (present ? 1 : -1));
}

/* A row is named by its page and its slot. */
static inline uint64_t rid_of(uint32_t page, unsigned int slot)
{
	return (uint64_t)page << 16 | slot;
}

static inline uint32_t rid_page(uint64_t rid)
{
	return (uint32_t)(rid >> 16);
}

static inline unsigned int rid_slot(uint64_t rid)
{
	return (unsigned int)(rid & 0xffff);
}

#endif
