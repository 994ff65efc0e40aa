// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test_csb.c - the CSB+ tree: halves of splits, what never moves, and the checker against
 * trees that are broken on purpose.
 */
#include "unit.h"
#include "../../demo/csb/csb.h"
#include "subject.h"

static struct subject subject;
static uint64_t options[TREE_OPTIONS_MAX];
static const struct index_config config = { .threads = 2, .entries = 10000, .options = options };

/* A tree of 64-byte nodes, 3 entries in a leaf and 6 keys in an inner node, with @keys keys. */
static struct csb_tree *make(uint64_t keys)
{
	options_default(INDEX_csb, options, 64);
	subject_init(&subject, variant_ops(INDEX_csb, SCHEME_latch), &config);
	for (uint64_t key = 0; key < keys; key++)
		step_insert(&subject, 0, 10 * key, key);
	assert_whole(&subject);
	return subject.index->tree;
}

static struct csb_node *child_at(struct csb_tree *tree, struct csb_node *node, unsigned int i)
{
	return csb_child(&tree->layout, node, i);
}

static void test_layout(void **state)
{
	static const struct {
		unsigned int bytes, leaf_max, inner_max;
	} cases[] = {
		{ 64, 3, 6 }, { 128, 7, 14 }, { 512, 31, 62 }, { 1024, 63, 126 }, { 4096, 255, 510 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct node_layout layout = csb_layout(cases[i].bytes);

		assert_int_equal(layout.leaf_max, cases[i].leaf_max);
		assert_int_equal(layout.inner_max, cases[i].inner_max);
		assert_in_range(layout.levels_max, 4, NODE_LEVELS_MAX);
	}
}

/* Whichever child splits, the halves differ by 2 children at most once it has its sibling. */
static void test_halves(void **state)
{
	for (unsigned int max = 6; max <= 510; max += 8) {
		struct csb_node node = { .level = 1, .nr = (uint16_t)max };

		for (unsigned int at = 0; at <= max; at++) {
			unsigned int from = csb_half(&node, at);
			unsigned int left = from + (at < from), right = max + 1 - from + (at >= from);

			assert_int_equal(left + right, max + 2);
			assert_in_range(left > right ? left - right : right - left, 0, 2);
			assert_in_range(from, (max + 2) / 2 - 1, max);
			assert_in_range(max + 1 - from, (max + 2) / 2 - 1, max);
		}
	}
}

/* What is at place 0 of a group never moves: a thread may wait there that saw an old root. */
static void test_roots_stay(void **state)
{
	struct csb_tree *tree = make(0);
	struct csb_node *roots[NODE_LEVELS_MAX] = { tree->root };
	unsigned int height = 1;
	struct rng rng;

	rng_seed(&rng, 1, 0);
	for (unsigned int i = 0; i < 4000; i++) {
		step_insert(&subject, i % 2, rng_below(&rng, 1u << 20), i);
		if (tree->root != roots[height - 1])
			roots[height++] = tree->root;
	}
	assert_in_range(height, 4, NODE_LEVELS_MAX);
	for (unsigned int level = height - 1; level > 0; level--)
		assert_ptr_equal(child_at(tree, roots[level], 0), roots[level - 1]);
	assert_whole(&subject);
	subject_destroy(&subject);
}

/* Ways to break a tree of three levels or more, and what the checker must say. */
static void break_order(struct csb_tree *tree)
{
	struct csb_node *leaf = child_at(tree, child_at(tree, tree->root, 1), 1);

	leaf->slots[1] = leaf->slots[0];
}

static void break_range(struct csb_tree *tree)
{
	struct csb_node *inner = child_at(tree, tree->root, 0), *leaf = child_at(tree, inner, 1);

	leaf->slots[leaf->nr - 1] = inner->slots[1];
}

static struct csb_node *first_of_level(struct csb_tree *tree, unsigned int level)
{
	struct csb_node *node = tree->root;

	while (node->level > level)
		node = child_at(tree, node, 0);
	return node;
}

static void break_overfull(struct csb_tree *tree)
{
	struct csb_node *leaf = first_of_level(tree, 0);

	for (uint64_t i = 0; i < 4; i++)
		leaf->slots[i] = i;
	leaf->nr = 4;
}

static void break_depth(struct csb_tree *tree)
{
	child_at(tree, tree->root, 1)->level++;
}

static void break_latch(struct csb_tree *tree)
{
	child_at(tree, tree->root, 0)->latch = 1;
}

static void break_word(struct csb_tree *tree)
{
	child_at(tree, tree->root, 1)->word = 1;
}

/* A latch of a place that no node uses. */
static void break_unused(struct csb_tree *tree)
{
	child_at(tree, tree->root, tree->layout.inner_max)->latch = 1;
}

static void break_children(struct csb_tree *tree)
{
	child_at(tree, tree->root, 0)->children = NULL;
}

static void break_lost(struct csb_tree *tree)
{
	/* A group that is neither in the tree nor free. */
	pool_get(&tree->threads->pool);
}

static void break_twice(struct csb_tree *tree)
{
	/* A group of leaves, which have no children, is free, too, and another one is lost. */
	struct csb_node *group = first_of_level(tree, 1)->children;

	pool_get(&tree->threads->pool);
	pool_put(&tree->threads->pool, group);
	/* AddressSanitizer must let the check read it. */
	unpoison(group, tree->own.of.size);
}

static const struct broken_case {
	void (*make)(struct csb_tree *tree);
	const char *says;
} broken_cases[] = {
	{ break_order, "out of order" },
	{ break_range, "outside the range" },
	{ break_overfull, "a leaf with 4 keys" },
	{ break_depth, "where level" },
	{ break_latch, "a latch is held at place 0 of a group" },
	{ break_word, "a latch is held at place 1 of a group" },
	{ break_unused, "a latch is held at place 6 of a group" },
	{ break_children, "without children" },
	{ break_lost, "1 lost" },
	{ break_twice, "a node is in two places" },
};

static void test_checker_catches(void **state)
{
	for (size_t i = 0; i < sizeof(broken_cases) / sizeof(broken_cases[0]); i++) {
		struct csb_tree *tree = make(60);
		char why[128] = "";

		assert_in_range(tree->root->level, 2, 4);
		broken_cases[i].make(tree);
		assert_false(subject.ops->tree->check(tree, why, sizeof(why)));
		if (!strstr(why, broken_cases[i].says))
			fail_msg("case %zu: \"%s\" does not say \"%s\"", i, why,
				 broken_cases[i].says);
		subject_destroy(&subject);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_layout),
		cmocka_unit_test(test_halves),
		cmocka_unit_test(test_roots_stay),
		cmocka_unit_test(test_checker_catches),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
