// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test_btree.c - the B+Tree against a sorted array, and the checker against
 * trees broken on purpose.
 */
#include <errno.h>
#include <limits.h>

#include "unit.h"
#include "../../demo/btree/btree.h"
#include "../../demo/base/rng.h"
#include "model.h"

/* struct subject - a tree, where its nodes come from, and its model */
struct subject {
	struct btree tree;
	struct node_pool pool;
	struct model model;
};

static struct subject subject;

static int set_up(void **state)
{
	pool_init(&subject.pool, sizeof(struct btree_node));
	subject.model.nr = 0;
	return btree_init(&subject.tree, NULL);
}

static int tear_down(void **state)
{
	btree_destroy(&subject.tree);
	pool_destroy(&subject.pool);
	return 0;
}

static void insert(struct subject *s, uint64_t key, uint64_t value)
{
	assert_int_equal(pool_reserve(&s->pool, BTREE_NODES_PER_INSERT), 0);
	assert_int_equal(btree_insert(&s->tree, &s->pool, key, value),
			 model_insert(&s->model, key, value));
}

static void remove_key(struct subject *s, uint64_t key)
{
	struct entry *entry = model_find(&s->model, key);
	uint64_t value = 0;

	assert_int_equal(btree_remove(&s->tree, &s->pool, key, &value), entry != NULL);
	if (entry) {
		assert_int_equal(value, entry->value);
		model_remove(&s->model, entry);
	}
}

static void search(struct subject *s, uint64_t key)
{
	const struct entry *entry = model_find(&s->model, key);
	uint64_t value = 0;

	assert_int_equal(btree_search(&s->tree, key, &value), entry != NULL);
	if (entry)
		assert_int_equal(value, entry->value);
}

static void scan(struct subject *s, uint64_t from, unsigned long limit)
{
	const struct model *m = &s->model;
	size_t at = model_at(m, from), nr;
	struct scan_result res;
	uint64_t sum;

	nr = model_scan(m, from, limit, &sum);
	btree_scan(&s->tree, from, limit, &res);
	assert_int_equal(res.nr, nr);
	assert_int_equal(res.sum, sum);
	if (nr) {
		assert_int_equal(res.first, m->entries[at].key);
		assert_int_equal(res.last, m->entries[at + nr - 1].key);
	}
}

static int visit_model(void *ctx, uint64_t key, uint64_t value)
{
	struct entry **next = ctx;

	assert_int_equal(key, (*next)->key);
	assert_int_equal(value, (*next)->value);
	(*next)++;
	return 0;
}

static void assert_whole(struct subject *s)
{
	struct entry *next = s->model.entries;
	char why[128] = "";

	if (!btree_check(&s->tree, why, sizeof(why)))
		fail_msg("with %zu entries: %s", s->model.nr, why);
	assert_int_equal(btree_walk(&s->tree, visit_model, &next), 0);
	assert_int_equal(next - s->model.entries, s->model.nr);
}

/* Rows of random tests: shares out of 100, and keys below a bound so that hits happen. */
static const struct random_case {
	const char *name;
	unsigned int inserts, removes, scans;
	uint64_t keys;
	unsigned int steps;
} random_cases[] = {
	{ "one leaf", 45, 45, 5, 40, 4000 },
	{ "two levels", 45, 45, 5, 900, 8000 },
	{ "growing", 70, 20, 2, 30000, 20000 },
	{ "shrinking after a load", 10, 80, 2, 6000, 20000 },
	{ "whole key range", 60, 30, 5, 0, 8000 },
};

