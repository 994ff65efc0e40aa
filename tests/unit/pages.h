/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pages.h - what the tests of the file and the pool of demo/pages share: a file in a folder of its
 * own, and a tree of two levels in it whose leaves have one entry each, a counter.
 */
#ifndef TESTS_UNIT_PAGES_H
#define TESTS_UNIT_PAGES_H

#include "../../demo/pages/pool.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Most leaves of a tree. */
#define PAGES_LEAVES 600

static char pages_folder[64], pages_path[96], pages_why[256];
static uint32_t pages_leaf[PAGES_LEAVES];

static inline int pages_begin(void **state)
{
	const char *tmp = getenv("TMPDIR");

	snprintf(pages_folder, sizeof(pages_folder), "%.40s/pages.XXXXXX", tmp ? tmp : "/tmp");
	assert_non_null(mkdtemp(pages_folder));
	snprintf(pages_path, sizeof(pages_path), "%s/file", pages_folder);
	return 0;
}

static inline int pages_end(void **state)
{
	unlink(pages_path);
	return rmdir(pages_folder);
}

static inline struct pool_config pages_config(uint32_t frames, bool create)
{
	return (struct pool_config){
		.store = { .path = pages_path, .io = IO_buffered, .create = create },
		.frames = frames, .free_pct = 1, .cool_pct = 10, .providers = 1,
	};
}

/* pool_open() of the file, which must succeed. */
static inline void pages_open(struct page_pool *pool, const struct pool_config *config)
{
	int err = pool_open(pool, config, pages_why, sizeof(pages_why));

	if (err)
		fail_msg("%s: %s", pages_path, pages_why);
}

/* The frame of a page, which is loaded if it is not in memory; latched. Returns 0 or -errno. */
static inline int pages_latch(struct page_pool *pool, uint32_t id, bool exclusive,
			      struct frame **frame)
{
	for (;;) {
		int err = 0;

		*frame = pool_frame(pool, id);
		if (!*frame) {
			err = pool_load(pool, id);
			if (err)
				return err;
			continue;
		}
		if (exclusive)
			latch_exclusive(&(*frame)->latch, NULL);
		else
			latch_shared(&(*frame)->latch, NULL);
		if (frame_id(*frame) == id)
			return 0;
		if (exclusive)
			latch_release(&(*frame)->latch);
		else
			latch_release_shared(&(*frame)->latch);
	}
}

static inline int pages_new(struct page_pool *pool, unsigned int tree, struct frame **frame)
{
	for (;;) {
		int err = pool_new(pool, tree, frame);

		if (err == -EAGAIN)
			err = pool_wait(pool);
		else
			return err;
		if (err)
			return err;
	}
}

static inline struct bytes pages_key(unsigned int i, char *key)
{
	return (struct bytes){ key, (unsigned int)snprintf(key, 16, "key %06u", i) };
}

/* The counter of a leaf, which its caller has latched. */
static inline uint64_t pages_counter(const struct frame *frame)
{
	uint64_t counter;

	memcpy(&counter, page_node_value(frame->page, 0).data, sizeof(counter));
	return counter;
}

/* Set it, under the exclusive latch. */
static inline void pages_set_counter(struct frame *frame, uint64_t counter)
{
	page_node_update(frame->page, 0, (struct bytes){ &counter, sizeof(counter) });
	pool_dirty(frame);
}

/* Make leaf @i of @nr, with the keys above that of the leaf before and up to its own. */
static inline int pages_make_leaf(struct page_pool *pool, unsigned int tree, unsigned int i,
				  unsigned int nr)
{
	uint64_t zero = 0;
	char low[16], own[16];
	struct bytes lower = pages_key(i - 1, low), upper = pages_key(i, own);
	struct frame *frame;
	int err = pages_new(pool, tree, &frame);

	if (err)
		return err;
	lower.len = i ? lower.len : 0;
	pages_leaf[i] = frame->id;
	page_node_init(frame->page, 0, lower,
		       i + 1 < nr ? upper : (struct bytes){ own, 0 });
	page_node_insert(frame->page, upper, (struct bytes){ &zero, sizeof(zero) });
	latch_release(&frame->latch);
	return 0;
}

/* Make a tree of @nr leaves. Returns 0 or -errno of the first page that could not be made. */
static inline int pages_make(struct page_pool *pool, const char *name, unsigned int nr)
{
	const struct bytes none = { "", 0 };
	struct frame *frame;
	char key[16];
	int tree = pool_tree_add(pool, name), err = tree < 0 ? tree : 0;

	for (unsigned int i = 0; i < nr && !err; i++)
		err = pages_make_leaf(pool, (unsigned int)tree, i, nr);
	if (!err)
		err = pages_new(pool, (unsigned int)tree, &frame);
	if (err)
		return err;
	page_node_init(frame->page, 1, none, none);
	for (unsigned int i = 0; i + 1 < nr; i++)
		page_node_insert(frame->page, pages_key(i, key),
				 (struct bytes){ &pages_leaf[i], sizeof(pages_leaf[i]) });
	frame->page->last = pages_leaf[nr - 1];
	pool_root_set(pool, (unsigned int)tree, frame->id);
	latch_release(&frame->latch);
	return 0;
}

/* Whether the checker finds the file whole. */
static inline bool pages_sound(struct store_report *report)
{
	int err = store_check(pages_path, NULL, report, pages_why, sizeof(pages_why));

	return !err && store_sound(report);
}

/* All bytes of the file, which the caller frees. */
static inline unsigned char *pages_bytes(size_t *len)
{
	struct stat st;
	unsigned char *bytes;
	int fd = open(pages_path, O_RDONLY);

	assert_true(fd >= 0);
	assert_int_equal(fstat(fd, &st), 0);
	*len = (size_t)st.st_size;
	bytes = malloc(*len + 1);
	assert_non_null(bytes);
	assert_int_equal(io_read(fd, bytes, *len, 0), (ssize_t)*len);
	close(fd);
	return bytes;
}

/* The file becomes these bytes. */
static inline void pages_put(const unsigned char *bytes, size_t len)
{
	int fd = open(pages_path, O_WRONLY | O_TRUNC | O_CREAT, 0600);

	assert_true(fd >= 0);
	assert_int_equal(io_write(fd, bytes, len, 0), 0);
	close(fd);
}

#endif
