/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pool.h - the pages that are in memory.
 *
 * An array has the frame of each page of the file that is in memory, so finding one is a load, and
 * evicting one neither searches nor writes its parent. A reader that does not hold a latch:
 *
 *	frame = pool_frame(pool, id)	NULL: validate where the number is from, release all
 *					latches, pool_load(pool, id), and begin anew
 *	version = latch_begin()
 *	frame->id != id: begin anew	the frame has got another page meanwhile
 *	validate where the number is from, then read the page
 *
 * and one that acquires latches the same with the latch instead of the version. @id, @page
 * and the content of a frame change under its exclusive latch alone; while a page is
 * being read from the file its frame has that latch, so that others who find it wait.
 *
 *	free	no page; in the list of free frames
 *	hot	in use
 *	cool	will be evicted, unless pool_frame() finds it before
 *
 * A thread in the background, the provider, makes frames free where few are left. Two hands go
 * round the frames: the first makes pages cool, the second writes those that still are and were
 * changed, and evicts them (the two-handed clock: McKusick, Bostic, Karels and Quarterman,
 * "The design and implementation of the 4.4BSD operating system", 1996, section 5.12). Between
 * the hands are cool_pct of the frames. Before a page becomes cool a function of the tree is
 * called, which may merge or free pages.
 *
 * Locks are acquired in this order: latches of pages (in a tree from the root down and to the
 * right, otherwise by trying), then the pool's own lock, which no function holds when it returns.
 */
#ifndef DEMO_PAGES_POOL_H
#define DEMO_PAGES_POOL_H

#include "latch.h"
#include "store.h"

/* Frames of the smallest pool. */
#define POOL_MIN 16

/**
 * struct frame - a place for a page
 * @latch: the latch of the page
 * @page: the memory of the page; never changes
 * @id: number of the page, 0 for none; changes under the exclusive latch
 * @cool: the page will be evicted unless it is used
 * @dirty: the page was changed and is not in the file; cleared under the latch of a reader
 * @writing: the page is being written to the file as it was when @dirty was cleared
 * @updates: of Contention Split: updates of the period
 * @slow: of Contention Split: those of @updates that had to wait for the latch
 * @last: of Contention Split: position of the last update
 * @freed: number of the page that was freed while it was being written, else 0; under the pool's
 *	   lock
 * @next: next free frame, under the pool's lock
 *
 * @updates, @slow and @last belong to the tree, which writes them under the exclusive latch; they
 * are 0, 0 and FRAME_NO_POSITION when a page comes into the frame.
 */
struct frame {
	struct latch latch;
	struct page_node *page __cacheline_aligned;
	uint32_t id;
	bool cool;
	bool dirty;
	bool writing;
	uint32_t updates;
	uint32_t slow;
	int32_t last;
	uint32_t freed;
	struct frame *next;
};

_Static_assert(sizeof(struct frame) == 2 * CACHE_LINE, "0.8 % of a page");

/* What @frame_of of a page has that is free: it is not read from the file. */
#define FRAME_FREE ((struct frame *)1)

/* Value of @last before the first update. */
#define FRAME_NO_POSITION (-1)

/**
 * pool_hook - called by the provider before it makes a page cool
 * @ctx: as given in struct pool_config
 * @frame: the page; not latched, so it may have gone meanwhile
 * @id: number of the page that it had
 *
 * Frames are short. It may acquire latches by trying, merge and free pages; it must neither
 * wait for a latch nor call pool_load().
 */
typedef void (*pool_hook)(void *ctx, struct frame *frame, uint32_t id);

/**
 * struct pool_config - a pool
 * @store: its file
 * @frames: number of frames, at least POOL_MIN
 * @free_pct: per cent of the frames that the provider keeps free
 * @cool_pct: per cent of the frames between its two hands
 * @providers: its threads, at least 1; each has a part of the frames
 * @hook: see pool_hook, or NULL
 * @ctx: argument of @hook
 *
 * The kind of the latches is latch_kind.
 */
struct pool_config {
	struct store_config store;
	uint32_t frames;
	unsigned int free_pct;
	unsigned int cool_pct;
	unsigned int providers;
	pool_hook hook;
	void *ctx;
};

/**
 * struct pool_counts - what happened since the pool was opened
 * @reads: pages read from the file
 * @writes: pages written to the file, without superblocks and the list of free pages
 * @evictions: pages that left their frame
 * @cooled: pages that became cool
 * @rescued: cool pages that were used again
 * @waits: calls that waited for a free frame
 */
struct pool_counts {
	uint64_t reads;
	uint64_t writes;
	uint64_t evictions;
	uint64_t cooled;
	uint64_t rescued;
	uint64_t waits;
};

struct provider;

/**
 * struct page_pool - a buffer pool
 * @frame_of: frame of each page, NULL if it is not in memory, FRAME_FREE if the page is free
 * @max: number of pages that there may be
 * @nr: number of frames
 * @frames: the frames
 * @config: how it was opened
 * @table: memory of @frame_of
 * @memory: memory of the pages
 * @promised: elements of @table whose memory is present
 * @store: the file
 * @counts: changed atomically
 * @lock: lock of the members below and of the free pages of @store
 * @wanted: a provider waits for few free frames
 * @ready: threads wait for a free frame
 * @free: free frames
 * @nr_free: their number
 * @target: free frames that the providers see to
 * @waiting: number of threads that wait for a free frame
 * @stuck: the provider finds no page to evict, because the file cannot be written
 * @stop: the providers end
 * @providers: the threads
 */
