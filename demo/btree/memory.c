// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * memory.c - memory of a B+Tree and of the threads that use it.
 *
 * All functions of this file may allocate, so none may be called inside a critical
 * section.
 */
#include "btree.h"

#include <errno.h>
#include <stdlib.h>

/**
 * btree_init() - initialise an empty tree
 * @tree: the tree
 * @config: not used, may be NULL
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
 * btree_destroy() - free the first root
 * @tree: the tree; the pools of the threads that inserted own all other nodes
 */
void btree_destroy(struct btree *tree)
{
	pool_destroy(&tree->own);
}

/**
 * btree_bytes() - maximum memory of a tree in bytes
 * @config: has the number of entries
 */
double btree_bytes(const struct index_config *config)
{
	return (double)config->entries * sizeof(struct btree_node) / BTREE_KEYS_MIN;
}

/**
 * btree_attach() - make a pool for a thread that inserts
 * @tree: the tree
 * @core: number of the thread's core, not used
 * @inserts: expected number of the thread's inserts
 *
 * Return: the thread's pool, or NULL if out of memory.
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
 * btree_detach() - free the pool of a thread
 * @pool: the pool; its tree has been destroyed
 */
void btree_detach(struct node_pool *pool)
{
	pool_destroy(pool);
	free(pool);
}

/**
 * btree_reserve() - reserve the nodes of one insert; called outside critical sections
 * @tree: the tree
 * @pool: the calling thread's pool
 *
 * Return: 0, or -ENOMEM with tree and pool unchanged.
 */
int btree_reserve(const struct btree *tree, struct node_pool *pool)
{
	return pool_reserve(pool, BTREE_NODES_PER_INSERT);
}
