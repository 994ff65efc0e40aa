/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * provider.h - what the pool and the threads that make frames free share.
 */
#ifndef DEMO_PAGES_PROVIDER_H
#define DEMO_PAGES_PROVIDER_H

#include "pool.h"

/**
 * struct page_batch - pages that are copied and then written
 * @nr: number of pages
 * @frames: their frames, in the order of the pages' numbers
 * @pages: copies of them
 */
struct page_batch {
	unsigned int nr;
	struct frame *frames[IO_BATCH];
	struct area pages;
};

/* Under the lock of the pool: a frame has no page any more. */
static inline void pool_push_free(struct page_pool *pool, struct frame *frame)
{
	frame->next = pool->free;
	pool->free = frame;
	pool->nr_free++;
	pool->stuck = false;
	if (pool->waiting)
		pthread_cond_signal(&pool->ready);
}

int pool_table_promise(struct page_pool *pool, uint32_t id);

int batch_init(struct page_batch *batch);
void batch_destroy(struct page_batch *batch);
int batch_write(struct page_batch *batch, struct page_pool *pool, struct frame **frames,
		unsigned int nr, bool *left);

int providers_start(struct page_pool *pool);
void providers_stop(struct page_pool *pool);

#endif
