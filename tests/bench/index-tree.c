// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * index-tree.c - loops over a tree of the demo for index.cc.
 *
 * The operations are those of the driver, with the reservation of nodes that an insert
 * needs. They are called through the driver's table, which absl::btree_map has not to.
 */
#include "../../demo/sync/variants.h"

#include <stdlib.h>
#include <string.h>

struct bench_tree {
	struct index *index;
	struct index_thread *share;
};

struct bench_tree *bench_tree_new(const char *index, const char *scheme, uint64_t node);
void bench_tree_free(struct bench_tree *b);
bool bench_tree_insert_all(struct bench_tree *b, const uint64_t *keys, size_t nr);
uint64_t bench_tree_find_all(struct bench_tree *b, const uint64_t *keys, size_t nr);

static int choice(const struct choice *choices, const char *name)
{
	for (int i = 0; choices[i].name; i++)
		if (!strcmp(choices[i].name, name))
			return i;
	return -1;
}

/*
 * The defaults of the options of an index, but @node bytes a node unless 0. Without RTM a tree
 * that needs it tries no transaction and takes its fallback at once.
 */
static void set_options(uint64_t *options, int index, const struct index_ops *ops, uint64_t node)
{
	struct index_config config = { .threads = 1, .options = options };
	const struct option_row *rows = index_options(index);
	char why[256];

	for (const struct option_row *row = rows; row->name; row++)
		options[row - rows] = node && !strcmp(row->name, "node") ? node : row->def;
	if (!ops->unfit || !ops->unfit(&config, why, sizeof(why)))
		return;
	for (const struct option_row *row = rows; row->name; row++)
		if (!strcmp(row->name, "attempts"))
			options[row - rows] = 0;
}

/**
 * bench_tree_new() - make an empty tree
 * @index: name of the tree, as of index_bench --index
 * @scheme: name of its scheme
 * @node: bytes of a node, if the tree has the option --node; 0: its default
 *
 * Return: the tree, or NULL without memory or if there is no such tree.
 */
struct bench_tree *bench_tree_new(const char *index, const char *scheme, uint64_t node)
{
	int id = choice(index_choices, index), under = choice(scheme_choices, scheme);
	const struct index_ops *ops = id < 0 || under < 0 ? NULL : variant_ops(id, under);
	struct bench_tree *b = ops ? malloc(sizeof(*b)) : NULL;
	uint64_t options[TREE_OPTIONS_MAX] = { 0 };
	struct index_config config = { .threads = 1, .entries = 1ull << 27, .options = options };

	if (!b)
		return NULL;
	set_options(options, id, ops, node);
	b->index = ops->create(&config);
	b->share = b->index ? ops->tree->attach(b->index->tree, 0, 0) : NULL;
	if (b->share)
		return b;
	if (b->index)
		ops->destroy(b->index);
	free(b);
	return NULL;
}

/**
 * bench_tree_free() - give all memory back
 * @b: the tree
 */
void bench_tree_free(struct bench_tree *b)
{
	const struct index_ops *ops = b->index->ops;

	ops->destroy(b->index);
	ops->tree->detach(b->share);
	free(b);
}

/**
 * bench_tree_insert_all() - insert keys, each with its number
 * @b: the tree
 * @keys: the keys
 * @nr: how many
 *
 * Return: true, or false without memory.
 */
bool bench_tree_insert_all(struct bench_tree *b, const uint64_t *keys, size_t nr)
{
	const struct index_ops *ops = b->index->ops;

	for (size_t i = 0; i < nr; i++) {
		if (ops->reserve(b->index, b->share))
			return false;
		ops->insert(b->index, b->share, keys[i], i);
	}
	return true;
}

/**
 * bench_tree_find_all() - look keys up
 * @b: the tree
 * @keys: the keys
 * @nr: how many
 *
 * Return: the sum of their values.
 */
uint64_t bench_tree_find_all(struct bench_tree *b, const uint64_t *keys, size_t nr)
{
	const struct index_ops *ops = b->index->ops;
	uint64_t sum = 0, value = 0;

	for (size_t i = 0; i < nr; i++)
		sum += ops->search(b->index, b->share, keys[i], &value) ? value : 0;
	return sum;
}
