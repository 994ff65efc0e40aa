// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test_pages_store.c - the file of pages: what is kept from one opening to the next, and what is
 * refused: files that are not ours, of another version or page size, truncated, not closed,
 * open elsewhere, and with bits flipped anywhere. A file that is refused is as it was.
 *
 * SEED, a number, begins another sequence; the one that failed is printed.
 */
#include <sys/wait.h>

#include "unit.h"
#include "../../demo/base/rng.h"
#include "../../demo/pages/crc.h"

#include "pages.h"

#define LEAVES 40
#define FLIPS 400

static uint64_t seed;

/* A clean file with a tree, a note and free pages. */
static void make_file(void)
{
	struct pool_config config = pages_config(64, true);
	struct frame *frames[10];
	struct page_pool pool;

	unlink(pages_path);
	pages_open(&pool, &config);
	assert_int_equal(pages_make(&pool, "orders", LEAVES), 0);
	*pool_note(&pool, 3) = 12345;
	for (unsigned int i = 0; i < 10; i++)
		assert_int_equal(pages_new(&pool, 0, &frames[i]), 0);
	for (unsigned int i = 0; i < 10; i++)
		pool_free_page(&pool, frames[i]);
	assert_int_equal(pool_close(&pool), 0);
}

/* What is refused, and how. The file stays as it is. */
static void refused(const char *why)
{
	struct pool_config config = pages_config(64, false);
	size_t before_len, after_len;
	unsigned char *before = pages_bytes(&before_len), *after;
	struct page_pool pool;

	assert_true(pool_open(&pool, &config, pages_why, sizeof(pages_why)) < 0);
	if (!strstr(pages_why, why))
		fail_msg("\"%s\" is not said, but \"%s\"", why, pages_why);
	after = pages_bytes(&after_len);
	assert_int_equal(before_len, after_len);
	assert_memory_equal(before, after, after_len);
	free(before);
	free(after);
}

static void test_kept(void **state)
{
	struct pool_config config = pages_config(64, false);
	struct store_report report;
	struct page_pool pool;
	struct pool_counts counts;
	size_t before_len, after_len;
	unsigned char *before, *after;

	make_file();
	assert_true(pages_sound(&report));
	assert_int_equal(report.nodes, LEAVES + 1);
	assert_int_equal(report.free, 10);
	before = pages_bytes(&before_len);
	pages_open(&pool, &config);
	assert_int_equal(pool_tree(&pool, "orders"), 0);
	assert_int_equal(pool_tree(&pool, "lines"), -ENOENT);
	assert_int_equal(pool_tree_add(&pool, "orders"), -EEXIST);
	assert_int_equal(pool_tree_add(&pool, "a name that is much too long for it"), -EINVAL);
	assert_int_equal(*pool_note(&pool, 3), 12345);
	assert_int_equal(pool_pages(&pool), STORE_FIRST + LEAVES + 1);
	for (unsigned int i = 0; i < LEAVES; i++) {
		struct frame *frame;

		assert_int_equal(pages_latch(&pool, pages_leaf[i], false, &frame), 0);
		assert_int_equal(pages_counter(frame), 0);
		latch_release_shared(&frame->latch);
	}
	pool_count(&pool, &counts);
	assert_int_equal(counts.reads, LEAVES);
	assert_int_equal(counts.writes, 0);
	assert_int_equal(pool_close(&pool), 0);
	/* Nothing was changed, so nothing was written. */
	after = pages_bytes(&after_len);
	assert_int_equal(before_len, after_len);
	assert_memory_equal(before, after, after_len);
	free(before);
	free(after);
}

/* Free pages are used again before the file grows, also more of them than one page names. */
static void test_free_pages(void **state)
{
	const unsigned int nr = 5000;
	struct store_config config = { .path = pages_path, .io = IO_buffered, .create = true };
	struct store_report report;
	struct store store;
	uint32_t id, last;

	unlink(pages_path);
	assert_int_equal(store_open(&store, &config, pages_why, sizeof(pages_why)), 0);
	for (unsigned int i = 0; i < nr; i++)
		assert_int_equal(store_allocate(&store, &last), 0);
	for (id = STORE_FIRST; id <= last; id++)
		store_free(&store, id);
	assert_int_equal(store_checkpoint(&store), 0);
	store_close(&store);
	assert_true(pages_sound(&report));
	assert_int_equal(report.free, nr);
	config.create = false;
	assert_int_equal(store_open(&store, &config, pages_why, sizeof(pages_why)), 0);
	for (unsigned int i = 0; i < nr; i++) {
		assert_int_equal(store_allocate(&store, &id), 0);
		assert_true(id <= last);
	}
	assert_int_equal(store_allocate(&store, &id), 0);
	assert_int_equal(id, last + 1);
	store_close(&store);
}

