// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test_pages_tree.c - trees in pages: random operations of one thread against a model, with every
 * kind of latch, with all pages in memory and with 16 frames, and the shape of the tree.
 *
 * TREE_SEED sets the seed of the random operations, TREE_STEPS their number.
 */
#include <errno.h>

#include "unit.h"
#include "page-model.h"

#define STEPS 120000
#define KEYS 20000

static const struct page_tree_options plain;

/* struct subject - a tree and its model */
struct subject {
	struct page_pool pool;
	struct page_tree tree;
	struct page_tree_thread thread;
	struct model model;
	struct rng rng;
	uint64_t seed;
};

static uint64_t number(const char *name, uint64_t or)
{
	const char *text = getenv(name);

	return text ? strtoull(text, NULL, 0) : or;
}

#define check(s, condition)                                                                        \
	do {                                                                                       \
		if (!(condition))                                                                  \
			fail_msg("TREE_SEED=%llu, latch %d: %s", (unsigned long long)(s)->seed,    \
				 latch_kind, #condition);                                          \
	} while (0)

static void step_lookup(struct subject *s, unsigned int i)
{
	unsigned char value[MODEL_VALUE], expected[MODEL_VALUE];
	unsigned int len;
	int err = page_tree_lookup(&s->tree, model_bytes(&s->model, i), value, sizeof(value), &len);
	struct bytes want;

	check(s, err == (s->model.version[i] ? 0 : -ENOENT));
	if (err)
		return;
	want = model_value(expected, i, s->model.version[i]);
	check(s, !bytes_compare(want, (struct bytes){ value, len }));
}

static void step_put(struct subject *s, unsigned int i, bool any)
{
	unsigned char value[MODEL_VALUE];
	uint32_t version = 1 + (uint32_t)rng_below(&s->rng, 1000);
	struct bytes key = model_bytes(&s->model, i), v = model_value(value, i, version);
	int err = any ? page_tree_upsert(&s->tree, &s->thread, key, v) :
			page_tree_insert(&s->tree, &s->thread, key, v);

	check(s, err == (!any && s->model.version[i] ? -EEXIST : 0));
	if (!err)
		s->model.version[i] = version;
}

static void flip(void *ctx, void *value, unsigned int len)
{
	unsigned char *bytes = value;

	for (unsigned int i = 0; i < len; i++)
		bytes[i] = (unsigned char)~bytes[i];
}

/* Twice, so that the value is as before. */
static void step_update(struct subject *s, unsigned int i)
{
	struct bytes key = model_bytes(&s->model, i);
	int want = s->model.version[i] ? 0 : -ENOENT;

	check(s, page_tree_update(&s->tree, &s->thread, key, flip, NULL) == want);
	check(s, page_tree_update(&s->tree, &s->thread, key, flip, NULL) == want);
	step_lookup(s, i);
}

static void step_remove(struct subject *s, unsigned int i)
{
	unsigned char value[MODEL_VALUE], expected[MODEL_VALUE];
	unsigned int len;
	int err = page_tree_remove(&s->tree, &s->thread, model_bytes(&s->model, i), value,
				   sizeof(value), &len);

	check(s, err == (s->model.version[i] ? 0 : -ENOENT));
	if (!err)
		check(s, !bytes_compare(model_value(expected, i, s->model.version[i]),
					(struct bytes){ value, len }));
	s->model.version[i] = 0;
}

/* struct scan - a scan that compares with the model: the next key, and how many are left */
struct scan {
	struct subject *s;
	unsigned int next, left;
};

static bool visit(void *ctx, struct bytes key, struct bytes value)
{
	unsigned char expected[MODEL_VALUE];
	struct scan *scan = ctx;
	struct subject *s = scan->s;

	while (scan->next < s->model.nr && !s->model.version[scan->next])
		scan->next++;
	check(s, scan->next < s->model.nr);
	check(s, !bytes_compare(key, model_bytes(&s->model, scan->next)));
	check(s, !bytes_compare(value, model_value(expected, scan->next,
						   s->model.version[scan->next])));
	scan->next++;
	return --scan->left;
}

static void scan_from(struct subject *s, unsigned int i, unsigned int most)
{
	struct scan scan = { s, i, most };

	check(s, !page_tree_scan(&s->tree, model_bytes(&s->model, i), visit, &scan));
	while (scan.left && scan.next < s->model.nr)
		check(s, !s->model.version[scan.next++]);
}

/* The structure, all entries in order, and that all pages in use are those of the tree. */
static void check_whole(struct subject *s)
{
	struct page_tree_report report;
	char why[256];
	uint64_t present = 0;

	if (page_tree_check(&s->tree, &report, why, sizeof(why)))
		fail_msg("TREE_SEED=%llu, latch %d: %s", (unsigned long long)s->seed, latch_kind,
			 why);
	for (unsigned int i = 0; i < s->model.nr; i++)
		present += !!s->model.version[i];
	check(s, report.entries == present);
	check(s, report.leaves + report.inner + STORE_FIRST == pool_pages(&s->pool));
	scan_from(s, 0, UINT32_MAX);
}

static void random_steps(struct subject *s, uint64_t steps)
{
	/* Phases in which the tree grows, stays and shrinks. */
	static const unsigned int removes[] = { 1, 4, 8, 2, 9 };

	for (uint64_t n = 0; n < steps; n++) {
		unsigned int i = (unsigned int)rng_below(&s->rng, s->model.nr);
		unsigned int share = removes[n * 5 / steps], draw;

		draw = (unsigned int)rng_below(&s->rng, 16);
		if (draw < share)
			step_remove(s, i);
		else if (draw < 10)
			step_put(s, i, draw % 2);
		else if (draw < 12)
			step_update(s, i);
		else if (draw < 15)
			step_lookup(s, i);
		else
			scan_from(s, i, 1 + (unsigned int)rng_below(&s->rng, 64));
	}
}

static void open_subject(struct subject *s, const char *path, uint32_t frames, uint64_t seed,
			 const struct page_tree_options *options)
{
	memset(s, 0, sizeof(*s));
	s->seed = seed;
	rng_seed(&s->rng, seed, 0);
	assert_int_equal(test_pool(&s->pool, path, true, frames, NULL, NULL), 0);
	assert_int_equal(page_tree_create(&s->tree, &s->pool, "test", options), 0);
	page_tree_thread_init(&s->thread, seed, 1);
	model_init(&s->model, &s->rng, KEYS, MODEL_KEY);
}

static void close_subject(struct subject *s)
{
	assert_int_equal(pool_close(&s->pool), 0);
	model_free(&s->model);
}

static void remove_all(struct subject *s)
{
	for (unsigned int i = 0; i < s->model.nr; i++)
		step_remove(s, i);
	check_whole(s);
	check(s, pool_pages(&s->pool) == STORE_FIRST + 1);
}

/* Random operations with all pages in memory, with each kind of latch. */
static void test_memory(void **state)
{
	uint64_t steps = number("TREE_STEPS", STEPS);

	for (unsigned int kind = 0; kind < NR_LATCH_KINDS; kind++) {
		static struct subject s;
		struct page_tree_options options = plain;

		latch_kind = kind;
		options.bstar = kind % 2;
		open_subject(&s, NULL, 4096, number("TREE_SEED", 1) + kind, &options);
		random_steps(&s, steps);
		check_whole(&s);
		/* Fewer steps, as of a sanitizer, may not do. */
		check(&s, steps < STEPS ||
			  (s.tree.counts.splits > 20 && s.tree.counts.merges > 20));
		remove_all(&s);
		close_subject(&s);
	}
	latch_kind = LATCH_hybrid;
}

/* The same with a file and a pool of 16 frames, which is closed and opened again. */
static void test_file(void **state)
{
	uint64_t steps = number("TREE_STEPS", STEPS) / 2;

	for (unsigned int kind = 0; kind < NR_LATCH_KINDS; kind++) {
		char dir[] = "/tmp/test_pages_tree.XXXXXX", path[64];
		static struct subject s;

		latch_kind = kind;
		assert_non_null(mkdtemp(dir));
		snprintf(path, sizeof(path), "%s/file", dir);
		open_subject(&s, path, POOL_MIN, number("TREE_SEED", 1) + kind, &plain);
		random_steps(&s, steps);
		check_whole(&s);
		check(&s, s.pool.counts.evictions > 20);
		assert_int_equal(pool_close(&s.pool), 0);
		assert_int_equal(test_pool(&s.pool, path, false, POOL_MIN, NULL, NULL), 0);
		assert_int_equal(page_tree_open(&s.tree, &s.pool, "test", &plain), 0);
		check_whole(&s);
		random_steps(&s, steps / 4);
		check_whole(&s);
		close_subject(&s);
		unlink(path);
		rmdir(dir);
	}
	latch_kind = LATCH_hybrid;
}

static void test_limits(void **state)
{
	static struct subject s;
	static unsigned char bytes[PAGE_ENTRY_MAX];
	unsigned char value[16];
	unsigned int len;

	open_subject(&s, NULL, 64, 1, &plain);
	assert_int_equal(page_tree_insert(&s.tree, &s.thread, (struct bytes){ bytes, 0 },
					  (struct bytes){ bytes, 1 }), -EINVAL);
	assert_int_equal(page_tree_insert(&s.tree, &s.thread,
					  (struct bytes){ bytes, PAGE_KEY_MAX + 1 },
					  (struct bytes){ bytes, 1 }), -EINVAL);
	assert_int_equal(page_tree_insert(&s.tree, &s.thread, (struct bytes){ bytes, 8 },
					  (struct bytes){ bytes, PAGE_ENTRY_MAX }), -EINVAL);
	/* The longest entries, until the pool is full: an insert fails, and the tree is whole. */
	for (unsigned int i = 0;; i++) {
		int err;

		memcpy(bytes, &i, sizeof(i));
		err = page_tree_insert(&s.tree, &s.thread, (struct bytes){ bytes, PAGE_KEY_MAX },
				       (struct bytes){ bytes, PAGE_ENTRY_MAX - PAGE_KEY_MAX });
		if (!err)
			continue;
		assert_int_equal(err, -ENOSPC);
		assert_true(i > 100);
		for (unsigned int j = 0; j < i; j++) {
			memcpy(bytes, &j, sizeof(j));
			assert_int_equal(page_tree_lookup(&s.tree,
							  (struct bytes){ bytes, PAGE_KEY_MAX },
							  value, sizeof(value), &len), 0);
			assert_int_equal(len, PAGE_ENTRY_MAX - PAGE_KEY_MAX);
			assert_memory_equal(value, &j, sizeof(j));
		}
		break;
	}
	close_subject(&s);
}

/*
 * The latches are those of frames, and a frame has one page after another: ThreadSanitizer would
 * take the order of the pages' latches for an order of the frames' latches.
 */
const char *__tsan_default_options(void);
const char *__tsan_default_options(void)
{
	return "detect_deadlocks=0";
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_memory),
		cmocka_unit_test(test_file),
		cmocka_unit_test(test_limits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
