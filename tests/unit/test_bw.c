// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test_bw.c - the Bw-tree: capacities, splits that a thread has left unfinished, a full
 * mapping table, and the checker against trees that are broken on purpose.
 */
#include <errno.h>

#include "unit.h"
#include "../../demo/bw/bw.h"
#include "subject.h"

static struct subject subject;
static uint64_t options[TREE_OPTIONS_MAX];
static const struct index_config config = { .threads = 2, .entries = 10000, .options = options };

/* A tree of nodes of @node bytes with the keys 0, 10, 20 and so on, @keys of them. */
static struct bw_tree *make(uint64_t node, uint64_t chain, uint64_t keys)
{
	options_default(INDEX_bw, options, node);
	options[BW_OPTION_chain] = chain;
	subject_init(&subject, variant_ops(INDEX_bw, SCHEME_cas), &config);
	for (uint64_t key = 0; key < keys; key++)
		step_insert(&subject, 0, 10 * key, key);
	assert_whole(&subject);
	return subject.index->tree;
}

static void test_layout(void **state)
{
	static const struct {
		unsigned int bytes, leaf_max, inner_max, levels_max;
	} cases[] = {
		{ 64, 2, 2, 21 }, { 128, 6, 3, 21 }, { 512, 30, 15, 9 }, { 2112, 130, 65, 6 },
		{ 16384, 1022, 511, 5 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct node_layout layout = bw_layout(cases[i].bytes);
		const struct bw_node node;

		assert_int_equal(layout.leaf_max, cases[i].leaf_max);
		assert_int_equal(layout.inner_max, cases[i].inner_max);
		assert_int_equal(layout.levels_max, cases[i].levels_max);
		assert_in_range(layout.levels_max, 1, BW_LEVELS_MAX);
		assert_true((char *)(bw_values(&layout, &node) + layout.leaf_max) <=
			    (char *)&node + cases[i].bytes);
		assert_true((char *)(bw_children(&layout, &node) + layout.inner_max + 1) <=
			    (char *)&node + cases[i].bytes);
	}
}

static const struct bw_head *head_of(const struct bw_tree *tree, uint64_t key, unsigned int level,
				     uint32_t *id)
{
	const struct bw_head *head;

	for (*id = bw_root(tree);;) {
		head = bw_get(tree, *id);
		if (bw_beyond(bw_node(head), key))
			*id = bw_node(head)->right;
		else if (head->level == level)
			return head;
		else
			*id = bw_child(&tree->layout, head, bw_node(head), key);
	}
}

/* Insert @key into its leaf as a thread does that is stopped before it tells the parent. */
static bool insert_untold(struct bw_tree *tree, uint64_t key)
{
	struct bw_thread *thread = (struct bw_thread *)subject.shares[1];
	struct bw_op op = { BW_INSERT, key, key };
	struct bw_step step = { .id = 0 };
	const struct bw_head *head;
	uint32_t id;

	assert_int_equal(bw_reserve(tree, thread), 0);
	epoch_begin(&thread->epoch);
	head = head_of(tree, key, 0, &id);
	bw_prepare(tree, thread, &step, id, head, &op);
	*bw_word(tree, id) = step.new;
	bw_made(thread, &step);
	epoch_idle(&thread->epoch);
	model_insert(&subject.model, key, key);
	return step.made;
}

/* An update that meets a split whose parent does not know it completes the split. */
static void test_others_splits(void **state)
{
	/* A leaf of 6 entries that is the root, and leaves below inner nodes. */
	for (uint64_t keys = 6; keys < 200; keys += 31) {
		struct bw_tree *tree = make(128, 0, keys);
		uint64_t key = 10 * (keys / 2);
		char why[128];

		do
			key++;
		while (!insert_untold(tree, key));
		assert_false(bw_check(tree, why, sizeof(why)));
		/* Searches and scans find all entries, and change nothing. */
		for (uint64_t i = 0; i < 10 * keys; i++)
			step_search(&subject, i);
		step_scan(&subject, 0, 1000);
		assert_false(bw_check(tree, why, sizeof(why)));
		/* One of these gets to the leaf, and then to the right. */
		for (uint64_t i = 0; i < 10 * keys; i++)
			step_remove(&subject, 0, i);
		assert_whole(&subject);
		subject_destroy(&subject);
	}
}

static void step_key(void *ctx, uint64_t i, uint64_t *key, uint64_t *value)
{
	*key = 2 * i;
	*value = i;
}

/* A full mapping table is said before anything changes, and the tree goes on. */
static void test_full_table(void **state)
{
	struct bulk_source source = { .nr = 1500000, .fill = 100, .entry = step_key };
	struct bw_tree *tree = make(64, BW_CHAIN_DEFAULT, 0);
	struct index_thread *share = subject.shares[0];
	uint64_t nr, value;
	char why[128];
	int err = 0;

	/* 750,000 leaves of 2 entries, and half as many inner nodes. */
	assert_int_equal(bw_bulk(tree, share, &source), -ENOSPC);
	assert_whole(&subject);
	source.nr = 1000000;
	assert_int_equal(bw_bulk(tree, share, &source), 0);
	for (nr = 0; !err && nr < source.nr; nr++) {
		err = subject.ops->reserve(subject.index, share);
		assert_true(err || subject.ops->insert(subject.index, share, 2 * nr + 1, nr));
	}
	assert_int_equal(err, -ENOSPC);
	assert_in_range(nr, 100000, 1000000);
	if (!bw_check(tree, why, sizeof(why)))
		fail_msg("%s", why);
	assert_true(subject.ops->search(subject.index, share, 2 * nr - 3, &value));
	assert_false(subject.ops->search(subject.index, share, 2 * nr - 1, &value));
	subject_destroy(&subject);
}

/* The places of a block that threads claim are its records, or lost; none has two. */
static void test_places(void **state)
{
	struct bw_tree *tree = make(2112, 8, 4);
	struct bw_thread *thread = (struct bw_thread *)subject.shares[1];
	struct bw_step step = { .id = 0 }, other = { .id = 0 };
	struct bw_op op = { BW_INSERT, 7, 7 };
	const struct bw_head *head;
	uint32_t id;

	assert_int_equal(bw_reserve(tree, thread), 0);
	head = head_of(tree, 7, 0, &id);
	assert_int_equal(bw_block(head)->used, 4);
	bw_prepare(tree, thread, &step, id, head, &op);
	bw_prepare(tree, thread, &other, id, head, &op);
	assert_int_equal(step.record->head.slot, 4);
	assert_int_equal(other.record->head.slot, 5);
	/* The second attempt has the place of the first one. */
	bw_discard(tree, thread, &step);
	bw_prepare(tree, thread, &step, id, head, &op);
	assert_int_equal(step.record->head.slot, 4);
	assert_int_equal(bw_block(head)->used, 6);
	/* Both places are lost: two more, and a new node. */
	for (uint64_t key = 1; key < 6; key++)
		step_insert(&subject, 0, key, key);
	assert_int_equal(bw_block(bw_get(tree, id))->used, 2);
	assert_whole(&subject);
	subject_destroy(&subject);
}

/* Ways to break a tree of three levels or more, and what the checker must say. */
static struct bw_node *node_at(struct bw_tree *tree, unsigned int level)
{
	uint32_t id;

	return (struct bw_node *)(uintptr_t)bw_node(head_of(tree, 100, level, &id));
}

static void break_order(struct bw_tree *tree)
{
	node_at(tree, 0)->slots[1] = node_at(tree, 0)->slots[0];
}

static void break_range(struct bw_tree *tree)
{
	struct bw_node *leaf = node_at(tree, 0);

	leaf->slots[leaf->head.nr - 1] = leaf->high;
}

static void break_number(struct bw_tree *tree)
{
	const struct bw_head *head;
	uint32_t id;

	/* The number of a record, as that of a node is the number of its keys. */
	for (uint64_t key = 1; (head = head_of(tree, 1, 0, &id))->kind == BW_NODE; key++)
		step_insert(&subject, 0, key, key);
	((struct bw_head *)(uintptr_t)head)->nr++;
}

static void break_overfull(struct bw_tree *tree)
{
	node_at(tree, 0)->head.nr = 7;
}

static void break_depth(struct bw_tree *tree)
{
	uint32_t id;

	((struct bw_head *)(uintptr_t)head_of(tree, 100, 1, &id))->level++;
}

static void break_chain(struct bw_tree *tree)
{
	node_at(tree, 0)->right = bw_root(tree);
}

static void break_inner_chain(struct bw_tree *tree)
{
	node_at(tree, 1)->right = bw_root(tree);
}

static void break_high(struct bw_tree *tree)
{
	node_at(tree, 0)->high++;
}

static void break_child(struct bw_tree *tree)
{
	bw_children(&tree->layout, node_at(tree, 1))[0] = BW_IDS;
}

static void break_root(struct bw_tree *tree)
{
	*bw_word(tree, BW_ROOT) = 0;
}

static void break_latch(struct bw_tree *tree)
{
	tree->latch = 1;
}

static void break_id(struct bw_tree *tree)
{
	tree->ids++;
}

static void break_spare(struct bw_tree *tree)
{
	struct bw_thread *thread = bw_thread_first(tree);

	thread->spare[thread->nr_spare++] = bw_root(tree);
}

static void break_lost(struct bw_tree *tree)
{
	pool_get(&bw_thread_first(tree)->nodes);
}

static void break_lost_block(struct bw_tree *tree)
{
	pool_get(&bw_thread_first(tree)->blocks);
}

static void break_twice(struct bw_tree *tree)
{
	/* A leaf is free, too, and another node is lost. */
	struct bw_node *leaf = node_at(tree, 0);
	uint64_t high = leaf->high;

	pool_get(&bw_thread_first(tree)->nodes);
	pool_put(&bw_thread_first(tree)->nodes, leaf);
	/* AddressSanitizer must let the check read it, and the link is where the high key was. */
	unpoison(leaf, tree->own.of.size);
	assert_int_not_equal(leaf->high, high);
}

static const struct broken_case {
	void (*make)(struct bw_tree *tree);
	const char *says;
} broken_cases[] = {
	{ break_order, "out of order" },
	{ break_range, "outside the range" },
	{ break_number, "and the number" },
	{ break_overfull, "without child" },
	{ break_depth, "without child" },
	{ break_chain, "the leaf list skips or repeats" },
	{ break_inner_chain, "the chain of level 1 skips or repeats" },
	{ break_high, "the high key of a node of level 0" },
	{ break_child, "without child 0" },
	{ break_root, "ID 0 is no root" },
	{ break_latch, "the latch of the mapping table is held" },
	{ break_id, "IDs in the tree" },
	{ break_spare, "IDs in the tree" },
	{ break_lost, "1 lost" },
	{ break_lost_block, "1 lost" },
	{ break_twice, "the high key of a node of level 0" },
};

static void test_checker_catches(void **state)
{
	for (size_t i = 0; i < sizeof(broken_cases) / sizeof(broken_cases[0]); i++) {
		struct bw_tree *tree = make(128, 2, 60);
		char why[128] = "";

		assert_in_range(bw_get(tree, bw_root(tree))->level, 2, 4);
		broken_cases[i].make(tree);
		assert_false(bw_check(tree, why, sizeof(why)));
		if (!strstr(why, broken_cases[i].says))
			fail_msg("case %zu: \"%s\" does not say \"%s\"", i, why,
				 broken_cases[i].says);
		subject_destroy(&subject);
	}
}

/* Options that do not fit. */
static void test_unfit(void **state)
{
	struct index_config many = { .threads = 1, .entries = 2097153, .options = options };
	const struct index_ops *cas = variant_ops(INDEX_bw, SCHEME_cas);
	char why[256];

	options_default(INDEX_bw, options, 100);
	assert_string_equal(bw_unfit(&config, why, sizeof(why)),
			    "--node=100: must be a multiple of 64");
	options_default(INDEX_bw, options, 64);
	assert_string_equal(bw_unfit(&many, why, sizeof(why)),
			    "--preload=2097153: the mapping table has 1048576 IDs, enough for "
			    "2097152 entries with --node=64");
	many.entries--;
	assert_null(bw_unfit(&many, why, sizeof(why)));
	options[BW_OPTION_attempts] = 7;
	assert_string_equal(cas->unfit(&config, why, sizeof(why)),
			    "--attempts=7: with --scheme=mwcas only");
	assert_null(variant_ops(INDEX_bw, SCHEME_mwcas)->unfit);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_layout),
		cmocka_unit_test(test_others_splits),
		cmocka_unit_test(test_full_table),
		cmocka_unit_test(test_places),
		cmocka_unit_test(test_checker_catches),
		cmocka_unit_test(test_unfit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
