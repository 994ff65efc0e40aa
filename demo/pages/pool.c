// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * pool.c - frames, the array of them, and the life of a page in memory (see pool.h).
 *
 *	what			frame_of[id]		the frame
 *	not in memory		NULL
 *	being read		the frame		has its latch and @id; the content is not valid
 *	in memory		the frame		has @id
 *	freed			FRAME_FREE		@id is 0
 *	freed, being written	FRAME_FREE		@id is 0, @freed is the number, which nobody
 *							gets before it is written
 */
#include "provider.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Elements of the array of frames that are made present at once: 32 KiB. */
#define TABLE_BATCH 4096

/* Least number of free frames that a provider sees to. */
#define FREE_MIN 4

static int failed(char *why, size_t len, int err)
{
	snprintf(why, len, "%s", strerror(-err));
	return err;
}

static void count(uint64_t *counter)
{
	__atomic_fetch_add(counter, 1, __ATOMIC_RELAXED);
}

/* Make the array's elements up to that of page @id present. */
static int table_promise(struct page_pool *pool, uint32_t id)
{
	int err = 0;

	while (pool->promised <= id && !err) {
		uint64_t credit = 0;

		err = area_promise(&pool->table, 0, pool->max, &pool->promised, &credit, 1);
	}
	return err;
}

/* Present memory of all frames, and of what readers without a latch may read behind the last. */
static int memory_init(struct page_pool *pool)
{
	uint64_t nr = pool->nr + (PAGE_SLACK + PAGE_BYTES - 1) / PAGE_BYTES;
	uint64_t promised = 0, credit = 0;
	int err = area_init(&pool->memory, PAGE_BYTES, nr);

	if (!err)
		err = area_promise(&pool->memory, 0, nr, &promised, &credit, nr);
	if (!err)
		err = area_init(&pool->table, sizeof(*pool->frame_of), pool->max);
	pool->table.batch = TABLE_BATCH;
	pool->frame_of = (struct frame **)pool->table.base;
	return err ? err : table_promise(pool, pool->store.nr - 1);
}

static int frames_init(struct page_pool *pool)
{
	pool->frames = aligned_alloc(CACHE_LINE, pool->nr * sizeof(*pool->frames));
	if (!pool->frames)
		return -ENOMEM;
	memset(pool->frames, 0, pool->nr * sizeof(*pool->frames));
	for (uint32_t i = pool->nr; i--;) {
		struct frame *frame = &pool->frames[i];

		latch_init(&frame->latch);
		frame->page = area_at(&pool->memory, i);
		frame->next = pool->free;
		pool->free = frame;
	}
	pool->nr_free = pool->nr;
	return 0;
}

/* The free pages of the file are not in memory and not read. */
static void mark_free(struct page_pool *pool)
{
	const uint32_t *free = area_at(&pool->store.free, 0);

	for (uint32_t i = 0; i < pool->store.nr_free; i++)
		pool->frame_of[free[i]] = FRAME_FREE;
}

static void destroy(struct page_pool *pool)
{
	for (uint32_t i = 0; pool->frames && i < pool->nr; i++)
		latch_destroy(&pool->frames[i].latch);
	free(pool->frames);
	area_destroy(&pool->table);
	area_destroy(&pool->memory);
	store_close(&pool->store);
	pthread_cond_destroy(&pool->ready);
	pthread_cond_destroy(&pool->wanted);
	pthread_mutex_destroy(&pool->lock);
}

static uint32_t free_target(const struct pool_config *config)
{
	uint64_t target = (uint64_t)config->frames * config->free_pct / 100;

	return target < FREE_MIN ? FREE_MIN : (uint32_t)target;
}

/**
 * pool_open() - open a file and make a pool for it
 * @pool: the pool
 * @config: the file, and how the pool is
 * @why: receives the reason of an error, to follow the name of the file
 * @len: size of @why in bytes
 *
 * All memory of the pool is present then. A file that was made is removed if the pool cannot be.
 *
 * Return: 0, or -errno with nothing open.
 */
int pool_open(struct page_pool *pool, const struct pool_config *config, char *why, size_t len)
{
	int err;

	*pool = (struct page_pool){ .config = *config, .nr = config->frames };
	pool->target = free_target(config);
	err = store_open(&pool->store, &config->store, why, len);
	if (err)
		return err;
	pool->max = pool->store.config.max;
	pthread_mutex_init(&pool->lock, NULL);
	pthread_cond_init(&pool->wanted, NULL);
	pthread_cond_init(&pool->ready, NULL);
	err = memory_init(pool);
	if (!err)
		err = frames_init(pool);
	if (!err)
		mark_free(pool);
	if (!err && config->store.io != IO_none)
		err = providers_start(pool);
	if (!err)
		return 0;
	if (config->store.create && config->store.io != IO_none)
		unlink(config->store.path);
	destroy(pool);
	return failed(why, len, err);
}

