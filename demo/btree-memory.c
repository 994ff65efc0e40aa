// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * btree-memory.c - what a B+Tree and its threads take from the heap.
 *
 * Nothing here may be called inside a critical section.
 */
#include "btree.h"

#include <errno.h>
#include <stdlib.h>

/**
 * btree_init() - an empty tree
 * @tree: the tree
 * @config: what it is made for, NULL for no matter
 *
 * Return: 0 or -ENOMEM.
 */
int btree_init(struct btree *tree, const struct index_config *config)
{
	int err;

	pool_init(&tree->own, sizeof(struct btree_node));
	err = pool_reserve(&tree->own, 1);
	if (err)
		return err;
	tree->root = pool_get(&tree->own);
	tree->root->nr = 0;
	tree->root->level = 0;
	tree->root->next = NULL;
	return 0;
}

/**
 * btree_destroy() - forget all entries
 * @tree: the tree; threads that inserted give the other nodes back
 */
void btree_destroy(struct btree *tree)
{
	pool_destroy(&tree->own);
}

/**
 * btree_bytes() - the most memory a tree will take
 * @config: what it is made for
 */
double btree_bytes(const struct index_config *config)
{
	return (double)config->entries * sizeof(struct btree_node) / BTREE_KEYS_MIN;
}

/**
 * btree_attach() - nodes for a thread that will insert
 * @tree: the tree
 * @core: number of its core
 * @inserts: how often it will probably insert
 *
 * Return: the thread's pool, or NULL without memory.
 */
struct node_pool *btree_attach(const struct btree *tree, unsigned int core, uint64_t inserts)
{
	struct node_pool *pool = aligned_alloc(CACHE_LINE, sizeof(*pool));

	if (!pool)
		return NULL;
	pool_init(pool, sizeof(struct btree_node));
	if (pool_reserve(pool, inserts / BTREE_KEYS_MIN + BTREE_NODES_PER_INSERT)) {
		free(pool);
		return NULL;
	}
	return pool;
}

/**
 * btree_detach() - give a thread's nodes back
 * @pool: the pool; the tree has been destroyed
 */
void btree_detach(struct node_pool *pool)
{
	pool_destroy(pool);
	free(pool);
}

/**
 * btree_reserve() - have nodes for an insert ready, outside the critical section
 * @tree: the tree
 * @pool: the calling thread's
 *
 * Return: 0, or -ENOMEM with tree and pool as they were.
 */
int btree_reserve(const struct btree *tree, struct node_pool *pool)
{
	return pool_reserve(pool, BTREE_NODES_PER_INSERT);
}

/**
 * btree_entries_max() - how many entries one thread can insert
 * @config: what the tree is made for
 */
uint64_t btree_entries_max(const struct index_config *config)
{
	return UINT64_MAX;
}

/**
 * btree_merge() - a tree keeps no column data that could be merged
 * @tree: the tree
 * @res: receives zeros
 *
 * Return: 0.
 */
int btree_merge(const struct btree *tree, struct merge_result *res)
{
	*res = (struct merge_result){ 0 };
	return 0;
}
