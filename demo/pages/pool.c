// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * pool.c - frames, the array of them, and the life of a page in memory (see pool.h).
 *
 *	what			frame_of[id]		the frame
 *	not in memory		NULL
 *	being read		the frame		has its latch and @id
 *	in memory		the frame		has @id
 *	freed			FRAME_FREE		@id is 0
 *	freed, being written	FRAME_FREE		@id is 0, @freed is the number, which nobody
 *							gets before it is written
 */
#include "provider.h"

#include <string.h>

static void count(uint64_t *counter)
{
	__atomic_fetch_add(counter, 1, __ATOMIC_RELAXED);
}

/* A free frame or NULL, under the lock. */
static struct frame *take_free(struct page_pool *pool)
{
	struct frame *frame = pool->free;

	if (pool->nr_free <= pool->target)
		pthread_cond_broadcast(&pool->wanted);
	if (!frame)
		return NULL;
	pool->free = frame->next;
	pool->nr_free--;
	return frame;
}

/* Give a frame back that has no page. */
static void give_free(struct page_pool *pool, struct frame *frame)
{
	pthread_mutex_lock(&pool->lock);
	pool_push_free(pool, frame);
	pthread_mutex_unlock(&pool->lock);
}

/* Under the lock: wait until there is a free frame. Returns 0, or -errno if there will be none. */
static int await_free(struct page_pool *pool)
{
	if (!pool->free)
		count(&pool->counts.waits);
	while (!pool->free) {
		if (pool->config.store.io == IO_none)
			return -ENOSPC;
		if (pool->stuck)
			return store_error(&pool->store);
		pool->waiting++;
		pthread_cond_signal(&pool->wanted);
		pthread_cond_wait(&pool->ready, &pool->lock);
		pool->waiting--;
	}
	return 0;
}

/**
 * pool_wait() - wait until there is a free frame
 * @pool: the pool
 *
 * After pool_new() has returned -EAGAIN; the calling thread holds no latch. Another thread may
 * take the frame.
 *
 * Return: 0, -ENOSPC if the pool is all there is (IO_none), or -errno of the write because of which
 * no page can be evicted.
 */
int pool_wait(struct page_pool *pool)
{
	int err;

	pthread_mutex_lock(&pool->lock);
	err = await_free(pool);
	/* A frame wakes one thread, and this one may not take it: so that the next one can. */
	if (!err && pool->waiting)
		pthread_cond_signal(&pool->ready);
	pthread_mutex_unlock(&pool->lock);
	return err;
}

/* Begin the life of a page in a frame that has none. Latches it exclusively. */
static void enter(struct frame *frame, uint32_t id)
{
	unsigned int n = 0;

	/*
	 * One who found the page that it had before may have the latch for a moment, and does not
	 * wait for another meanwhile. By trying, as the caller may hold latches.
	 */
	while (!latch_try_exclusive(&frame->latch))
		latch_pause(&n);
	__atomic_store_n(&frame->id, id, __ATOMIC_RELAXED);
	__atomic_store_n(&frame->cool, false, __ATOMIC_RELAXED);
	/* A write that failed may have set it when the page before was being freed. */
	__atomic_store_n(&frame->dirty, false, __ATOMIC_RELAXED);
	frame->updates = frame->slow = 0;
	frame->last = FRAME_NO_POSITION;
}

/* Undo enter(). */
static void leave(struct page_pool *pool, struct frame *frame)
{
	__atomic_store_n(&frame->id, 0, __ATOMIC_RELAXED);
	latch_release(&frame->latch);
	give_free(pool, frame);
}

