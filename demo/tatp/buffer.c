// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * buffer.c - frames, their hash table and the clock hand (see buffer.h).
 */
#include "buffer.h"

#include "../base/rng.h"
#include "fatal.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

static struct bucket *bucket_of(struct buffer *b, uint32_t id)
{
	return &b->buckets[(id * 0x9e3779b97f4a7c15u >> 32) & b->mask];
}

/**
 * buffer_init() - make an empty pool
 * @b: the pool
 * @v: the volume of its pages
 * @frames: number of pages that it holds
 *
 * Return: 0, or -ENOMEM; then buffer_destroy() in any case.
 */
int buffer_init(struct buffer *b, struct volume *v, uint32_t frames)
{
	uint32_t buckets = 1;

	while (buckets < frames)
		buckets *= 2;
	memset(b, 0, sizeof(*b));
	b->volume = v;
	b->frames = aligned_alloc(CACHE_LINE, frames * sizeof(*b->frames));
	b->buckets = aligned_alloc(CACHE_LINE, buckets * sizeof(*b->buckets));
	latch_init(&b->clock, LATCH_ROLE_clock_hand);
	if (!b->frames || !b->buckets || area_init(&b->pages, PAGE_BYTES, frames) ||
	    area_init(&b->batch, PAGE_BYTES, VOLUME_BATCH))
		return -ENOMEM;
	b->nr = frames;
	b->mask = buckets - 1;
	memset(b->frames, 0, frames * sizeof(*b->frames));
	for (uint32_t i = 0; i < frames; i++) {
		latch_init(&b->frames[i].latch, LATCH_ROLE_page);
		b->frames[i].page = area_at(&b->pages, i);
	}
	for (uint32_t i = 0; i < buckets; i++) {
		latch_init(&b->buckets[i].latch, LATCH_ROLE_buffer_buckets);
		b->buckets[i].first = NULL;
	}
	return 0;
}

/** buffer_destroy() - free a pool, whose changed pages are lost */
void buffer_destroy(struct buffer *b)
{
	for (uint32_t i = 0; i < b->nr; i++)
		latch_destroy(&b->frames[i].latch);
	for (uint32_t i = 0; b->nr && i <= b->mask; i++)
		latch_destroy(&b->buckets[i].latch);
	latch_destroy(&b->clock);
	free(b->frames);
	free(b->buckets);
	area_destroy(&b->pages);
	area_destroy(&b->batch);
}

/* Take a frame out of its bucket if its page may go. The frame is pinned then. */
static bool evict(struct buffer *b, struct frame *frame)
{
	uint32_t id = __atomic_load_n(&frame->id, __ATOMIC_RELAXED);
	struct bucket *bucket = bucket_of(b, id);
	struct latch_hold hold;
	struct frame **link;
	bool evicted;

	if (!id)
		return false;

	latch_acquire(&bucket->latch, LATCH_WRITE, &hold);
	evicted = __atomic_load_n(&frame->id, __ATOMIC_RELAXED) == id && !frame->pins &&
		  !__atomic_load_n(&frame->rec_lsn, __ATOMIC_RELAXED);
	if (evicted) {
		for (link = &bucket->first; *link != frame; link = &(*link)->next)
			;
		*link = frame->next;
		__atomic_store_n(&frame->id, 0, __ATOMIC_RELAXED);
		__atomic_store_n(&frame->pins, 1, __ATOMIC_RELAXED);
	}
	latch_release(&bucket->latch, &hold);
	return evicted;
}

/*
 * Move the clock hand to a page that was not used for a turn. Returns its frame, or a @free one
 * without a page, or NULL.
 */
static struct frame *sweep(struct buffer *b, bool *free)
{
	struct frame *found = NULL;
	struct latch_hold hold;

	if (!latch_try(&b->clock, LATCH_WRITE, &hold))
		return NULL;
	*free = b->free;
	if (*free) {
		found = b->free;
		b->free = found->next;
	}
	for (uint32_t i = 0; i < 2 * b->nr && !found; i++) {
		struct frame *frame = &b->frames[b->hand];

		b->hand = b->hand + 1 == b->nr ? 0 : b->hand + 1;
		if (__atomic_load_n(&frame->pins, __ATOMIC_RELAXED) ||
		    __atomic_load_n(&frame->rec_lsn, __ATOMIC_RELAXED))
			continue;
		if (!__atomic_exchange_n(&frame->used, false, __ATOMIC_RELAXED))
			found = frame;
	}
	latch_release(&b->clock, &hold);
	return found;
}