static void test_not_ours(void **state)
{
	static unsigned char bytes[3 * PAGE_BYTES];
	struct superblock *super = (struct superblock *)bytes;
	struct rng rng;

	pages_put(bytes, 0);
	refused("is not a file of page_bench");
	pages_put(bytes, sizeof(bytes));
	refused("is not a file of page_bench");
	rng_seed(&rng, seed, 0);
	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (unsigned char)rng_next(&rng);
	pages_put(bytes, sizeof(bytes));
	refused("is not a file of page_bench");
	memcpy(super->magic, STORE_MAGIC, sizeof(super->magic));
	super->version = STORE_VERSION + 1;
	pages_put(bytes, sizeof(bytes));
	refused("has version 2, and this program has version 1");
	super->version = STORE_VERSION;
	super->page_bytes = 4096;
	pages_put(bytes, sizeof(bytes));
	refused("has pages of 4096 bytes, and this program of 16384");
	super->page_bytes = PAGE_BYTES;
	pages_put(bytes, sizeof(bytes));
	refused("has no whole superblock");
	pages_put(bytes, 100);
	refused("has no whole superblock");
}

static void test_cannot_open(void **state)
{
	struct pool_config config = pages_config(64, false);
	struct page_pool pool;

	unlink(pages_path);
	assert_int_equal(pool_open(&pool, &config, pages_why, sizeof(pages_why)), -ENOENT);
	assert_string_equal(pages_why, "No such file or directory");
	config.store.path = pages_folder;
	assert_int_equal(pool_open(&pool, &config, pages_why, sizeof(pages_why)), -EISDIR);
	config.store.path = "/dev/null";
	assert_int_equal(pool_open(&pool, &config, pages_why, sizeof(pages_why)), -EINVAL);
	assert_string_equal(pages_why, "is not a regular file");
	assert_int_equal(mkfifo(pages_path, 0600), 0);
	config.store.path = pages_path;
	assert_int_equal(pool_open(&pool, &config, pages_why, sizeof(pages_why)), -EINVAL);
	make_file();
	config.store.create = true;
	assert_int_equal(pool_open(&pool, &config, pages_why, sizeof(pages_why)), -EEXIST);
	config.store.create = false;
	config.store.max = 10;
	assert_int_equal(pool_open(&pool, &config, pages_why, sizeof(pages_why)), -EINVAL);
	assert_string_equal(pages_why, "has 53 pages, and 10 are the most");
}

/* One that writes keeps all others out, those that read keep one that writes out. */
static void test_locked(void **state)
{
	struct pool_config config = pages_config(64, false), reader = config;
	struct page_pool pool, other;
	struct store_report report;

	reader.store.read_only = true;
	make_file();
	pages_open(&pool, &config);
	refused("is open in another process");
	assert_int_equal(pool_open(&other, &reader, pages_why, sizeof(pages_why)), -EBUSY);
	assert_int_equal(store_check(pages_path, NULL, &report, pages_why, sizeof(pages_why)),
			 -EBUSY);
	assert_int_equal(pool_close(&pool), 0);
	pages_open(&pool, &reader);
	pages_open(&other, &reader);
	refused("is open in another process");
	assert_true(pages_sound(&report));
	assert_int_equal(pool_close(&pool), 0);
	assert_int_equal(pool_close(&other), 0);
}