struct page_pool {
	struct frame **frame_of;
	uint32_t max;
	uint32_t nr;
	struct frame *frames;
	struct pool_config config;
	struct area table;
	struct area memory;
	uint64_t promised;
	struct store store;
	struct pool_counts counts __cacheline_aligned;
	pthread_mutex_t lock __cacheline_aligned;
	pthread_cond_t wanted;
	pthread_cond_t ready;
	struct frame *free;
	uint32_t nr_free;
	uint32_t target;
	uint32_t waiting;
	bool stuck;
	bool stop;
	struct provider *providers;
};

int pool_open(struct page_pool *pool, const struct pool_config *config, char *why, size_t len);
int pool_close(struct page_pool *pool);
int pool_checkpoint(struct page_pool *pool);
void pool_abandon(struct page_pool *pool);

int pool_load(struct page_pool *pool, uint32_t id);
int pool_new(struct page_pool *pool, unsigned int tree, struct frame **frame);
int pool_wait(struct page_pool *pool);
void pool_free_page(struct page_pool *pool, struct frame *frame);
void pool_rescue(struct page_pool *pool, struct frame *frame);
struct frame *pool_try(struct page_pool *pool, uint32_t nr);
void pool_count(const struct page_pool *pool, struct pool_counts *counts);
uint64_t pool_bytes(uint32_t frames, uint64_t pages);
int pool_room(uint32_t frames, uint64_t pages, char *why, size_t len);

/**
 * pool_peek() - as pool_frame(), but a page that will be evicted still will be
 * @pool: the pool
 * @id: number of the page
 */
static __inline_always struct frame *pool_peek(const struct page_pool *pool, uint32_t id)
{
	struct frame *frame;

	if (unlikely(id >= pool->max))
		return NULL;
	/* Acquire: pairs with the release of who set it, after he had set @id of the frame. */
	frame = __atomic_load_n(&pool->frame_of[id], __ATOMIC_ACQUIRE);
	return likely((uintptr_t)frame > (uintptr_t)FRAME_FREE) ? frame : NULL;
}

/**
 * pool_frame() - the frame of a page
 * @pool: the pool
 * @id: number of the page, or any number that was not validated yet
 *
 * Safe for any thread. See above for what to do with it.
 *
 * Return: the frame, or NULL if the page is not in memory.
 */
static __inline_always struct frame *pool_frame(struct page_pool *pool, uint32_t id)
{
	struct frame *frame;

	frame = pool_peek(pool, id);
	if (likely(frame) && unlikely(__atomic_load_n(&frame->cool, __ATOMIC_RELAXED)))
		pool_rescue(pool, frame);
	return frame;
}

/**
 * frame_id() - number of the page that a frame has
 * @frame: the frame, which the calling thread has latched, or whose version it has noted and will
 *	   validate
 */
static __inline_always uint32_t frame_id(const struct frame *frame)
{
	return __atomic_load_n(&frame->id, __ATOMIC_RELAXED);
}

/**
 * pool_dirty() - note that a page was changed
 * @frame: its frame, latched exclusively
 */
static __inline_always void pool_dirty(struct frame *frame)
{
	/* Not written where it is set, so that elided sections conflict less. */
	if (!__atomic_load_n(&frame->dirty, __ATOMIC_RELAXED))
		__atomic_store_n(&frame->dirty, true, __ATOMIC_RELAXED);
}

/**
 * pool_writable() - whether pages may be changed
 * @pool: the pool
 *
 * An operation that changes pages calls it first.
 *
 * Return: 0, -EROFS if the file was opened to be read, or -errno of a write that failed.
 */
static inline int pool_writable(const struct page_pool *pool)
{
	return store_error(&pool->store);
}

/**
 * pool_root() - number of the root page of a tree
 * @pool: the pool
 * @tree: number of the tree, below STORE_ROOTS
 *
 * Safe for any thread.
 *
 * Return: 0 if there is none.
 */
static inline uint32_t pool_root(const struct page_pool *pool, unsigned int tree)
{
	return __atomic_load_n(&pool->store.super->roots[tree].page, __ATOMIC_ACQUIRE);
}

/**
 * pool_root_set() - set the root page of a tree
 * @pool: the pool
 * @tree: number of the tree
 * @id: number of its page, 0 for none
 *
 * One thread a tree at a time.
 */
static inline void pool_root_set(struct page_pool *pool, unsigned int tree, uint32_t id)
{
	__atomic_store_n(&pool->store.super->roots[tree].page, id, __ATOMIC_RELEASE);
}

int pool_tree(struct page_pool *pool, const char *name);
int pool_tree_add(struct page_pool *pool, const char *name);

/** pool_note() - a number that the program keeps in the file; @nr: below STORE_NOTES */
static inline uint64_t *pool_note(struct page_pool *pool, unsigned int nr)
{
	return &pool->store.super->notes[nr];
}

/** pool_pages() - number of pages of the file that are in use, with the superblocks */
static inline uint64_t pool_pages(const struct page_pool *pool)
{
	return __atomic_load_n(&pool->store.nr, __ATOMIC_RELAXED) -
	       (uint64_t)__atomic_load_n(&pool->store.nr_free, __ATOMIC_RELAXED);
}

#endif
