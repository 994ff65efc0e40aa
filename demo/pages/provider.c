// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * provider.c - threads that write and evict pages where few frames are free (see pool.h).
 *
 *	hot	the first hand: the hook is called		-> cool
 *	cool	pool_frame() finds the page			-> hot
 *		the second hand: not changed			-> free
 *		the second hand: changed			-> being written
 *	being written	written, and still cool			-> free
 *			otherwise				-> hot
 *
 * A page is written from a copy, so that it may be changed meanwhile: it is dirty again then.
 * Between the copy and the end of the write it is @writing, which one thread sets at a time, so
 * that an older copy is never written after a newer one.
 */
#include "provider.h"

#include <stdlib.h>
#include <string.h>

/* Least number of frames between the hands, or a fourth of the frames if that is less. */
#define DISTANCE_MIN 4

/**
 * struct provider - one of the threads
 * @pool: the pool
 * @thread: the thread
 * @first: number of its first frame
 * @nr: number of its frames
 * @hand: number of the frame, from @first, at which the first hand is
 * @distance: number of frames by which the second hand is behind
 * @batch: pages that are being written
 * @idle: frames that the second hand has passed since it made one free
 * @more: frames above the target that it makes free once it has begun
 * @active: it has begun
 * @started: the thread runs
 */
struct provider {
	struct page_pool *pool;
	pthread_t thread;
	uint32_t first;
	uint32_t nr;
	uint32_t hand;
	uint32_t distance;
	struct page_batch batch;
	uint64_t idle;
	uint32_t more;
	bool active;
	bool started;
};

/**
 * batch_init() - make an empty batch
 * @batch: the batch
 *
 * Return: 0 or -ENOMEM; then batch_destroy() in any case.
 */
int batch_init(struct page_batch *batch)
{
	int err = area_init(&batch->pages, PAGE_BYTES, IO_BATCH);

	batch->nr = 0;
	if (!err)
		area_small_pages(&batch->pages);
	return err;
}

/** batch_destroy() - free an empty batch */
void batch_destroy(struct page_batch *batch)
{
	area_destroy(&batch->pages);
}

static bool is_set(const bool *flag)
{
	return __atomic_load_n(flag, __ATOMIC_RELAXED);
}

/*
 * Copy a page that was changed into a batch. Returns false if it is latched or being written, so
 * that it is not in the batch though it may have to be written.
 */
static bool batch_add(struct page_batch *batch, struct frame *frame)
{
	bool added = true;

	if (!latch_try_shared(&frame->latch))
		return false;
	if (frame_id(frame) && is_set(&frame->dirty)) {
		/* Acquire: pairs with the release in written(). */
		added = !__atomic_exchange_n(&frame->writing, true, __ATOMIC_ACQUIRE);
		if (added) {
			__atomic_store_n(&frame->dirty, false, __ATOMIC_RELAXED);
			memcpy(area_at(&batch->pages, batch->nr), frame->page, PAGE_BYTES);
			batch->frames[batch->nr++] = frame;
		}
	} else if (is_set(&frame->writing)) {
		added = false;
	}
	latch_release_shared(&frame->latch);
	return added;
}

/* Sort a few frames by the numbers that their pages have now, which may change meanwhile. */
static void sort_by_id(struct frame **frames, unsigned int nr)
{
	uint32_t ids[IO_BATCH];

	for (unsigned int i = 0; i < nr; i++) {
		struct frame *frame = frames[i];
		uint32_t id = frame_id(frame);
		unsigned int at = i;

		for (; at && ids[at - 1] > id; at--) {
			ids[at] = ids[at - 1];
			frames[at] = frames[at - 1];
		}
		ids[at] = id;
		frames[at] = frame;
	}
}

/* Copy pages into an empty batch, in the order of their numbers. Returns false if one is left. */
static bool batch_fill(struct page_batch *batch, struct frame **frames, unsigned int nr)
{
	bool all = true;

	sort_by_id(frames, nr);
	for (unsigned int i = 0; i < nr; i++)
		all = batch_add(batch, frames[i]) && all;
	return all;
}

/* The pages of a batch are in the file, or could not be written. */
static void written(struct page_batch *batch, struct page_pool *pool, const bool *done)
{
	pthread_mutex_lock(&pool->lock);
	for (unsigned int i = 0; i < batch->nr; i++) {
		struct frame *frame = batch->frames[i];

		if (!done[i] && !frame->freed)
			__atomic_store_n(&frame->dirty, true, __ATOMIC_RELAXED);
		/* Release: who sees that it is not being written sees that it is dirty. */
		__atomic_store_n(&frame->writing, false, __ATOMIC_RELEASE);
		if (!frame->freed)
			continue;
		store_free(&pool->store, frame->freed);
		frame->freed = 0;
		pool_push_free(pool, frame);
	}
	pthread_mutex_unlock(&pool->lock);
}

