// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test_pages_pool.c - the buffer pool: many threads on pools of few frames, with each kind of
 * latch, then the file that they leave; and a pool that is full.
 *
 * SEED is the first seed, SEEDS their number; the one that failed is printed. STEPS is the number
 * of operations of a thread.
 */
#include <pthread.h>
#include <time.h>

#include "unit.h"
#include "../../demo/base/rng.h"

#include "pages.h"

#define THREADS 6
#define LEAVES 120

static uint64_t seed = 1;
static unsigned int steps = 1500, seeds = 1;

/* struct run - threads on a pool */
struct run {
	struct page_pool pool;
	uint64_t updates[LEAVES];
	uint64_t wrong;
	uint64_t failed;
	uint64_t hooked;
};

/* struct member - a thread of a run */
struct member {
	struct run *run;
	unsigned int nr;
	pthread_t thread;
};

static void note(uint64_t *counter, bool what)
{
	__atomic_fetch_add(counter, what, __ATOMIC_RELAXED);
}

/*
 * The content of a page that may be changing: whether it could be a leaf with that key.
 * ThreadSanitizer would take the search for a race.
 */
static __attribute__((no_sanitize("thread"), noinline)) bool look(const struct frame *frame,
								   uint32_t id, struct bytes key)
{
	bool found = true;

#ifndef DEMO_TSAN
	page_node_find(frame->page, key, &found);
#endif
	return found && frame->page->tag.id == id;
}

/* Read a leaf without its latch, which must be what its number says if nothing changed it. */
static void step_look(struct run *run, unsigned int leaf)
{
	uint32_t id = pages_leaf[leaf];
	struct frame *frame = pool_frame(&run->pool, id);
	uint64_t version;
	char text[16];
	bool good;

	if (!frame) {
		note(&run->failed, pool_load(&run->pool, id) != 0);
		return;
	}
	version = latch_begin(&frame->latch, NULL);
	if (frame_id(frame) != id)
		return;
	good = look(frame, id, pages_key(leaf, text));
	if (latch_validate(&frame->latch, version))
		note(&run->wrong, !good);
}

static void step_read(struct run *run, unsigned int leaf)
{
	uint64_t before = __atomic_load_n(&run->updates[leaf], __ATOMIC_ACQUIRE);
	struct frame *frame;
	char text[16];
	bool found;

	if (pages_latch(&run->pool, pages_leaf[leaf], false, &frame)) {
		note(&run->failed, true);
		return;
	}
	page_node_find(frame->page, pages_key(leaf, text), &found);
	note(&run->wrong, !found || frame->page->tag.id != pages_leaf[leaf] ||
			  pages_counter(frame) < before);
	latch_release_shared(&frame->latch);
}

static void step_write(struct run *run, unsigned int leaf)
{
	struct frame *frame;

	if (pages_latch(&run->pool, pages_leaf[leaf], true, &frame)) {
		note(&run->failed, true);
		return;
	}
	note(&run->wrong, pages_counter(frame) != run->updates[leaf]);
	pages_set_counter(frame, pages_counter(frame) + 1);
	__atomic_store_n(&run->updates[leaf], run->updates[leaf] + 1, __ATOMIC_RELEASE);
	latch_release(&frame->latch);
}

/* A page that lives for a moment, in which it may be evicted and read again. */
static void step_new(struct run *run, struct rng *rng)
{
	const struct bytes none = { "", 0 };
	uint64_t mark = rng_next(rng);
	struct frame *frame;
	uint32_t id;

	if (pages_new(&run->pool, 0, &frame)) {
		note(&run->failed, true);
		return;
	}
	id = frame->id;
	page_node_init(frame->page, 0, none, none);
	page_node_insert(frame->page, (struct bytes){ "k", 1 },
			 (struct bytes){ &mark, sizeof(mark) });
	latch_release(&frame->latch);
	for (uint64_t i = rng_below(rng, 20); i; i--)
		step_read(run, (unsigned int)rng_below(rng, LEAVES));
	if (pages_latch(&run->pool, id, true, &frame)) {
		note(&run->failed, true);
		return;
	}
	note(&run->wrong, pages_counter(frame) != mark);
	pool_free_page(&run->pool, frame);
}

/* One who visits all pages, as a merge in the background does. */
static void step_visit(struct run *run, struct rng *rng)
{
	struct frame *frame = pool_try(&run->pool, (uint32_t)rng_below(rng, run->pool.nr));

	if (!frame)
		return;
	note(&run->wrong, frame->page->tag.id != frame_id(frame));
	latch_release(&frame->latch);
}

static void *work(void *arg)
{
	struct member *m = arg;
	struct run *run = m->run;
	struct rng rng;

	rng_seed(&rng, seed, m->nr);
	for (unsigned int i = 0; i < steps; i++) {
		unsigned int leaf = (unsigned int)rng_below(&rng, LEAVES);
		unsigned int what = (unsigned int)rng_below(&rng, 16);

		if (what < 6 && latch_optimistic())
			step_look(run, leaf);
		else if (what < 10)
			step_read(run, leaf);
		else if (what < 14)
			step_write(run, leaf);
		else if (what < 15)
			step_new(run, &rng);
		else
			step_visit(run, &rng);
	}
	return NULL;
}