static void random_run(const struct random_case *c, uint64_t seed)
{
	struct rng rng;

	rng_seed(&rng, seed, 0);
	set_up(NULL);
	if (c->removes > c->inserts)
		for (uint64_t i = 0; i < c->keys; i++)
			insert(&subject, rng_below(&rng, c->keys), rng_next(&rng));
	for (unsigned int i = 0; i < c->steps; i++) {
		unsigned int dice = (unsigned int)rng_below(&rng, 100);
		uint64_t key = c->keys ? rng_below(&rng, c->keys) : rng_next(&rng);

		/* In the whole range a random key is never met again: take one that is there. */
		if (!c->keys && dice >= c->inserts && subject.model.nr)
			key = subject.model.entries[rng_below(&rng, subject.model.nr)].key;
		if (dice < c->inserts)
			insert(&subject, key, rng_next(&rng));
		else if (dice < c->inserts + c->removes)
			remove_key(&subject, key);
		else if (dice < c->inserts + c->removes + c->scans)
			scan(&subject, key, rng_below(&rng, 200));
		else
			search(&subject, key);
		if (i % 512 == 0)
			assert_whole(&subject);
	}
	assert_whole(&subject);
	tear_down(NULL);
}

static void test_random(void **state)
{
	for (size_t i = 0; i < sizeof(random_cases) / sizeof(random_cases[0]); i++) {
		for (uint64_t seed = 1; seed <= 10; seed++) {
			/* The last line before a failure is the one to repeat. */
			print_message("random: %s, seed %llu\n", random_cases[i].name,
				      (unsigned long long)seed);
			random_run(&random_cases[i], seed);
		}
	}
}

/* The orders in which keys come and go; each ends with an empty tree. */
enum order {
	UP,
	DOWN,
	INWARDS,
};

static uint64_t nth(enum order order, uint64_t i, uint64_t n)
{
	switch (order) {
	case UP:
		return i;
	case DOWN:
		return n - 1 - i;
	default:
		return i % 2 ? n - 1 - i / 2 : i / 2;
	}
}

static void test_ordered(void **state)
{
	const uint64_t n = 5000;

	for (enum order in = UP; in <= INWARDS; in++) {
		for (enum order out = UP; out <= INWARDS; out++) {
			for (uint64_t i = 0; i < n; i++)
				insert(&subject, nth(in, i, n), i);
			assert_whole(&subject);
			assert_true(subject.tree.root->level >= 2);
			for (uint64_t i = 0; i < n; i++) {
				remove_key(&subject, nth(out, i, n));
				if (i % 100 == 0)
					assert_whole(&subject);
			}
			assert_whole(&subject);
			assert_int_equal(subject.tree.root->level, 0);
			assert_int_equal(subject.tree.root->nr, 0);
		}
	}
}

static void test_duplicate_writes_nothing(void **state)
{
	struct btree_node before;

	for (uint64_t key = 0; key < BTREE_KEYS; key++)
		insert(&subject, key, key);
	before = *subject.tree.root;
	for (uint64_t key = 0; key < BTREE_KEYS; key++)
		insert(&subject, key, key + 1);
	remove_key(&subject, BTREE_KEYS);
	assert_memory_equal(&before, subject.tree.root, sizeof(before));
}

static void test_empty(void **state)
{
	assert_whole(&subject);
	search(&subject, 0);
	remove_key(&subject, 0);
	scan(&subject, 0, 10);
}

static void test_border_keys(void **state)
{
	insert(&subject, UINT64_MAX, 1);
	insert(&subject, 0, 2);
	for (uint64_t key = 1; key < 100; key++) {
		insert(&subject, key, key);
		insert(&subject, UINT64_MAX - key, key);
	}
	assert_whole(&subject);
	search(&subject, UINT64_MAX);
	remove_key(&subject, UINT64_MAX);
	search(&subject, UINT64_MAX);
	remove_key(&subject, 0);
	assert_whole(&subject);
}

static void test_scan_borders(void **state)
{
	const uint64_t n = 10 * BTREE_KEYS;

	for (uint64_t i = 0; i < n; i++)
		insert(&subject, 10 * i + 5, i);
	for (uint64_t from = 0; from <= 10 * n + 10; from++) {
		scan(&subject, from, 0);
		scan(&subject, from, 1);
		scan(&subject, from, BTREE_KEYS);
		scan(&subject, from, n + 1);
	}
}

