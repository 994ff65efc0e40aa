/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * buffer.h - the pages that are in memory.
 *
 * buffer_fix() pins a page, so that its frame keeps it, and acquires its latch. A hash table
 * whose buckets each have a latch finds the frame. A page without a frame gets the frame of
 * a page that nobody has pinned, that was not used for a turn of the clock hand and that is
 * in the volume as it is in memory. A pool needs frames for all pages that its users pin at a time:
 * BUFFER_PINS a thread, and the pages that are being written.
 *
 * Order of latches: pages (in a tree from the root down and to the right) before buckets,
 * and the clock hand before nothing.
 */
#ifndef DEMO_TATP_BUFFER_H
#define DEMO_TATP_BUFFER_H

#include "latch/latch.h"
#include "volume.h"

/* Pages that a thread pins at a time, at most: three of a split, and twice as many in reserve. */
#define BUFFER_PINS 8

/**
 * struct frame - a place for a page
 * @latch: the latch of the page
 * @page: the memory of the page
 * @next: next frame of the bucket, under the bucket's latch
 * @id: number of the page, 0 for none, under the bucket's latch
 * @pins: number of users, under the bucket's latch
 * @rec_lsn: log record of the first change that the volume has not got, 0 if it has all;
 *	     changed under the latch
 * @cleaning: @rec_lsn of the version that is being written to the volume, else 0
 * @used: the page was used since the clock hand passed
 */
struct frame {
	struct latch latch;
	struct page *page;
	struct frame *next __cacheline_aligned;
	uint32_t id;
	uint32_t pins;
	uint64_t rec_lsn;
	uint64_t cleaning;
	bool used;
};

struct bucket {
	struct latch latch;
	struct frame *first;
};

/**
 * struct buffer - a buffer pool
 * @volume: where the pages are
 * @buckets: hash table of the frames
 * @mask: number of buckets less 1
 * @frames: the frames
 * @pages: memory of their pages
 * @nr: number of frames
 * @durable: makes the log durable up to the end of a record, before a page is written
 * @log: its argument
 * @used: number of frames that ever had a page
 * @clock: latch of @hand and @free
 * @free: frames without a page that had one, or were to get one
 * @hand: number of the frame at which the clock hand is
 * @cleaning: true while a thread writes pages to the volume
 * @next_clean: number of the frame at which buffer_clean() goes on
 * @batch: copies of the pages that it writes
 * @reads: number of pages that were read from the volume
 */
struct buffer {
	struct volume *volume;
	struct bucket *buckets;
	uint32_t mask;
	struct frame *frames;
	struct area pages;
	uint32_t nr;
	int (*durable)(void *log, uint64_t lsn);
	void *log;
	uint32_t used __cacheline_aligned;
	struct latch clock;
	struct frame *free;
	uint32_t hand;
	bool cleaning;
	uint32_t next_clean;
	struct area batch;
	uint64_t reads;
};

/**
 * struct page_ref - a page that its user has pinned and latched
 * @frame: its frame
 * @page: the page
 * @hold: record of the latch; the struct must not move until buffer_unfix()
 */
struct page_ref {
	struct frame *frame;
	struct page *page;
	struct latch_hold hold;
};

int buffer_init(struct buffer *b, struct volume *v, uint32_t frames);
void buffer_destroy(struct buffer *b);
void buffer_fix(struct buffer *b, uint32_t id, enum latch_mode mode, struct page_ref *ref);
int buffer_new(struct buffer *b, enum page_kind kind, unsigned int store, struct page_ref *ref);
void buffer_renew(struct buffer *b, uint32_t id, struct page_ref *ref);
void buffer_pin(struct buffer *b, uint32_t id, struct page_ref *ref);
int buffer_clean(struct buffer *b, uint32_t most, uint32_t *written);
void buffer_unpin(struct buffer *b, struct page_ref *ref);
uint64_t buffer_redo_lsn(struct buffer *b);
bool buffer_at_rest(const struct buffer *b);

/** buffer_unfix() - release a page that buffer_fix() or buffer_new() fixed */
static inline void buffer_unfix(struct buffer *b, struct page_ref *ref)
{
	latch_release(&ref->frame->latch, &ref->hold);
	buffer_unpin(b, ref);
}

/**
 * buffer_dirty() - note that a page was changed
 * @ref: the page, latched for writing
 * @lsn: the log record of the change
 */
static inline void buffer_dirty(struct page_ref *ref, uint64_t lsn)
{
	ref->page->lsn = lsn;
	if (!__atomic_load_n(&ref->frame->rec_lsn, __ATOMIC_RELAXED))
		__atomic_store_n(&ref->frame->rec_lsn, lsn, __ATOMIC_RELEASE);
}

#endif
