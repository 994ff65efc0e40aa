// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test_trees.c - the trees of the thesis against a sorted array: sizes of
 * nodes, split schemes, bulk loading, the order of inserts; and the checker against trees
 * that are broken on purpose.
 *
 * SEEDS=50 or more in the environment, as make check-long has, makes the long form.
 */
#include "unit.h"
#include "../../demo/bplus/bplus.h"
#include "../../demo/bx/bx.h"
#include "subject.h"

static struct subject subject;
static uint64_t options[TREE_OPTIONS_MAX];
static const struct index_config config = {
	.threads = 2,
	.entries = 1000000,
	.options = options,
};

static bool is_long(void)
{
	const char *seeds = getenv("SEEDS");

	return seeds && atoi(seeds) >= 50;
}

/* Calls @test for each tree but btree and delta under each scheme that fits the options. */
static void each_variant(uint64_t node, void (*test)(void))
{
	for (enum index_id index = 0; index < NR_INDEXES; index++) {
		for (enum scheme_id scheme = 0; scheme < NR_SCHEMES; scheme++) {
			const struct index_ops *ops = variant_ops(index, scheme);

			if (!ops || ops->tree->insert)
				continue;
			options_default(index, options, node);
			if (!variant_fits(ops, &config))
				continue;
			/* The last line before a failure is the one to repeat. */
			print_message("%s under %s, node %llu\n", index_choices[index].name,
				      scheme_choices[scheme].name, (unsigned long long)node);
			subject_init(&subject, ops, &config);
			test();
			subject_destroy(&subject);
		}
	}
}

/* 10^6 random operations in the long form. */
static void run_million(void)
{
	struct random_case c = { 45, 45, 2, 12000, is_long() ? 1000000 : 60000 };

	random_run(&subject, &c, 1, c.steps / 10);
}

static void test_million(void **state)
{
	each_variant(64, run_million);
	each_variant(128, run_million);
	each_variant(0, run_million);
}

static void run_few(void)
{
	static const struct random_case c = { 60, 30, 5, 3000, 6000 };

	random_run(&subject, &c, 2, 1000);
}

static void test_node_sizes(void **state)
{
	static const uint64_t sizes[] = { 64, 128, 192, 256, 512, 2048, 4096, 16384 };

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
		each_variant(sizes[i], run_few);
}

static void test_splits(void **state)
{
	static const struct random_case c = { 60, 30, 5, 3000, 12000 };

	for (enum bplus_split split = BPLUS_SPLIT_path; split <= BPLUS_SPLIT_proactive; split++) {
		for (enum scheme_id scheme = 0; scheme < NR_SCHEMES; scheme++) {
			const struct index_ops *ops = variant_ops(INDEX_bplus, scheme);

			options_default(INDEX_bplus, options, 128);
			options[BPLUS_OPTION_split] = split;
			if (!ops || !variant_fits(ops, &config))
				continue;
			print_message("split %u under %s\n", split, scheme_choices[scheme].name);
			subject_init(&subject, ops, &config);
			random_run(&subject, &c, 3, 1000);
			subject_destroy(&subject);
		}
	}
}

/* Reads by versions, with all the transactions that this processor has. */
static void test_fallback(void **state)
{
	static const struct random_case c = { 60, 30, 5, 3000, 12000 };

	options_default(INDEX_bx, options, 128);
	options[BX_OPTION_fallback] = BX_FALLBACK_version;
	subject_init(&subject, variant_ops(INDEX_bx, SCHEME_rtm), &config);
	random_run(&subject, &c, 4, 1000);
	subject_destroy(&subject);
}

/* Orders of inserts; a tree must not grow beyond what halves of full nodes need. */
static void run_ordered(void)
{
	const uint64_t n = 4000;

	for (unsigned int order = 0; order < 3; order++) {
		for (uint64_t i = 0; i < n; i++) {
			uint64_t key = order == 0 ? i : order == 1 ? n - 1 - i :
				       i % 2 ? n - 1 - i / 2 : i / 2;

			step_insert(&subject, 0, key, i);
		}
		assert_whole(&subject);
		if (subject.ops->tree->shape) {
			struct tree_shape shape;

			subject.ops->tree->shape(subject.index->tree, &shape);
			assert_in_range(shape.height, 1, 14);
		}
		for (uint64_t i = 0; i < n; i++)
			step_remove(&subject, 1, i);
		assert_whole(&subject);
	}
}

static void test_ordered(void **state)
{
	each_variant(64, run_ordered);
	each_variant(0, run_ordered);
}

static void run_borders(void)
{
	step_search(&subject, 0);
	step_remove(&subject, 0, 0);
	step_scan(&subject, 0, 10);
	step_insert(&subject, 0, UINT64_MAX, 1);
	step_insert(&subject, 0, 0, 2);
	for (uint64_t key = 1; key < 200; key++) {
		step_insert(&subject, 0, key, key);
		step_insert(&subject, 1, UINT64_MAX - key, key);
		step_insert(&subject, 1, (1ull << 63) - 100 + key, key);
	}
	assert_whole(&subject);
	step_search(&subject, UINT64_MAX);
	step_scan(&subject, UINT64_MAX, 2);
	step_scan(&subject, 1ull << 63, 1000);
	step_remove(&subject, 0, UINT64_MAX);
	step_search(&subject, UINT64_MAX);
	step_scan(&subject, UINT64_MAX, 2);
	step_remove(&subject, 0, 0);
	assert_whole(&subject);
	for (uint64_t from = 0; from < 250; from++)
		for (unsigned long limit = 0; limit < 5; limit++)
			step_scan(&subject, from, limit);
}