/* A file that may only be read is read, and nothing changes it. */
static void test_read_only(void **state)
{
	struct pool_config config = pages_config(64, false);
	struct page_pool pool;
	struct frame *frame;
	size_t before_len, after_len;
	unsigned char *before, *after;

	make_file();
	before = pages_bytes(&before_len);
	config.store.read_only = true;
	assert_int_equal(chmod(pages_path, 0400), 0);
	pages_open(&pool, &config);
	assert_int_equal(pool_writable(&pool), -EROFS);
	assert_int_equal(pool_new(&pool, 0, &frame), -EROFS);
	assert_int_equal(pool_tree_add(&pool, "lines"), -EROFS);
	assert_int_equal(pages_latch(&pool, pages_leaf[3], false, &frame), 0);
	latch_release_shared(&frame->latch);
	assert_int_equal(pool_close(&pool), 0);
	after = pages_bytes(&after_len);
	assert_int_equal(before_len, after_len);
	assert_memory_equal(before, after, after_len);
	free(before);
	free(after);
	if (geteuid()) {
		config.store.read_only = false;
		assert_int_equal(pool_open(&pool, &config, pages_why, sizeof(pages_why)), -EACCES);
	}
}

static void test_truncated(void **state)
{
	size_t len;
	unsigned char *bytes;

	make_file();
	bytes = pages_bytes(&len);
	for (size_t at = 0; at < len; at += at < 2 * PAGE_BYTES ? 5000 : 40000) {
		pages_put(bytes, at);
		refused(at < 8 ? "is not a file of page_bench" :
			at < 2 * PAGE_BYTES ? "superblock" : "is truncated: it has ");
	}
	pages_put(bytes, len);
	assert_true(pages_sound(&(struct store_report){ 0 }));
	free(bytes);
}

/* What a process leaves that ends before it closes its file: all or nothing. */
static void test_not_closed(void **state)
{
	for (unsigned int checkpoint = 0; checkpoint < 3; checkpoint++) {
		pid_t pid;
		int status;

		unlink(pages_path);
		pid = fork();
		assert_true(pid >= 0);
		if (!pid) {
			struct pool_config config = pages_config(16, true);
			struct page_pool pool;

			pages_open(&pool, &config);
			/* More pages than frames, so that some are written. */
			if (pages_make(&pool, "orders", LEAVES) ||
			    (checkpoint && pool_checkpoint(&pool)) ||
			    (checkpoint == 2 && pages_make(&pool, "lines", LEAVES)))
				_exit(1);
			_exit(0);
		}
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_int_equal(status, 0);
		if (checkpoint == 1)
			assert_true(pages_sound(&(struct store_report){ 0 }));
		else
			refused("was not closed: of ");
	}
}

static void abandon(void)
{
	struct pool_config config = pages_config(64, false);
	struct page_pool pool;
	struct frame *frame;

	pages_open(&pool, &config);
	assert_int_equal(pages_latch(&pool, pages_leaf[0], true, &frame), 0);
	pages_set_counter(frame, 1);
	latch_release(&frame->latch);
	pool_abandon(&pool);
}

/* Nothing was written, so the file is still what it was. */
static void test_abandoned(void **state)
{
	make_file();
	abandon();
	assert_true(pages_sound(&(struct store_report){ 0 }));
}

/* What the checker says of each kind of damage. */
static void damage_page(uint32_t id, void (*how)(struct page_node *node))
{
	size_t len;
	unsigned char *bytes = pages_bytes(&len);
	struct page_node *node = (struct page_node *)(bytes + (size_t)id * PAGE_BYTES);
	size_t at = offsetof(struct page_node, tag.crc);

	how(node);
	node->tag.crc = crc32c(crc32c(0, node, at), (char *)node + at + 4, PAGE_BYTES - at - 4);
	pages_put(bytes, len);
	free(bytes);
}

static void other_id(struct page_node *node)
{
	node->tag.id++;
}

static void other_tree(struct page_node *node)
{
	node->tag.tree++;
}

static void newer(struct page_node *node)
{
	node->tag.generation += 10;
}

static void other_level(struct page_node *node)
{
	node->level = 3;
}

static void other_fences(struct page_node *node)
{
	page_node_init(node, 0, (struct bytes){ "a", 1 }, (struct bytes){ "b", 1 });
}

static void lost_child(struct page_node *node)
{
	page_node_remove(node, 4);
}

static void twice(struct page_node *node)
{
	node->last = pages_leaf[2];
}

static void outside(struct page_node *node)
{
	node->last = 1000;
}

