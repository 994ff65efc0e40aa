// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * pool-open.c - opens and closes a pool, writes it to its file, and says what memory it takes.
 */
#include "provider.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Elements of the array of frames that are made present at once: 32 KiB. */
#define TABLE_BATCH 4096

/* Frames from which on the table has large pages: its part for as many pages fills one of 2 MiB. */
#define TABLE_LARGE (1u << 18)

/* Least number of free frames that a provider sees to. */
#define FREE_MIN 4

static int failed(char *why, size_t len, int err)
{
	snprintf(why, len, "%s", strerror(-err));
	return err;
}

/**
 * pool_table_promise() - make the elements of the array up to that of a page present
 * @pool: the pool
 * @id: number of the page
 *
 * Return: 0 or -ENOMEM.
 */
int pool_table_promise(struct page_pool *pool, uint32_t id)
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
	if (!err && pool->nr < TABLE_LARGE)
		area_small_pages(&pool->table);
	pool->table.batch = TABLE_BATCH;
	pool->frame_of = (struct frame **)pool->table.base;
	return err ? err : pool_table_promise(pool, pool->store.nr - 1);
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
