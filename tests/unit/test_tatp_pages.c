// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test_tatp_pages.c - the buffer pool, heaps and B-trees of tatp_bench beside models.
 */
#include "tatp.h"

#include <errno.h>

#define KEYS 60000

/* The model of the tree: value of each key, 0 for none. */
static uint64_t model[KEYS];

static struct sm sm;

static void create(uint32_t frames)
{
	struct sm_options opts = small_options(frames, false);

	memset(model, 0, sizeof(model));
	assert_int_equal(sm_create(&sm, &opts), 0);
}

static void destroy(void)
{
	const char *what;

	if (!sm_at_rest(&sm, &what))
		fail_msg("%s", what);
	sm_destroy(&sm);
}

/* Compare an entry of the tree with the model. */
static int compare(void *ctx, uint64_t key, uint64_t value)
{
	uint64_t *nr = ctx;

	++*nr;
	return key >= KEYS || model[key] != value;
}

static void check_tree(void)
{
	uint64_t nr = 0, expected = 0;
	char why[100];

	for (unsigned int i = 0; i < KEYS; i++)
		expected += !!model[i];
	if (!btree_check(&sm.trees[0], compare, &nr, why, sizeof(why)))
		fail_msg("entry %llu of the tree is wrong: %s", (unsigned long long)nr, why);
	assert_int_equal(nr, expected);
}

static void check_range(struct rng *rng)
{
	struct index_entry found[50];
	uint64_t low = rng_below(rng, KEYS), high = low + rng_below(rng, 200), key = low;
	unsigned int nr = btree_range(&sm.trees[0], low, high, found, 50);

	for (unsigned int i = 0; i < nr; i++, key++) {
		while (key < KEYS && !model[key])
			key++;
		assert_int_equal(found[i].key, key);
		assert_int_equal(found[i].value, model[key]);
	}
	for (; nr < 50 && key <= high && key < KEYS; key++)
		assert_int_equal(model[key], 0);
}

static void step(struct xct *x, struct rng *rng, uint64_t key)
{
	uint64_t value = 0, fresh = rng_next(rng) | 1;
	int err;

	switch (rng_below(rng, 5)) {
	case 0:
	case 1:
		err = btree_insert(x, &sm.trees[0], key, fresh);
		assert_int_equal(err, model[key] ? -EEXIST : 0);
		model[key] = err ? model[key] : fresh;
		break;
	case 2:
		err = btree_delete(x, &sm.trees[0], key);
		assert_int_equal(err, model[key] ? 0 : -ENOENT);
		model[key] = 0;
		break;
	default:
		assert_int_equal(btree_lookup(&sm.trees[0], key, &value), !!model[key]);
		assert_int_equal(value, model[key]);
	}
	x->undo_len = 0;
}

/* More pages than the pool holds, so that pages go and come back. */
static void test_tree_model(void **state)
{
	struct rng rng;

	for (uint64_t seed = 1; seed <= 3; seed++) {
		print_message("seed %llu\n", (unsigned long long)seed);
		rng_seed(&rng, seed, 0);
		create(16);
		for (unsigned int i = 0; i < 200000; i++) {
			step(sm.xcts, &rng, rng_below(&rng, KEYS));
			if (i % 1000 == 0)
				check_range(&rng);
		}
		assert_true(sm.volume.nr > 2 * sm.buffer.nr);
		check_tree();
		destroy();
	}
}

static uint64_t bulk_nr;

static void entry(void *ctx, uint64_t i, struct index_entry *e)
{
	*e = (struct index_entry){ .key = i * KEYS / bulk_nr, .value = i + 1 };
	model[e->key] = i + 1;
}

/* Built from sorted entries, of one node to three levels. */
static void test_tree_bulk(void **state)
{
	static const uint64_t sizes[] = { 0, 1, NODE_MAX, NODE_MAX + 1, 20000, 30000 };

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		struct rng rng;

		rng_seed(&rng, i, 0);
		create(64);
		bulk_nr = sizes[i];
		assert_int_equal(btree_bulk(&sm.trees[0], sizes[i], i == 5 ? 9 : 69, entry, NULL),
				 0);
		check_tree();
		for (unsigned int j = 0; j < 5000; j++)
			step(sm.xcts, &rng, rng_below(&rng, KEYS));
		check_tree();
		destroy();
	}
}

/* The check of the structure finds each fault. */
static void test_tree_faults(void **state)
{
	for (unsigned int fault = 0; fault < 5; fault++) {
		struct page_ref ref;
		struct page *page;
		char why[100];

		create(256);
		bulk_nr = 20000;
		assert_int_equal(btree_bulk(&sm.trees[0], bulk_nr, 69, entry, NULL), 0);
		buffer_fix(&sm.buffer, 5, LATCH_WRITE, &ref);
		page = ref.page;
		assert_int_equal(page->level, 0);
		if (fault == 0)
			node_entries(page)[3] = node_entries(page)[2];
		else if (fault == 1)
			node_entries(page)[page->nr - 1].key = KEYS;
		else if (fault == 2)
			page->next = 9;
		else if (fault == 3)
			page->level = 1;
		else
			page->store++;
		buffer_unfix(&sm.buffer, &ref);
		assert_false(btree_check(&sm.trees[0], NULL, NULL, why, sizeof(why)));
		assert_string_not_equal(why, "");
		destroy();
	}
}

