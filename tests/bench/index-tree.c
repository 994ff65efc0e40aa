// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * index-tree.c - loops over the demo's B+Tree for index.cc.
 *
 * Without a latch, as absl::btree_map has none, and with the reservation of
 * nodes that an insert needs.
 */
#include "../../demo/btree/btree.h"

#include <stdlib.h>

struct bench_tree {
	struct btree tree;
	struct node_pool *pool;
};

struct bench_tree *bench_tree_new(void);
void bench_tree_free(struct bench_tree *b);
bool bench_tree_insert_all(struct bench_tree *b, const uint64_t *keys, size_t nr);
uint64_t bench_tree_find_all(struct bench_tree *b, const uint64_t *keys, size_t nr);

/** bench_tree_new() - an empty tree, or NULL without memory */
struct bench_tree *bench_tree_new(void)
{
	struct bench_tree *b = aligned_alloc(CACHE_LINE, sizeof(*b));

	if (!b)
		return NULL;
	if (btree_init(&b->tree, NULL) || !(b->pool = btree_attach(&b->tree, 0, 0))) {
		btree_destroy(&b->tree);
		free(b);
		return NULL;
	}
	return b;
}

/**
 * bench_tree_free() - give all memory back
 * @b: the tree
 */
void bench_tree_free(struct bench_tree *b)
{
	btree_destroy(&b->tree);
	btree_detach(b->pool);
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
	for (size_t i = 0; i < nr; i++) {
		if (btree_reserve(&b->tree, b->pool))
			return false;
		btree_insert(&b->tree, b->pool, keys[i], i);
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
	uint64_t sum = 0, value = 0;

	for (size_t i = 0; i < nr; i++)
		sum += btree_search(&b->tree, keys[i], &value) ? value : 0;
	return sum;
}