static void test_borders(void **state)
{
	each_variant(64, run_borders);
	each_variant(0, run_borders);
}

static void third_key(void *ctx, uint64_t i, uint64_t *key, uint64_t *value)
{
	*key = 3 * i + 1;
	*value = i;
}

/* How many entries run_bulk() loads, and how full. */
static struct bulk_source source = { .entry = third_key };

static void run_bulk(void)
{
	static const struct random_case c = { 60, 30, 5, 4000, 400 };

	if (!subject.ops->tree->bulk)
		return;
	assert_int_equal(subject.ops->tree->bulk(subject.index->tree, subject.shares[0], &source),
			 0);
	for (uint64_t i = 0; i < source.nr; i++)
		model_insert(&subject.model, 3 * i + 1, i);
	assert_whole(&subject);
	random_run(&subject, &c, source.nr, 1000);
}

static void test_bulk(void **state)
{
	static const uint64_t sizes[] = { 0, 1, 2, 3, 61, 62, 63, 64, 125, 1000, 5000 };
	static const unsigned int fills[] = { 1, 30, 50, 69, 99, 100 };

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		for (size_t j = 0; j < sizeof(fills) / sizeof(fills[0]); j++) {
			source.nr = sizes[i];
			source.fill = fills[j];
			each_variant(i % 2 ? 64 : 0, run_bulk);
		}
	}
}

/* Most bytes an entry of a tree that is 69 per cent full. */
static uint64_t bytes_max(void)
{
	/* So full are the groups, too, which have room for all children that a node can have. */
	if (subject.ops->tree == variant_ops(INDEX_csb, SCHEME_none)->tree)
		return 25 * 100 / 69;
	return 25;
}

/* 69 per cent full: few bytes an entry, and as high as the mean fill says. */
static void run_fill(void)
{
	struct bulk_source large = { .nr = 100000, .fill = 69, .entry = third_key };
	struct tree_shape shape;
	char why[128];

	if (!subject.ops->tree->bulk || !subject.ops->tree->shape)
		return;
	assert_int_equal(subject.ops->tree->bulk(subject.index->tree, subject.shares[0], &large), 0);
	if (!subject.ops->tree->check(subject.index->tree, why, sizeof(why)))
		fail_msg("%s", why);
	subject.ops->tree->shape(subject.index->tree, &shape);
	assert_int_equal(shape.entries, large.nr);
	print_message("%.2f bytes an entry\n", (double)shape.bytes / (double)shape.entries);
	assert_true(shape.bytes <= bytes_max() * shape.entries);
}

static void test_fill(void **state)
{
	each_variant(0, run_fill);
}

static void test_unfit(void **state)
{
	char why[256];

	options_default(INDEX_bplus, options, 100);
	assert_string_equal(bplus_tree.unfit(&config, why, sizeof(why)),
			    "--node=100: must be a multiple of 64");
	options_default(INDEX_bplus, options, 64);
	options[BPLUS_OPTION_split] = BPLUS_SPLIT_proactive;
	assert_string_equal(variant_ops(INDEX_bplus, SCHEME_latch)->unfit(&config, why, sizeof(why)),
			    "--split=proactive: needs --node=128 at least");
	options[BPLUS_OPTION_split] = BPLUS_SPLIT_path;
	assert_string_equal(variant_ops(INDEX_bplus, SCHEME_latch_hle)->unfit(&config, why,
									      sizeof(why)),
			    "--split=path: with --scheme=latch only, whose latches can be shared");
	options[BPLUS_OPTION_split] = BPLUS_SPLIT_safe;
	assert_string_equal(variant_ops(INDEX_bplus, SCHEME_olc)->unfit(&config, why, sizeof(why)),
			    "--scheme=olc: needs --node=128 at least");
	options_default(INDEX_bx, options, 0);
	assert_true(variant_fits(variant_ops(INDEX_bx, SCHEME_rtm), &config));
	options[BX_OPTION_attempts] = 1;
	if (!rtm_usable())
		assert_string_equal(variant_ops(INDEX_bx, SCHEME_rtm)->unfit(&config, why,
									     sizeof(why)),
				    "--scheme=rtm: this processor has no RTM; possible with "
				    "--attempts=0, which acquires latches");
}

static struct node *child_at(struct node_tree *tree, struct node *node, unsigned int i)
{
	return node_children(&tree->layout, node)[i];
}

/* Ways to break a tree of three levels, and what the checker must say. */
static void break_order(struct node_tree *tree)
{
	struct node *leaf = child_at(tree, child_at(tree, tree->root, 1), 1);

	leaf->slots[1] = leaf->slots[0];
}