/* The file says that it is not clean before the first page of it is written. */
static int begin(struct page_pool *pool)
{
	int err;

	if (!store_clean(&pool->store))
		return 0;
	pthread_mutex_lock(&pool->lock);
	err = store_begin(&pool->store);
	pthread_mutex_unlock(&pool->lock);
	return err;
}

/* Number of pages of a batch from one on whose numbers follow each other. */
static unsigned int run_of(const struct page_batch *batch, unsigned int from)
{
	const struct page_node *pages = area_at(&batch->pages, from);
	unsigned int nr = 1;

	while (from + nr < batch->nr && pages[nr].tag.id == pages[nr - 1].tag.id + 1)
		nr++;
	return nr;
}

/**
 * batch_write() - write those of some pages that were changed
 * @batch: memory for their copies
 * @pool: the pool
 * @frames: their frames, which are sorted; they may have other pages by now
 * @nr: number of frames, at most IO_BATCH
 * @left: set to true if a page could not be had because it is latched or being written, else as
 *	  before
 *
 * Pages whose numbers follow each other are written at once. One that cannot be written is dirty as
 * before.
 *
 * Return: 0 or -errno of the first one.
 */
int batch_write(struct page_batch *batch, struct page_pool *pool, struct frame **frames,
		unsigned int nr, bool *left)
{
	bool done[IO_BATCH] = { false };
	int err;

	if (!nr)
		return 0;
	if (!batch_fill(batch, frames, nr))
		*left = true;
	err = batch->nr ? begin(pool) : 0;
	for (unsigned int i = 0, run; i < batch->nr && !err; i += run) {
		run = run_of(batch, i);
		err = store_write(&pool->store, area_at(&batch->pages, i), run);
		if (err)
			break;
		memset(done + i, true, run);
		__atomic_fetch_add(&pool->counts.writes, run, __ATOMIC_RELAXED);
	}
	if (batch->nr)
		written(batch, pool, done);
	batch->nr = 0;
	return err;
}

/* Evict a page that is cool and in the file as it is in memory. */
static bool evict(struct page_pool *pool, struct frame *frame)
{
	uint32_t id;
	bool may;

	if (!latch_try_exclusive(&frame->latch))
		return false;
	id = frame_id(frame);
	/* Acquire: pairs with the release in written(), so that a failed write is seen as dirty. */
	may = id && is_set(&frame->cool) && !__atomic_load_n(&frame->writing, __ATOMIC_ACQUIRE) &&
	      !is_set(&frame->dirty);
	if (may) {
		__atomic_store_n(&pool->frame_of[id], NULL, __ATOMIC_RELEASE);
		__atomic_store_n(&frame->id, 0, __ATOMIC_RELAXED);
	}
	latch_release(&frame->latch);
	return may;
}

/* Evict those of some pages that may be evicted. Returns their number. */
static unsigned int evict_all(struct page_pool *pool, struct frame **frames, unsigned int nr)
{
	unsigned int evicted = 0;

	for (unsigned int i = 0; i < nr; i++)
		if (evict(pool, frames[i]))
			frames[evicted++] = frames[i];
	if (!evicted)
		return 0;
	__atomic_fetch_add(&pool->counts.evictions, evicted, __ATOMIC_RELAXED);
	pthread_mutex_lock(&pool->lock);
	for (unsigned int i = 0; i < evicted; i++)
		pool_push_free(pool, frames[i]);
	pthread_mutex_unlock(&pool->lock);
	return evicted;
}

/* The first hand passes a frame. */
static void make_cool(struct page_pool *pool, struct frame *frame)
{
	uint32_t id = frame_id(frame);

	if (!id || is_set(&frame->cool))
		return;
	if (pool->config.hook)
		pool->config.hook(pool->config.ctx, frame, id);
	__atomic_store_n(&frame->cool, true, __ATOMIC_RELAXED);
	__atomic_fetch_add(&pool->counts.cooled, 1, __ATOMIC_RELAXED);
}

/*
 * Both hands pass at most IO_BATCH frames, the pages of which leave or are written. Returns the
 * number of frames that became free.
 */