/* Read a page into a frame unless another thread does, for which the calling thread waits. */
static int load_into(struct page_pool *pool, uint32_t id, struct frame *frame)
{
	struct frame *other = NULL;
	int err;

	enter(frame, id);
	/* Release: pairs with the acquire in pool_peek(). */
	if (!__atomic_compare_exchange_n(&pool->frame_of[id], &other, frame, false,
					 __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
		leave(pool, frame);
		if (other != FRAME_FREE) {
			latch_shared(&other->latch, NULL);
			latch_release_shared(&other->latch);
		}
		return 0;
	}
	err = store_read(&pool->store, id, frame->page);
	count(&pool->counts.reads);
	if (err) {
		__atomic_store_n(&pool->frame_of[id], NULL, __ATOMIC_RELEASE);
		leave(pool, frame);
		return err;
	}
	latch_release(&frame->latch);
	return 0;
}

/**
 * pool_load() - read a page into memory, if it is not there
 * @pool: the pool
 * @id: its number, which was validated
 *
 * The calling thread holds no latch. It waits for I/O and, if need be, for a free frame. The page
 * may be evicted or freed before it is used, so the caller begins anew in any case.
 *
 * Return: 0, -EBADMSG if the page is damaged, or -errno of the read, or of the write because of
 * which no page can be evicted.
 */
int pool_load(struct page_pool *pool, uint32_t id)
{
	struct frame *frame;
	int err;

	if (id < STORE_FIRST || id >= __atomic_load_n(&pool->store.nr, __ATOMIC_RELAXED))
		return -EBADMSG;
	if (__atomic_load_n(&pool->frame_of[id], __ATOMIC_RELAXED))
		return 0;
	if (pool->config.store.io == IO_none)
		return -EBADMSG;
	pthread_mutex_lock(&pool->lock);
	err = await_free(pool);
	frame = err ? NULL : take_free(pool);
	pthread_mutex_unlock(&pool->lock);
	return err ? err : load_into(pool, id, frame);
}

/* Under the lock: a free frame and the number of a new page. */
static int take_new(struct page_pool *pool, struct frame **frame, uint32_t *id)
{
	int err;

	if (!pool->free) {
		take_free(pool);
		return pool->config.store.io == IO_none ? -ENOSPC : -EAGAIN;
	}
	err = store_allocate(&pool->store, id);
	if (err)
		return err;
	err = pool_table_promise(pool, *id);
	if (err)
		store_free(&pool->store, *id);
	else
		*frame = take_free(pool);
	return err;
}

/**
 * pool_new() - add a page to the file
 * @pool: the pool
 * @tree: number of the tree to which it belongs
 * @frame: receives its frame, latched exclusively, dirty; of its content the tag alone is valid
 *
 * The calling thread may hold latches; it must not acquire any latch of the same tree above the
 * new page while it has that page. It never waits for a frame. Undone by pool_free_page().
 *
 * Return: 0; -EAGAIN if no frame is free: release all latches, pool_wait() and begin anew;
 * -ENOSPC if the disk, the file or, without a file, the pool is full; -EROFS; or -errno of a write
 * that failed. Nothing has changed then.
 */
int pool_new(struct page_pool *pool, unsigned int tree, struct frame **frame)
{
	uint32_t id;
	int err;

	pthread_mutex_lock(&pool->lock);
	err = take_new(pool, frame, &id);
	pthread_mutex_unlock(&pool->lock);
	if (err)
		return err;
	enter(*frame, id);
	(*frame)->page->tag = (struct page_tag){ .id = id, .tree = tree, .kind = PAGE_NODE };
	__atomic_store_n(&(*frame)->dirty, true, __ATOMIC_RELAXED);
	/* Release: pairs with the acquire in pool_peek(). */
	__atomic_store_n(&pool->frame_of[id], *frame, __ATOMIC_RELEASE);
	return 0;
}

/**
 * pool_free_page() - free a page
 * @pool: the pool
 * @frame: its frame, latched exclusively, which it releases; no other page refers to it
 */
void pool_free_page(struct page_pool *pool, struct frame *frame)
{
	uint32_t id = frame->id;

	__atomic_store_n(&pool->frame_of[id], FRAME_FREE, __ATOMIC_RELEASE);
	__atomic_store_n(&frame->id, 0, __ATOMIC_RELAXED);
	__atomic_store_n(&frame->dirty, false, __ATOMIC_RELAXED);
	latch_release(&frame->latch);
	pthread_mutex_lock(&pool->lock);
	if (frame->writing) {
		frame->freed = id;
	} else {
		store_free(&pool->store, id);
		pool_push_free(pool, frame);
	}
	pthread_mutex_unlock(&pool->lock);
}

/** pool_rescue() - a cool page was found and becomes hot: see pool_frame() */
void pool_rescue(struct page_pool *pool, struct frame *frame)
{
	if (__atomic_exchange_n(&frame->cool, false, __ATOMIC_RELAXED))
		count(&pool->counts.rescued);
}

/**
 * pool_try() - latch the page of a frame exclusively, if that is possible at once
 * @pool: the pool
 * @nr: number of the frame, below @pool->nr
 *
 * For one who visits all pages in memory.
 *
 * Return: the frame, or NULL if it has no page or is latched.
 */
struct frame *pool_try(struct page_pool *pool, uint32_t nr)
{
	struct frame *frame = &pool->frames[nr];

	if (!frame_id(frame) || !latch_try_exclusive(&frame->latch))
		return NULL;
	if (frame_id(frame))
		return frame;
	latch_release(&frame->latch);
	return NULL;
}

/** pool_count() - copy the counters of a pool, which other threads may be changing */
void pool_count(const struct page_pool *pool, struct pool_counts *counts)
{
	const uint64_t *from = (const uint64_t *)&pool->counts;
	uint64_t *to = (uint64_t *)counts;

	for (size_t i = 0; i < sizeof(*counts) / sizeof(*to); i++)
		to[i] = __atomic_load_n(&from[i], __ATOMIC_RELAXED);
}

/**
 * pool_tree() - find a tree by its name
 * @pool: the pool
 * @name: the name
 *
 * Return: its number, or -ENOENT.
 */
int pool_tree(struct page_pool *pool, const char *name)
{
	const struct store_root *roots = pool->store.super->roots;

	for (int i = 0; i < STORE_ROOTS; i++)
		if (!strncmp(roots[i].name, name, STORE_NAME))
			return i;
	return -ENOENT;
}

/**
 * pool_tree_add() - add a tree that has no root page yet
 * @pool: the pool
 * @name: its name, of 1 to STORE_NAME - 1 bytes
 *
 * One thread at a time.
 *
 * Return: its number, -EEXIST, -EINVAL for the name, -ENOSPC if there are STORE_ROOTS, or -errno of
 * pool_writable().
 */
int pool_tree_add(struct page_pool *pool, const char *name)
{
	int err = pool_writable(pool), nr;
	struct store_root *root;

	if (err)
		return err;
	if (!*name || strlen(name) >= STORE_NAME)
		return -EINVAL;
	if (pool_tree(pool, name) >= 0)
		return -EEXIST;
	nr = pool_tree(pool, "");
	if (nr < 0)
		return -ENOSPC;
	root = &pool->store.super->roots[nr];
	*root = (struct store_root){ 0 };
	memcpy(root->name, name, strlen(name));
	return nr;
}