/* A frame without a page, pinned. */
static struct frame *frame_get(struct buffer *b)
{
	uint32_t used = __atomic_load_n(&b->used, __ATOMIC_RELAXED);

	if (used < b->nr) {
		used = __atomic_fetch_add(&b->used, 1, __ATOMIC_RELAXED);
		if (used < b->nr) {
			__atomic_store_n(&b->frames[used].pins, 1, __ATOMIC_RELAXED);
			return &b->frames[used];
		}
		__atomic_fetch_sub(&b->used, 1, __ATOMIC_RELAXED);
	}
	for (;;) {
		bool free = false;
		struct frame *frame = sweep(b, &free);
		int err;

		if (frame && (free || evict(b, frame)))
			return frame;
		err = frame ? 0 : buffer_clean(b, VOLUME_BATCH, NULL);
		if (err && err != -EBUSY)
			fatal_io("page", 0, err);
		sched_yield();
	}
}

/* Give a frame back that did not get a page. It stays pinned. */
static void frame_put(struct buffer *b, struct frame *frame)
{
	struct latch_hold hold;

	latch_acquire(&b->clock, LATCH_WRITE, &hold);
	frame->next = b->free;
	b->free = frame;
	latch_release(&b->clock, &hold);
}

/*
 * Find the frame of a page in its bucket, and pin it. If it has none, enter @fresh, which the
 * caller has pinned and latched, if that is not NULL. Returns the frame that is entered.
 */
static struct frame *bucket_pin(struct buffer *b, uint32_t id, struct frame *fresh)
{
	struct bucket *bucket = bucket_of(b, id);
	struct latch_hold hold;
	struct frame *frame;

	latch_acquire(&bucket->latch, LATCH_WRITE, &hold);
	for (frame = bucket->first; frame && frame->id != id; frame = frame->next)
		;
	if (frame) {
		__atomic_store_n(&frame->pins, frame->pins + 1, __ATOMIC_RELAXED);
	} else if (fresh) {
		__atomic_store_n(&fresh->id, id, __ATOMIC_RELAXED);
		fresh->next = bucket->first;
		bucket->first = fresh;
		frame = fresh;
	}
	latch_release(&bucket->latch, &hold);
	/* Written only if it changes, so that readers of a page share the line. */
	if (frame && !__atomic_load_n(&frame->used, __ATOMIC_RELAXED))
		__atomic_store_n(&frame->used, true, __ATOMIC_RELAXED);
	return frame;
}

/* Enter a page that has no frame, latched for writing; false if another thread entered it. */
static bool enter(struct buffer *b, uint32_t id, struct page_ref *ref)
{
	struct frame *fresh = frame_get(b);

	/* Nobody else can have the latch. Others that find the page wait until it is read. */
	latch_acquire(&fresh->latch, LATCH_WRITE, &ref->hold);
	ref->frame = bucket_pin(b, id, fresh);
	ref->page = ref->frame->page;
	if (ref->frame == fresh)
		return true;
	latch_release(&fresh->latch, &ref->hold);
	frame_put(b, fresh);
	return false;
}

/* Pin a page, and read it from the volume if it has no frame. */
static void pin(struct buffer *b, uint32_t id, struct page_ref *ref)
{
	ref->frame = bucket_pin(b, id, NULL);
	if (unlikely(!ref->frame) && enter(b, id, ref)) {
		int err = volume_read(b->volume, id, ref->page);

		__atomic_fetch_add(&b->reads, 1, __ATOMIC_RELAXED);
		if (err)
			fatal_io("page", id, err);
		latch_release(&ref->frame->latch, &ref->hold);
	}
	ref->page = ref->frame->page;
}

/**
 * buffer_pin() - pin a page without its latch
 * @b: the pool
 * @id: number of the page
 * @ref: receives the page; buffer_unpin() gives it back
 */
