// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * heap.c - rows of one size, named by page and slot.
 *
 * A row that is deleted leaves its slot locked until its transaction ends. So a transaction
 * that inserts takes a slot whose lock it gets without waiting.
 */
#include "sm.h"

#include <errno.h>
#include <string.h>

/**
 * heap_init() - make an empty heap
 * @heap: the heap
 * @sm: its storage manager
 * @nr: its number
 * @stride: bytes of a row, a multiple of 8
 *
 * Return: 0 or -ENOMEM.
 */
int heap_init(struct heap *heap, struct sm *sm, unsigned int nr, uint32_t stride)
{
	*heap = (struct heap){ .sm = sm, .store = nr, .stride = stride };
	latch_init(&heap->latch, LATCH_ROLE_histogram);
	return area_init(&heap->room, sizeof(uint64_t), sm->opts.pages / 64 + 1);
}

/** heap_destroy() - free the histogram of a heap */
void heap_destroy(struct heap *heap)
{
	latch_destroy(&heap->latch);
	area_destroy(&heap->room);
}

static uint64_t *room_word(const struct heap *heap, uint32_t page)
{
	return area_at(&heap->room, page / 64);
}

/* Note in the histogram whether a page has a free row. */
static void room_set(struct heap *heap, uint32_t page, bool room)
{
	uint64_t bit = 1ull << page % 64;
	struct latch_hold hold;

	latch_acquire(&heap->latch, LATCH_WRITE, &hold);
	*room_word(heap, page) = (*room_word(heap, page) & ~bit) | (room ? bit : 0);
	if (page / 64 >= heap->words)
		heap->words = page / 64 + 1;
	latch_release(&heap->latch, &hold);
}

/* The first page from @from on that has room, 0 for none. */
static uint32_t room_find(struct heap *heap, uint32_t from)
{
	uint64_t mask = ~0ull << from % 64;
	struct latch_hold hold;
	uint32_t page = 0;

	latch_acquire(&heap->latch, LATCH_READ, &hold);
	for (uint32_t w = from / 64; w < heap->words && !page; w++, mask = ~0ull) {
		uint64_t bits = *(uint64_t *)area_at(&heap->room, w) & mask;

		if (bits)
			page = w * 64 + (uint32_t)__builtin_ctzll(bits);
	}
	latch_release(&heap->latch, &hold);
	return page;
}

/**
 * heap_changed() - keep the histogram after a change of a page
 * @heap: the heap
 * @page: the page, latched
 * @before: number of rows before the change
 */
void heap_changed(struct heap *heap, const struct page *page, unsigned int before)
{
	unsigned int max = heap_page_rows(heap->stride);

	if ((before == max) != (page->nr == max))
		room_set(heap, page->id, page->nr < max);
}

/* Log and format a new page of the heap, latched then. */
static int page_add(struct xct *x, struct heap *heap, struct page_ref *ref)
{
	struct log_record *r;
	int err = buffer_new(&heap->sm->buffer, PAGE_HEAP, heap->store, ref);

	if (err)
		return err;
	r = xct_record(x, LOG_FORMAT, heap->store, ref->page);
	r->len = sizeof(*r);
	r->off = (uint16_t)heap->stride;
	xct_change(x, ref);
	room_set(heap, ref->page->id, true);
	return 0;
}

/* Find a free slot of a page and lock it. Returns 0, -EAGAIN if there is none, or -errno. */
static int slot_find(struct xct *x, struct heap *heap, const struct page *page, unsigned int *slot)
{
	int err = -EAGAIN;

	for (*slot = 0; *slot < heap_page_rows(heap->stride); ++*slot) {
		if (heap_page_has(page, *slot))
			continue;
		err = lock_row(x->locks, heap->store, rid_of(page->id, *slot), LOCK_X, false);
		if (err != -EAGAIN)
			break;
	}
	return err;
}

/* Fix a page with a free slot, locked. Pages before the hint come last, then a new one. */
static int place_find(struct xct *x, struct heap *heap, struct page_ref *ref, unsigned int *slot)
{
	uint32_t begin = x->hint[heap->store], page = begin;
	bool wrapped = false;
	int err;

	for (;;) {
		page = room_find(heap, page);
		if (!page && !wrapped) {
			wrapped = true;
			continue;
		}
		if (!page || (wrapped && page >= begin && begin))
			break;
		buffer_fix(&heap->sm->buffer, page, LATCH_WRITE, ref);
		err = slot_find(x, heap, ref->page, slot);
		if (!err) {
			x->hint[heap->store] = page;
			return 0;
		}
		buffer_unfix(&heap->sm->buffer, ref);
		if (err != -EAGAIN)
			return err;
		page++;
	}
	err = page_add(x, heap, ref);
	if (err)
		return err;
	x->hint[heap->store] = ref->page->id;
	err = slot_find(x, heap, ref->page, slot);
	if (err)
		buffer_unfix(&heap->sm->buffer, ref);
	return err;
}

/**
 * heap_insert() - insert a row
 * @x: the transaction
 * @heap: the heap
 * @row: the row
 * @rid: receives its name; the row is locked
 *
 * Return: 0 or -errno.
 */