/* Threads insert and delete keys of their own, which lie side by side, and look up all. */
static void *mix(void *arg)
{
	struct test_thread *t = arg;
	struct xct *x = &sm.xcts[t->nr];
	struct rng rng;
	uint64_t value;

	rng_seed(&rng, *(uint64_t *)t->arg, t->nr);
	for (unsigned int i = 0; i < 40000; i++) {
		step(x, &rng, rng_below(&rng, KEYS / TATP_THREADS) * TATP_THREADS + t->nr);
		if (btree_lookup(&sm.trees[0], rng_below(&rng, KEYS), &value) && !value)
			abort();
	}
	return NULL;
}

static void test_tree_threads(void **state)
{
	for (uint64_t seed = 1; seed <= 2; seed++) {
		print_message("seed %llu\n", (unsigned long long)seed);
		create(seed == 1 ? 512 : 32);
		run_threads(TATP_THREADS, mix, &seed);
		check_tree();
		destroy();
	}
}

/* Rows of a heap beside a model, with a pool that is too small. */
static void test_heap_model(void **state)
{
	static uint64_t rids[8000], values[8000][TATP_ROW / 8];
	struct rng rng;

	rng_seed(&rng, 1, 0);
	create(16);
	memset(rids, 0, sizeof(rids));
	for (unsigned int i = 0; i < 100000; i++) {
		unsigned int at = (unsigned int)rng_below(&rng, 8000);
		uint64_t row[TATP_ROW / 8], old[TATP_ROW / 8];
		struct heap *heap = &sm.heaps[0];
		struct xct *x = sm.xcts;

		for (unsigned int j = 0; j < TATP_ROW / 8; j++)
			row[j] = rng_next(&rng);
		if (!rids[at]) {
			assert_int_equal(heap_insert(x, heap, row, &rids[at]), 0);
			memcpy(values[at], row, sizeof(row));
		} else if (rng_below(&rng, 3)) {
			assert_int_equal(heap_read(x, heap, rids[at], LOCK_S, old), 0);
			assert_memory_equal(old, values[at], sizeof(old));
			assert_int_equal(heap_update(x, heap, rids[at], 8, 16, row, old), 0);
			assert_memory_equal(old, values[at] + 1, 16);
			memcpy(values[at] + 1, row, 16);
		} else {
			assert_int_equal(heap_delete(x, heap, rids[at], old), 0);
			assert_memory_equal(old, values[at], sizeof(old));
			assert_int_equal(heap_read(x, heap, rids[at], LOCK_S, old), -ENOENT);
			rids[at] = 0;
		}
		x->undo_len = 0;
		lock_end(x->locks);
	}
	/* Slots are used again: 8000 rows of 254 a page. */
	assert_true(sm.volume.nr < 40);
	destroy();
}

/* Two rows in one slot, or a slot of a page that is full, would be found by this. */
static void test_heap_slots(void **state)
{
	unsigned int rows = heap_page_rows(TATP_ROW);
	uint64_t rid, seen[2] = { 0, 0 }, row[TATP_ROW / 8] = { 7 };

	create(16);
	for (unsigned int i = 0; i < 2 * rows; i++) {
		assert_int_equal(heap_insert(sm.xcts, &sm.heaps[0], row, &rid), 0);
		assert_int_equal(rid_slot(rid), i % rows);
		seen[i / rows] = rid_page(rid);
	}
	assert_int_not_equal(seen[0], seen[1]);
	/* The slot of a row that this transaction deleted is its own; others leave it. */
	assert_int_equal(heap_delete(sm.xcts, &sm.heaps[0], rid_of((uint32_t)seen[0], 3), row), 0);
	sm.xcts[1].hint[0] = (uint32_t)seen[0];
	assert_int_equal(heap_insert(&sm.xcts[1], &sm.heaps[0], row, &rid), 0);
	assert_int_not_equal(rid_page(rid), seen[0]);
	assert_int_equal(heap_insert(sm.xcts, &sm.heaps[0], row, &rid), 0);
	lock_end(sm.xcts[0].locks);
	lock_end(sm.xcts[1].locks);
	destroy();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_tree_model),   cmocka_unit_test(test_tree_bulk),
		cmocka_unit_test(test_tree_faults),  cmocka_unit_test(test_tree_threads),
		cmocka_unit_test(test_heap_model),   cmocka_unit_test(test_heap_slots),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