static void hook(void *ctx, struct frame *frame, uint32_t id)
{
	struct run *run = ctx;

	note(&run->hooked, true);
	/* As a merge would try it; it may have gone. */
	if (!latch_try_exclusive(&frame->latch))
		return;
	note(&run->wrong, frame_id(frame) == id && frame->page->tag.id != id);
	latch_release(&frame->latch);
}

/* All counters of the file, which is opened anew, with another number of frames. */
static void compare(const struct run *run)
{
	struct pool_config config = pages_config(64, false);
	struct page_pool pool;

	pages_open(&pool, &config);
	for (unsigned int i = 0; i < LEAVES; i++) {
		struct frame *frame;

		assert_int_equal(pages_latch(&pool, pages_leaf[i], false, &frame), 0);
		assert_int_equal(pages_counter(frame), run->updates[i]);
		latch_release_shared(&frame->latch);
	}
	assert_int_equal(pool_close(&pool), 0);
}

static void run_threads(uint32_t frames, unsigned int providers)
{
	struct pool_config config = pages_config(frames, true);
	static struct run run;
	struct member members[THREADS];
	struct pool_counts counts;
	struct store_report report;

	memset(&run, 0, sizeof(run));
	config.providers = providers;
	config.hook = hook;
	config.ctx = &run;
	unlink(pages_path);
	pages_open(&run.pool, &config);
	assert_int_equal(pages_make(&run.pool, "orders", LEAVES), 0);
	for (unsigned int i = 0; i < THREADS; i++) {
		members[i] = (struct member){ &run, i, 0 };
		assert_int_equal(pthread_create(&members[i].thread, NULL, work, &members[i]), 0);
	}
	for (unsigned int i = 0; i < THREADS; i++)
		pthread_join(members[i].thread, NULL);
	pool_count(&run.pool, &counts);
	assert_int_equal(pool_close(&run.pool), 0);
	if (run.wrong || run.failed)
		fail_msg("seed %llu, latch %u, %u frames: %llu wrong, %llu failed",
			 (unsigned long long)seed, latch_kind, frames,
			 (unsigned long long)run.wrong, (unsigned long long)run.failed);
	if (!pages_sound(&report))
		fail_msg("seed %llu, latch %u: %s", (unsigned long long)seed, latch_kind,
			 pages_why);
	assert_int_equal(report.nodes, LEAVES + 1);
	assert_true(counts.evictions > 0 && counts.reads > 0 && counts.writes > 0);
	assert_true(counts.evictions >= counts.reads && run.hooked >= counts.cooled);
	compare(&run);
}

static void test_threads(void **state)
{
	uint64_t first = seed;

	for (; seed < first + seeds; seed++)
		for (unsigned int kind = 0; kind < NR_LATCH_KINDS; kind++) {
			latch_kind = (enum latch_kind)kind;
			run_threads(POOL_MIN, 1);
			run_threads(3 * POOL_MIN, 2);
		}
	latch_kind = LATCH_hybrid;
}

/* Without pressure nothing is cooled, written or evicted, and the hook is not called. */
static void test_no_pressure(void **state)
{
	struct pool_config config = pages_config(256, true);
	static struct run run;
	struct pool_counts counts;

	memset(&run, 0, sizeof(run));
	config.hook = hook;
	config.ctx = &run;
	unlink(pages_path);
	pages_open(&run.pool, &config);
	assert_int_equal(pages_make(&run.pool, "orders", LEAVES), 0);
	pool_count(&run.pool, &counts);
	assert_int_equal(counts.reads + counts.writes + counts.evictions + counts.cooled, 0);
	assert_int_equal(run.hooked, 0);
	assert_int_equal(pool_checkpoint(&run.pool), 0);
	pool_count(&run.pool, &counts);
	assert_int_equal(counts.writes, LEAVES + 1);
	assert_int_equal(pool_close(&run.pool), 0);
}

/* Without a file the pool is all there is. What was there stays when it is full. */
static void test_no_file(void **state)
{
	struct pool_config config = pages_config(64, false);
	struct page_pool pool;
	struct frame *frame;

	config.store.io = IO_none;
	config.store.path = NULL;
	pages_open(&pool, &config);
	assert_int_equal(pages_make(&pool, "orders", 40), 0);
	for (unsigned int i = 41; i < 64; i++) {
		assert_int_equal(pool_new(&pool, 0, &frame), 0);
		latch_release(&frame->latch);
	}
	assert_int_equal(pool_new(&pool, 0, &frame), -ENOSPC);
	assert_int_equal(pool_wait(&pool), -ENOSPC);
	assert_int_equal(pool_load(&pool, 10000), -EBADMSG);
	assert_int_equal(pages_latch(&pool, pages_leaf[7], true, &frame), 0);
	pool_free_page(&pool, frame);
	assert_int_equal(pool_new(&pool, 0, &frame), 0);
	latch_release(&frame->latch);
	assert_int_equal(pool_checkpoint(&pool), 0);
	assert_int_equal(pool_close(&pool), 0);
}