int heap_insert(struct xct *x, struct heap *heap, const void *row, uint64_t *rid)
{
	struct page_ref ref;
	struct log_record *r;
	unsigned int slot;
	/* The locks above the page may have to wait, and are acquired before the page's latch. */
	int err = lock_table(x->locks, heap->store, LOCK_IX);

	if (!err)
		err = xct_room(x);
	if (!err)
		err = place_find(x, heap, &ref, &slot);
	if (err)
		return err;
	r = xct_record(x, LOG_ROW_INSERT, heap->store, ref.page);
	r->slot = (uint16_t)slot;
	r->n = (uint16_t)heap->stride;
	r->len = (uint32_t)sizeof(*r) + r->n;
	memcpy(r->payload, row, r->n);
	xct_change(x, &ref);
	heap_changed(heap, ref.page, ref.page->nr - 1u);
	*rid = rid_of(ref.page->id, slot);
	buffer_unfix(&heap->sm->buffer, &ref);
	return 0;
}

/**
 * heap_read() - lock and read a row
 * @x: the transaction
 * @heap: the heap
 * @rid: name of the row
 * @mode: mode of the lock
 * @row: receives it
 *
 * Return: 0, -ENOENT if there is no such row, or as lock_acquire().
 */
int heap_read(struct xct *x, struct heap *heap, uint64_t rid, enum lock_mode mode, void *row)
{
	struct page_ref ref;
	int err = lock_row(x->locks, heap->store, rid, mode, true);

	if (err)
		return err;
	buffer_fix(&heap->sm->buffer, rid_page(rid), LATCH_READ, &ref);
	if (heap_page_has(ref.page, rid_slot(rid)))
		memcpy(row, heap_page_row(ref.page, rid_slot(rid)), heap->stride);
	else
		err = -ENOENT;
	buffer_unfix(&heap->sm->buffer, &ref);
	return err;
}

/* Lock a row and fix its page for a change. */
static int fix_row(struct xct *x, struct heap *heap, uint64_t rid, struct page_ref *ref)
{
	int err = lock_row(x->locks, heap->store, rid, LOCK_X, true);

	if (!err)
		err = xct_room(x);
	if (err)
		return err;
	buffer_fix(&heap->sm->buffer, rid_page(rid), LATCH_WRITE, ref);
	if (heap_page_has(ref->page, rid_slot(rid)))
		return 0;
	buffer_unfix(&heap->sm->buffer, ref);
	return -ENOENT;
}

/**
 * heap_update() - change some bytes of a row
 * @x: the transaction
 * @heap: the heap
 * @rid: name of the row
 * @off: offset of the bytes
 * @n: number of bytes
 * @data: the bytes
 * @old: receives what they were
 *
 * Return: 0, -ENOENT if there is no such row, or -errno.
 */
int heap_update(struct xct *x, struct heap *heap, uint64_t rid, unsigned int off, unsigned int n,
		const void *data, void *old)
{
	struct page_ref ref;
	struct log_record *r;
	int err = fix_row(x, heap, rid, &ref);

	if (err)
		return err;
	memcpy(old, heap_page_row(ref.page, rid_slot(rid)) + off, n);
	r = xct_record(x, LOG_ROW_UPDATE, heap->store, ref.page);
	r->slot = (uint16_t)rid_slot(rid);
	r->off = (uint16_t)off;
	r->n = (uint16_t)n;
	r->len = (uint32_t)sizeof(*r) + 2 * n;
	memcpy(r->payload, old, n);
	memcpy(r->payload + n, data, n);
	xct_change(x, &ref);
	buffer_unfix(&heap->sm->buffer, &ref);
	return 0;
}

/**
 * heap_delete() - delete a row
 * @x: the transaction
 * @heap: the heap
 * @rid: name of the row
 * @old: receives the row
 *
 * Return: 0, -ENOENT if there is no such row, or -errno.
 */
int heap_delete(struct xct *x, struct heap *heap, uint64_t rid, void *old)
{
	struct page_ref ref;
	struct log_record *r;
	int err = fix_row(x, heap, rid, &ref);

	if (err)
		return err;
	memcpy(old, heap_page_row(ref.page, rid_slot(rid)), heap->stride);
	r = xct_record(x, LOG_ROW_DELETE, heap->store, ref.page);
	r->slot = (uint16_t)rid_slot(rid);
	r->n = (uint16_t)heap->stride;
	r->len = (uint32_t)sizeof(*r) + r->n;
	memcpy(r->payload, old, r->n);
	xct_change(x, &ref);
	heap_changed(heap, ref.page, ref.page->nr + 1u);
	buffer_unfix(&heap->sm->buffer, &ref);
	return 0;
}

/**
 * heap_append() - add a row to the last page during the population, without a lock or a record
 * @heap: the heap
 * @row: the row
 * @at: the last page, pinned; its frame is NULL before the first row. The caller unpins it.
 * @rid: receives the name of the row
 *
 * Return: 0 or -errno.
 */
int heap_append(struct heap *heap, const void *row, struct page_ref *at, uint64_t *rid)
{
	unsigned int slot = at->frame ? at->page->nr : 0;
	int err;

	if (at->frame && slot == heap_page_rows(heap->stride)) {
		room_set(heap, at->page->id, false);
		buffer_unpin(&heap->sm->buffer, at);
		at->frame = NULL;
	}
	if (!at->frame) {
		err = buffer_new(&heap->sm->buffer, PAGE_HEAP, heap->store, at);
		if (err) {
			at->frame = NULL;
			return err;
		}
		/* One thread populates the heap, and the pool may clean pages meanwhile. */
		latch_release(&at->frame->latch, &at->hold);
		at->page->stride = heap->stride;
		room_set(heap, at->page->id, true);
		slot = 0;
	}
	memcpy(heap_page_row(at->page, slot), row, heap->stride);
	heap_page_set(at->page, slot, true);
	buffer_dirty(at, 1);
	*rid = rid_of(at->page->id, slot);
	return 0;
}