static unsigned int turn(struct provider *p)
{
	struct page_pool *pool = p->pool;
	struct frame *cool[IO_BATCH], *changed[IO_BATCH];
	unsigned int nr = 0, nr_changed = 0, steps = p->nr < IO_BATCH ? p->nr : IO_BATCH;
	bool left = false;

	for (unsigned int i = 0; i < steps; i++) {
		struct frame *frames = pool->frames + p->first, *second;

		make_cool(pool, &frames[p->hand]);
		second = &frames[(p->hand + p->nr - p->distance) % p->nr];
		p->hand = (p->hand + 1) % p->nr;
		if (!frame_id(second) || !is_set(&second->cool))
			continue;
		if (is_set(&second->dirty))
			changed[nr_changed++] = second;
		else
			cool[nr++] = second;
	}
	nr = evict_all(pool, cool, nr);
	if (!batch_write(&p->batch, pool, changed, nr_changed, &left))
		nr += evict_all(pool, changed, nr_changed);
	p->idle = nr ? 0 : p->idle + steps;
	return nr;
}

/*
 * After three rounds of the hands without a page that leaves while nothing can be written, nothing
 * will leave: those who wait for a frame get the error.
 */
static void get_stuck(struct provider *p)
{
	struct page_pool *pool = p->pool;

	pthread_mutex_lock(&pool->lock);
	pool->stuck = store_error(&pool->store) && p->idle > 3ull * p->nr && !pool->free;
	if (pool->stuck)
		pthread_cond_broadcast(&pool->ready);
	pthread_mutex_unlock(&pool->lock);
}

/*
 * Sleep while enough frames are free, or nothing can be done. One that has begun goes on until it
 * has made some more than the target free, so that it does not wake for each. Returns false at
 * the end.
 */
static bool await_work(struct provider *p)
{
	struct page_pool *pool = p->pool;
	bool stop;

	pthread_mutex_lock(&pool->lock);
	while (!pool->stop && (pool->nr_free >= pool->target + (p->active ? p->more : 0) ||
			       (pool->stuck && !pool->waiting))) {
		p->active = false;
		pthread_cond_wait(&pool->wanted, &pool->lock);
	}
	p->active = true;
	stop = pool->stop;
	pthread_mutex_unlock(&pool->lock);
	return !stop;
}

static void *provide(void *arg)
{
	struct provider *p = arg;

	while (await_work(p)) {
		if (turn(p))
			continue;
		if (store_error(&p->pool->store))
			get_stuck(p);
		sched_yield();
	}
	return NULL;
}

/* Give each provider its part of the frames. */
static int start(struct page_pool *pool, struct provider *p, unsigned int i, unsigned int nr)
{
	uint32_t least;
	int err;

	p->pool = pool;
	p->first = (uint32_t)((uint64_t)pool->nr * i / nr);
	p->nr = (uint32_t)((uint64_t)pool->nr * (i + 1) / nr) - p->first;
	least = p->nr / 4 < DISTANCE_MIN ? p->nr / 4 : DISTANCE_MIN;
	p->distance = (uint32_t)((uint64_t)p->nr * pool->config.cool_pct / 100);
	if (p->distance < least)
		p->distance = least;
	p->more = pool->nr / 16 < IO_BATCH ? pool->nr / 16 : IO_BATCH;
	err = batch_init(&p->batch);
	if (!err)
		err = -pthread_create(&p->thread, NULL, provide, p);
	p->started = !err;
	return err;
}

/**
 * providers_start() - start the providers of a pool
 * @pool: the pool, whose frames are there
 *
 * There are at most as many as have POOL_MIN frames each.
 *
 * Return: 0 or -errno with none running.
 */
int providers_start(struct page_pool *pool)
{
	unsigned int nr = pool->config.providers;
	int err = 0;

	if (nr > pool->nr / POOL_MIN)
		nr = pool->nr / POOL_MIN;
	pool->config.providers = nr;
	pool->providers = calloc(nr, sizeof(*pool->providers));
	if (!pool->providers)
		return -ENOMEM;
	for (unsigned int i = 0; i < nr && !err; i++)
		err = start(pool, &pool->providers[i], i, nr);
	if (err)
		providers_stop(pool);
	return err;
}

/** providers_stop() - end the providers of a pool, if there are any */
void providers_stop(struct page_pool *pool)
{
	if (!pool->providers)
		return;
	pthread_mutex_lock(&pool->lock);
	pool->stop = true;
	pthread_cond_broadcast(&pool->wanted);
	pthread_mutex_unlock(&pool->lock);
	for (unsigned int i = 0; i < pool->config.providers; i++) {
		struct provider *p = &pool->providers[i];

		if (p->started)
			pthread_join(p->thread, NULL);
		batch_destroy(&p->batch);
	}
	free(pool->providers);
	pool->providers = NULL;
}