void buffer_pin(struct buffer *b, uint32_t id, struct page_ref *ref)
{
	pin(b, id, ref);
}

/**
 * buffer_unpin() - give a page back that is not latched
 * @b: the pool
 * @ref: the page
 */
void buffer_unpin(struct buffer *b, struct page_ref *ref)
{
	struct frame *frame = ref->frame;
	struct bucket *bucket = bucket_of(b, frame->id);
	struct latch_hold hold;

	latch_acquire(&bucket->latch, LATCH_WRITE, &hold);
	/* The clock hand looks at the number without the latch. */
	__atomic_store_n(&frame->pins, frame->pins - 1, __ATOMIC_RELAXED);
	latch_release(&bucket->latch, &hold);
}

/**
 * buffer_fix() - pin a page and acquire its latch
 * @b: the pool
 * @id: number of the page
 * @mode: mode of the latch
 * @ref: receives the page; buffer_unfix() gives it back
 *
 * A page that cannot be read ends the program.
 */
void buffer_fix(struct buffer *b, uint32_t id, enum latch_mode mode, struct page_ref *ref)
{
	pin(b, id, ref);
	latch_acquire(&ref->frame->latch, mode, &ref->hold);
}

/* Empty a page that is latched for writing. */
static void clear(struct page_ref *ref, uint32_t id, enum page_kind kind, unsigned int store)
{
	memset(ref->page, 0, PAGE_BYTES);
	ref->page->id = id;
	ref->page->kind = (uint16_t)kind;
	ref->page->store = (uint16_t)store;
}

/**
 * buffer_new() - add a page to the volume
 * @b: the pool
 * @kind: what it is
 * @store: the heap or tree that owns it
 * @ref: receives it, latched for writing, all 0 but its header; the caller logs it
 *
 * Return: 0 or -errno.
 */
int buffer_new(struct buffer *b, enum page_kind kind, unsigned int store, struct page_ref *ref)
{
	uint32_t id;
	int err = volume_allocate(b->volume, &id);

	if (err)
		return err;
	/* Nobody else knows the number. The cleaner may have the latch of a page that it copies. */
	enter(b, id, ref);
	clear(ref, id, kind, store);
	return 0;
}

/**
 * buffer_renew() - fix a page for recovery, whose content in the volume may be missing
 * @b: the pool
 * @id: number of the page
 * @ref: receives it, latched for writing
 */
void buffer_renew(struct buffer *b, uint32_t id, struct page_ref *ref)
{
	struct volume *v = b->volume;

	v->nr = id >= v->nr ? id + 1 : v->nr;
	buffer_fix(b, id, LATCH_WRITE, ref);
}

/* Copy a page for the volume if it was changed, and pin it until it is written. */
static bool copy(struct frame *frame, struct buffer *b, struct page *to, struct page_ref *ref)
{
	uint32_t id = __atomic_load_n(&frame->id, __ATOMIC_RELAXED);
	bool changed;

	/* Relaxed: a change that comes now is for the next turn. */
	if (!id || !__atomic_load_n(&frame->rec_lsn, __ATOMIC_RELAXED))
		return false;
	ref->frame = bucket_pin(b, id, NULL);
	if (!ref->frame)
		return false;
	/* The thread may need a frame while it has latches of pages, this one or others. */
	if (!latch_try(&ref->frame->latch, LATCH_READ, &ref->hold)) {
		buffer_unpin(b, ref);
		return false;
	}
	changed = ref->frame->rec_lsn;
	if (changed) {
		memcpy(to, ref->frame->page, PAGE_BYTES);
		/* Before rec_lsn is 0, for buffer_redo_lsn(). */
		__atomic_store_n(&ref->frame->cleaning, ref->frame->rec_lsn, __ATOMIC_SEQ_CST);
		__atomic_store_n(&ref->frame->rec_lsn, 0, __ATOMIC_SEQ_CST);
	}
	latch_release(&ref->frame->latch, &ref->hold);
	if (!changed)
		buffer_unpin(b, ref);
	return changed;
}