/* Nodes given back are used again: a tree that keeps its size needs no more memory. */
static void test_pool_is_reused(void **state)
{
	unsigned long free_then;

	for (uint64_t key = 0; key < 3000; key++)
		insert(&subject, key, key);
	for (uint64_t key = 0; key < 3000; key++)
		remove_key(&subject, key);
	free_then = subject.pool.nr_free;
	for (int round = 0; round < 5; round++) {
		for (uint64_t key = 0; key < 3000; key++)
			insert(&subject, key, key);
		for (uint64_t key = 0; key < 3000; key++)
			remove_key(&subject, key);
	}
	assert_int_equal(subject.pool.nr_free, free_then);
}

/* Memory that is not there leaves pool and tree as they were, and both go on. */
static void test_out_of_memory(void **state)
{
	struct node_pool before;

	for (uint64_t key = 0; key < 3000; key++)
		insert(&subject, key, key);
	before = subject.pool;
	assert_int_equal(pool_reserve(&subject.pool, ULONG_MAX), -ENOMEM);
	assert_memory_equal(&before, &subject.pool, sizeof(before));
	assert_whole(&subject);
	for (uint64_t key = 3000; key < 6000; key++)
		insert(&subject, key, key);
	assert_whole(&subject);
}

/* Ways to break a tree of three levels, and what the checker must say. */
static void break_order(struct btree *tree)
{
	struct btree_node *leaf = tree->root->children[1]->children[1];

	leaf->keys[3] = leaf->keys[2];
}

static void break_range(struct btree *tree)
{
	struct btree_node *leaf = tree->root->children[0]->children[1];

	leaf->keys[leaf->nr - 1] = tree->root->children[0]->keys[1];
}

static void break_separator(struct btree *tree)
{
	tree->root->keys[0]++;
}

static void break_fill(struct btree *tree)
{
	tree->root->children[0]->children[0]->nr = BTREE_KEYS_MIN - 1;
}

static void break_overfull(struct btree *tree)
{
	tree->root->children[0]->nr = BTREE_KEYS + 1;
}

static void break_depth(struct btree *tree)
{
	tree->root->children[0] = tree->root->children[0]->children[0];
}

static void break_list(struct btree *tree)
{
	struct btree_node *leaf = tree->root->children[0]->children[0];

	leaf->next = leaf->next->next;
}

static void break_list_end(struct btree *tree)
{
	struct btree_node *leaf = tree->root;

	while (leaf->level)
		leaf = leaf->children[leaf->nr];
	leaf->next = leaf;
}

static void break_child(struct btree *tree)
{
	tree->root->children[0]->children[2] = NULL;
}

static const struct broken_case {
	void (*make)(struct btree *tree);
	const char *says;
} broken_cases[] = {
	{ break_order, "out of order" },
	{ break_range, "outside the range" },
	{ break_separator, "outside the range" },
	{ break_fill, "a node of level 0 with 14 keys" },
	{ break_overfull, "a node of level 1 with 32 keys" },
	{ break_depth, "a node of level 0 where level 1 belongs" },
	{ break_list, "skips or repeats" },
	{ break_list_end, "goes on behind the last leaf" },
	{ break_child, "without child 2" },
};

static void test_checker_catches(void **state)
{
	for (size_t i = 0; i < sizeof(broken_cases) / sizeof(broken_cases[0]); i++) {
		char why[128] = "";

		set_up(NULL);
		for (uint64_t key = 0; key < 2000; key++)
			insert(&subject, key, key);
		assert_int_equal(subject.tree.root->level, 2);
		assert_true(btree_check(&subject.tree, why, sizeof(why)));
		broken_cases[i].make(&subject.tree);
		assert_false(btree_check(&subject.tree, why, sizeof(why)));
		if (!strstr(why, broken_cases[i].says))
			fail_msg("case %zu: \"%s\" does not say \"%s\"", i, why,
				 broken_cases[i].says);
		tear_down(NULL);
	}
}

#define WITH_TREE(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random),
		WITH_TREE(test_ordered),
		WITH_TREE(test_duplicate_writes_nothing),
		WITH_TREE(test_empty),
		WITH_TREE(test_border_keys),
		WITH_TREE(test_scan_borders),
		WITH_TREE(test_pool_is_reused),
		WITH_TREE(test_out_of_memory),
		cmocka_unit_test(test_checker_catches),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