/* Direct I/O, where the file system of the folder has it. */
static void test_direct(void **state)
{
	struct pool_config config = pages_config(16, true);
	struct page_pool pool;
	struct frame *frame;
	int err;

	config.store.io = IO_direct;
	unlink(pages_path);
	err = pool_open(&pool, &config, pages_why, sizeof(pages_why));
	if (err) {
		assert_string_equal(pages_why, "is where direct I/O is not possible");
		assert_int_equal(access(pages_path, F_OK), -1);
		return;
	}
	assert_int_equal(pages_make(&pool, "orders", LEAVES), 0);
	for (unsigned int i = 0; i < LEAVES; i++) {
		assert_int_equal(pages_latch(&pool, pages_leaf[i], true, &frame), 0);
		pages_set_counter(frame, i);
		latch_release(&frame->latch);
	}
	assert_int_equal(pool_close(&pool), 0);
	assert_true(pages_sound(&(struct store_report){ 0 }));
	config.store.create = false;
	pages_open(&pool, &config);
	for (unsigned int i = 0; i < LEAVES; i++) {
		assert_int_equal(pages_latch(&pool, pages_leaf[i], false, &frame), 0);
		assert_int_equal(pages_counter(frame), i);
		latch_release_shared(&frame->latch);
	}
	assert_int_equal(pool_close(&pool), 0);
}

static void test_room(void **state)
{
	assert_int_equal(pool_room(64, 1000, pages_why, sizeof(pages_why)), 0);
	assert_int_equal(pool_room(UINT32_MAX, 1000, pages_why, sizeof(pages_why)), -ENOMEM);
	assert_non_null(strstr(pages_why, "MiB of memory, and there are"));
	assert_int_equal(io_room(pages_path, 1, pages_why, sizeof(pages_why)), 0);
	assert_int_equal(io_room(pages_path, 1ull << 60, pages_why, sizeof(pages_why)), -ENOSPC);
	assert_non_null(strstr(pages_why, "MiB, and its file system has"));
	assert_int_equal(io_room("no/such/folder", 1, pages_why, sizeof(pages_why)), -ENOENT);
	assert_int_equal(io_room("file", 1, pages_why, sizeof(pages_why)), 0);
	/* The pool, 3 per cent, 8 bytes a page. */
	assert_true(pool_bytes(65536, 1 << 20) <= 65536ull * PAGE_BYTES * 103 / 100 + (8 << 20));
}

static void *wait_for_frame(void *pool)
{
	return (void *)(intptr_t)pool_wait(pool);
}

static unsigned int nr_waiting(struct page_pool *pool)
{
	unsigned int nr;

	pthread_mutex_lock(&pool->lock);
	nr = pool->waiting;
	pthread_mutex_unlock(&pool->lock);
	return nr;
}

/* A frame that becomes free wakes all who wait for one, as those who wake may not take it. */
static void test_waiters(void **state)
{
	struct pool_config config = pages_config(64, true);
	struct page_pool pool;
	struct frame *frames[64];
	pthread_t threads[THREADS];
	unsigned int nr = 0;

	unlink(pages_path);
	pages_open(&pool, &config);
	/* Latched, so that none can be evicted. */
	while (nr < 64 && !pool_new(&pool, 0, &frames[nr]))
		nr++;
	assert_int_equal(nr, 64);
	for (unsigned int i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, wait_for_frame, &pool), 0);
	while (nr_waiting(&pool) < THREADS)
		usleep(1000);
	pool_free_page(&pool, frames[--nr]);
	for (unsigned int i = 0; i < THREADS; i++) {
		struct timespec until;
		void *err;

		clock_gettime(CLOCK_REALTIME, &until);
		until.tv_sec += 60;
		assert_int_equal(pthread_timedjoin_np(threads[i], &err, &until), 0);
		assert_null(err);
	}
	while (nr)
		pool_free_page(&pool, frames[--nr]);
	assert_int_equal(pool_close(&pool), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_no_file),
		cmocka_unit_test(test_no_pressure),
		cmocka_unit_test(test_direct),
		cmocka_unit_test(test_room),
		cmocka_unit_test(test_waiters),
		cmocka_unit_test(test_threads),
	};
	const char *text = getenv("SEED"), *nr = getenv("STEPS"), *all = getenv("SEEDS");

	seed = text ? strtoull(text, NULL, 0) : seed;
	steps = nr ? (unsigned int)strtoul(nr, NULL, 0) : steps;
	seeds = all ? (unsigned int)strtoul(all, NULL, 0) : seeds;
	return cmocka_run_group_tests(tests, pages_begin, pages_end);
}