/* End the cleaning of a page; if it was not written, it is changed as before. */
static void copied(struct buffer *b, struct page_ref *ref, bool written)
{
	struct frame *frame = ref->frame;

	/* It may have been changed again, later, whose number the earlier one replaces. */
	if (!written)
		__atomic_store_n(&frame->rec_lsn, frame->cleaning, __ATOMIC_SEQ_CST);
	__atomic_store_n(&frame->cleaning, 0, __ATOMIC_SEQ_CST);
	buffer_unpin(b, ref);
}

/* Make the log durable up to the changes of a batch, and write it. */
static int write_batch(struct buffer *b, struct page **pages, struct page_ref *refs,
		       unsigned int nr)
{
	uint64_t lsn = 0;
	int err = 0;

	for (unsigned int i = 0; i < nr; i++)
		lsn = pages[i]->lsn > lsn ? pages[i]->lsn : lsn;
	if (b->durable)
		err = b->durable(b->log, lsn);
	if (!err)
		err = volume_write(b->volume, pages, nr);
	for (unsigned int i = 0; i < nr; i++)
		copied(b, &refs[i], !err);
	return err;
}

/**
 * buffer_clean() - write changed pages to the volume but those that are latched for writing
 * @b: the pool
 * @most: number of frames to look at
 * @written: receives the number of pages written, if not NULL
 *
 * Return: 0, -EBUSY if another thread is in this function, or the error of the volume or the log.
 */
int buffer_clean(struct buffer *b, uint32_t most, uint32_t *written)
{
	struct page *pages[VOLUME_BATCH];
	struct page_ref refs[VOLUME_BATCH];
	unsigned int nr = 0;
	uint32_t sum = 0;
	int err = 0;

	/* Acquire, and release below: the next cleaner sees next_clean and the volume's batch. */
	if (__atomic_exchange_n(&b->cleaning, true, __ATOMIC_ACQUIRE))
		return -EBUSY;
	for (uint32_t i = 0; i < most && i < b->nr && !err; i++) {
		struct frame *frame = &b->frames[b->next_clean];

		b->next_clean = b->next_clean + 1 == b->nr ? 0 : b->next_clean + 1;
		pages[nr] = area_at(&b->batch, nr);
		if (!copy(frame, b, pages[nr], &refs[nr]))
			continue;
		sum++;
		if (++nr < VOLUME_BATCH)
			continue;
		err = write_batch(b, pages, refs, nr);
		nr = 0;
	}
	if (nr)
		err = write_batch(b, pages, refs, nr);
	__atomic_store_n(&b->cleaning, false, __ATOMIC_RELEASE);
	if (written)
		*written = sum;
	return err;
}

/**
 * buffer_redo_lsn() - the first log record whose change the volume may not have
 * @b: the pool
 *
 * Changes that are logged after the call began are not regarded.
 *
 * Return: its number, or UINT64_MAX if the volume has all changes.
 */
uint64_t buffer_redo_lsn(struct buffer *b)
{
	uint64_t least = UINT64_MAX;

	for (uint32_t i = 0; i < b->nr; i++) {
		/* The number moves from rec_lsn to cleaning, or back after an error. */
		uint64_t rec = __atomic_load_n(&b->frames[i].rec_lsn, __ATOMIC_SEQ_CST);
		uint64_t cleaning = __atomic_load_n(&b->frames[i].cleaning, __ATOMIC_SEQ_CST);
		uint64_t back = __atomic_load_n(&b->frames[i].rec_lsn, __ATOMIC_SEQ_CST);

		least = rec && rec < least ? rec : least;
		least = cleaning && cleaning < least ? cleaning : least;
		least = back && back < least ? back : least;
	}
	return least;
}

/** buffer_at_rest() - true if no page is pinned or latched; called while no thread runs */
bool buffer_at_rest(const struct buffer *b)
{
	bool rest = !latch_held(&b->clock);

	for (uint32_t i = 0; i < b->nr; i++)
		rest = rest && !latch_held(&b->frames[i].latch) &&
		       (!b->frames[i].id || !b->frames[i].pins);
	for (uint32_t i = 0; i <= b->mask; i++)
		rest = rest && !latch_held(&b->buckets[i].latch);
	return rest;
}