static void break_range(struct node_tree *tree)
{
	struct node *inner = child_at(tree, tree->root, 0), *leaf = child_at(tree, inner, 1);

	leaf->slots[leaf->nr - 1] = inner->slots[1];
}

static void break_overfull(struct node_tree *tree)
{
	child_at(tree, tree->root, 0)->nr = tree->layout.leaf_max + 1;
}

static void break_depth(struct node_tree *tree)
{
	node_children(&tree->layout, tree->root)[0] = child_at(tree, child_at(tree, tree->root, 0),
								0);
}

static void break_leaf_chain(struct node_tree *tree)
{
	struct node *leaf = child_at(tree, child_at(tree, tree->root, 0), 0);

	leaf->right = leaf->right->right;
}

static void break_inner_chain(struct node_tree *tree)
{
	struct node *inner = child_at(tree, tree->root, 0);

	inner->right = inner->right->right;
}

static void break_high(struct node_tree *tree)
{
	child_at(tree, child_at(tree, tree->root, 0), 0)->high++;
}

static void break_inner_high(struct node_tree *tree)
{
	child_at(tree, tree->root, 0)->high++;
}

static void break_latch(struct node_tree *tree)
{
	child_at(tree, tree->root, 1)->latch = 1;
}

static void break_word(struct node_tree *tree)
{
	child_at(tree, tree->root, 1)->word ^= 1;
}

static void break_child(struct node_tree *tree)
{
	node_children(&tree->layout, child_at(tree, tree->root, 0))[1] = NULL;
}

static void break_lost(struct node_tree *tree)
{
	/* A node that is neither in the tree nor free. */
	pool_get(&tree->threads->pool);
}

static const struct broken_case {
	void (*make)(struct node_tree *tree);
	const char *says;
} broken_cases[] = {
	{ break_order, "out of order" },
	{ break_range, "outside the range" },
	{ break_overfull, "a node of level 1 with 7 keys" },
	{ break_depth, "a node of level 0 where level 1 belongs" },
	{ break_leaf_chain, "the leaf list skips or repeats" },
	{ break_inner_chain, "the chain of level 1 skips or repeats" },
	{ break_high, "the high key of a node of level 0" },
	{ break_inner_high, "the high key of a node of level 1" },
	{ break_latch, "a node of level 1 whose latch is held" },
	{ break_word, "a node of level 1 whose latch is held" },
	{ break_child, "without child 1" },
	{ break_lost, "1 lost" },
};

static void test_checker_catches(void **state)
{
	const struct index_ops *ops = variant_ops(INDEX_bplus, SCHEME_none);

	options_default(INDEX_bplus, options, 128);
	for (size_t i = 0; i < sizeof(broken_cases) / sizeof(broken_cases[0]); i++) {
		char why[128] = "";

		subject_init(&subject, ops, &config);
		for (uint64_t key = 0; key < 60; key++)
			step_insert(&subject, 0, key, key);
		assert_int_equal(((struct node_tree *)subject.index->tree)->root->level, 2);
		assert_whole(&subject);
		broken_cases[i].make(subject.index->tree);
		assert_false(ops->tree->check(subject.index->tree, why, sizeof(why)));
		if (!strstr(why, broken_cases[i].says))
			fail_msg("case %zu: \"%s\" does not say \"%s\"", i, why,
				 broken_cases[i].says);
		subject_destroy(&subject);
	}
}

/* A node that is in two places while another one is lost: the number of nodes is right. */
static void test_checker_catches_twice(void **state)
{
	const struct index_ops *ops = variant_ops(INDEX_bplus, SCHEME_none);
	struct node_thread *thread;
	struct node_tree *tree;
	char why[128] = "";

	options_default(INDEX_bplus, options, 128);
	subject_init(&subject, ops, &config);
	for (uint64_t key = 0; key < 60; key++)
		step_insert(&subject, 0, key, key);
	tree = subject.index->tree;
	thread = (struct node_thread *)subject.shares[0];
	assert_int_equal(epoch_reserve(&thread->epoch, 1), 0);
	epoch_retire(&thread->epoch, &thread->pool, pool_get(&thread->pool));
	assert_whole(&subject);
	/* A node of the tree is retired in the place of that one. */
	for (unsigned int i = 0; i < EPOCH_LISTS; i++)
		if (thread->epoch.lists[i].nr)
			thread->epoch.lists[i].nodes[0].node = tree->root;
	assert_false(ops->tree->check(tree, why, sizeof(why)));
	assert_non_null(strstr(why, "a node is in two places"));
	subject_destroy(&subject);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_million),
		cmocka_unit_test(test_node_sizes),
		cmocka_unit_test(test_splits),
		cmocka_unit_test(test_fallback),
		cmocka_unit_test(test_ordered),
		cmocka_unit_test(test_borders),
		cmocka_unit_test(test_bulk),
		cmocka_unit_test(test_fill),
		cmocka_unit_test(test_unfit),
		cmocka_unit_test(test_checker_catches),
		cmocka_unit_test(test_checker_catches_twice),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