/* Write all pages that were changed, once round. @left as of batch_write(). */
static int write_round(struct page_pool *pool, struct page_batch *batch, bool *left)
{
	struct frame *changed[IO_BATCH];
	unsigned int nr = 0;
	int err = 0;

	for (uint32_t i = 0; i < pool->nr && !err; i++) {
		struct frame *frame = &pool->frames[i];

		if (__atomic_load_n(&frame->writing, __ATOMIC_ACQUIRE) ||
		    __atomic_load_n(&frame->dirty, __ATOMIC_RELAXED))
			changed[nr++] = frame;
		if (nr < IO_BATCH)
			continue;
		err = batch_write(batch, pool, changed, nr, left);
		nr = 0;
	}
	return err ? err : batch_write(batch, pool, changed, nr, left);
}

/* Write all pages that were changed; what is latched, or being written, takes another round. */
static int write_all(struct page_pool *pool, struct page_batch *batch)
{
	bool left = true;
	int err = 0;

	while (left && !err) {
		left = false;
		err = write_round(pool, batch, &left);
		if (left)
			sched_yield();
	}
	return err;
}

/**
 * pool_checkpoint() - write all pages that were changed and make the file clean
 * @pool: the pool
 *
 * No thread changes pages or holds latches meanwhile. Nothing is written if nothing was changed.
 *
 * Return: 0 or -errno; -ENOMEM leaves everything as it was.
 */
int pool_checkpoint(struct page_pool *pool)
{
	struct page_batch batch;
	int err;

	if (pool->store.config.io == IO_none || pool->store.config.read_only)
		return 0;
	err = store_error(&pool->store);
	if (err)
		return err;
	err = batch_init(&batch);
	if (!err)
		err = write_all(pool, &batch);
	if (!err) {
		pthread_mutex_lock(&pool->lock);
		err = store_checkpoint(&pool->store);
		pthread_mutex_unlock(&pool->lock);
	}
	batch_destroy(&batch);
	return err;
}

/**
 * pool_abandon() - close a pool and write nothing
 * @pool: the pool, which no thread uses
 *
 * If pages of the file were written since the last checkpoint, the file is refused in future.
 */
void pool_abandon(struct page_pool *pool)
{
	providers_stop(pool);
	destroy(pool);
}

/**
 * pool_close() - write what was changed and close a pool
 * @pool: the pool, which no thread uses
 *
 * It is closed whatever is returned.
 *
 * Return: 0, or -errno; the file is refused in future then, unless nothing had been written.
 */
int pool_close(struct page_pool *pool)
{
	int err;

	providers_stop(pool);
	err = pool_checkpoint(pool);
	destroy(pool);
	return err;
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
	pthread_mutex_unlock(&pool->lock);
	return err;
}

/* Begin the life of a page in a frame that has none. Latches it exclusively. */
static void enter(struct frame *frame, uint32_t id)
{
	/* One who found the page that the frame had before may still have the latch for a moment. */
	latch_exclusive(&frame->latch, NULL);
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
	err = table_promise(pool, *id);
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

/**
 * pool_bytes() - memory that a pool takes
 * @frames: number of its frames
 * @pages: number of pages of the file
 *
 * Return: bytes, without those of one batch a provider.
 */
uint64_t pool_bytes(uint32_t frames, uint64_t pages)
{
	return (uint64_t)frames * (PAGE_BYTES + sizeof(struct frame)) + PAGE_SLACK +
	       pages * sizeof(struct frame *);
}

/* Bytes of memory that programs can get without swapping, or 0 if that is not known. */
static uint64_t memory_available(void)
{
	FILE *file = fopen("/proc/meminfo", "re");
	unsigned long long kib = 0;
	char line[128];

	while (file && fgets(line, sizeof(line), file))
		if (sscanf(line, "MemAvailable: %llu kB", &kib) == 1)
			break;
	if (file)
		fclose(file);
	return kib * 1024;
}

/**
 * pool_room() - examine whether there is memory for a pool
 * @frames: number of its frames
 * @pages: number of pages that the file will have
 * @why: receives the reason of an error
 * @len: size of @why in bytes
 *
 * Return: 0 or -ENOMEM.
 */
int pool_room(uint32_t frames, uint64_t pages, char *why, size_t len)
{
	uint64_t need = pool_bytes(frames, pages), there = memory_available();

	if (!there || need <= there)
		return 0;
	snprintf(why, len, "needs %.0f MiB of memory, and there are %.0f", (double)need / 0x1p20,
		 (double)there / 0x1p20);
	return -ENOMEM;
}