static void test_checker(void **state)
{
	static const struct {
		bool root;
		void (*how)(struct page_node *node);
		const char *line;
	} cases[] = {
		{ false, other_id, "page 7 is misplaced: it is page 8\n" },
		{ false, newer, "page 7 is misplaced: it is newer than the superblock\n" },
		{ false, other_tree, "page 7 is misplaced: it is of tree 1 on level 0" },
		{ false, other_level, "page 7 is misplaced: it is of tree 0 on level 3" },
		{ false, other_fences,
		  "page 7 is damaged: its fences are not those of its parent\n" },
		{ true, lost_child, "page 6 is unreachable\n" },
		{ true, twice, "page 42 is damaged: its child 4 has another parent\n" },
		{ true, outside, "page 42 is damaged: its child 1000 is outside the file\n" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct store_report report;
		size_t size;
		char *text;
		FILE *out = open_memstream(&text, &size);

		make_file();
		damage_page(cases[i].root ? STORE_FIRST + LEAVES : 7, cases[i].how);
		assert_int_equal(
			store_check(pages_path, out, &report, pages_why, sizeof(pages_why)), 0);
		fclose(out);
		assert_false(store_sound(&report));
		if (!strstr(text, cases[i].line))
			fail_msg("\"%s\" is not said, but \"%s\"", cases[i].line, text);
		free(text);
	}
}

/* Read all leaves of the file. Returns 0 if all were as they were made, or -errno. */
static int read_all(void)
{
	struct pool_config config = pages_config(64, false);
	struct page_pool pool;
	int err = pool_open(&pool, &config, pages_why, sizeof(pages_why));

	if (err)
		return err;
	for (unsigned int i = 0; i < LEAVES && !err; i++) {
		struct frame *frame;

		err = pages_latch(&pool, pages_leaf[i], false, &frame);
		if (err)
			continue;
		assert_int_equal(pages_counter(frame), 0);
		assert_null(page_node_check(frame->page));
		latch_release_shared(&frame->latch);
	}
	if (!err) {
		struct frame *frame;

		err = pages_latch(&pool, pool_root(&pool, 0), false, &frame);
		if (!err)
			latch_release_shared(&frame->latch);
	}
	assert_int_equal(pool_close(&pool), 0);
	return err;
}

/* Each flip is found by the checker and by one who reads, or is in a free page without content. */
static void test_flips(void **state)
{
	unsigned int harmless = 0, at_open = 0;
	size_t len, page;
	unsigned char *bytes;
	struct rng rng;

	make_file();
	bytes = pages_bytes(&len);
	rng_seed(&rng, seed, 1);
	for (unsigned int i = 0; i < FLIPS; i++) {
		size_t at = rng_below(&rng, rng_below(&rng, 4) ? len : 2 * PAGE_BYTES);
		unsigned char bit = (unsigned char)(1u << rng_below(&rng, 8));
		struct store_report report;
		bool sound;
		int err;

		bytes[at] ^= bit;
		pages_put(bytes, len);
		sound = pages_sound(&report);
		err = read_all();
		page = at / PAGE_BYTES;
		at_open += err && err != -EBADMSG;
		harmless += sound;
		if (sound != !err || (sound && page < STORE_FIRST + LEAVES + 1))
			fail_msg("seed %llu: bit %zu of byte %zu: checker: %d, reading: %d: %s",
				 (unsigned long long)seed, (size_t)bit, at, sound, err, pages_why);
		bytes[at] ^= bit;
	}
	free(bytes);
	/* 9 of 53 pages are free and without content. */
	assert_in_range(harmless, 1, FLIPS / 2);
	assert_in_range(at_open, FLIPS / 8, FLIPS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_kept),
		cmocka_unit_test(test_free_pages),
		cmocka_unit_test(test_not_ours),
		cmocka_unit_test(test_cannot_open),
		cmocka_unit_test(test_locked),
		cmocka_unit_test(test_read_only),
		cmocka_unit_test(test_truncated),
		cmocka_unit_test(test_not_closed),
		cmocka_unit_test(test_abandoned),
		cmocka_unit_test(test_checker),
		cmocka_unit_test(test_flips),
	};
	const char *text = getenv("SEED");

	seed = text ? strtoull(text, NULL, 0) : 1;
	return cmocka_run_group_tests(tests, pages_begin, pages_end);
}
