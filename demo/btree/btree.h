/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * btree.h - a B+Tree of 8-byte keys and values, for one thread at a time.
 *
 * The operations acquire no latch: a synchronisation scheme calls them inside its
 * critical sections. They make no system call and take memory only from the
 * caller's pool. The tree keeps no count of entries, because a counter that each
 * insert writes would make any two inserts conflict.
 *
 * This header is the interface of the folder: it declares functions of btree.c,
 * memory.c and check.c.
 */
#ifndef DEMO_BTREE_H
#define DEMO_BTREE_H

#include "node.h"
#include "../base/footprint.h"
#include "../index/tree.h"
#include "../mem/pool.h"

#include <stdbool.h>

/* Maximum number of nodes that an insert takes: a split on each level and a new root. */
#define BTREE_NODES_PER_INSERT (BTREE_LEVELS_MAX + 1)

/**
 * struct btree - a B+Tree
 * @root: root node, never NULL; its level is the height of the tree less one
 * @own: pool that provided the first root
 *
 * @root is written only when the height changes, so its cache line, which each
 * operation reads first, stays in the shared state.
 */
struct btree {
	struct btree_node *root;
	struct node_pool own;
} __cacheline_aligned;

int btree_init(struct btree *tree, const struct index_config *config);
void btree_destroy(struct btree *tree);
double btree_bytes(const struct index_config *config);
struct node_pool *btree_attach(const struct btree *tree, unsigned int core, uint64_t inserts);
void btree_detach(struct node_pool *pool);
int btree_reserve(const struct btree *tree, struct node_pool *pool);
bool btree_search(const struct btree *tree, uint64_t key, uint64_t *value);
bool btree_search_counted(const struct btree *tree, uint64_t key, uint64_t *value,
			  struct footprint *fp);
bool btree_insert(struct btree *tree, struct node_pool *pool, uint64_t key, uint64_t value);
bool btree_remove(struct btree *tree, struct node_pool *pool, uint64_t key, uint64_t *value);
void btree_scan(const struct btree *tree, uint64_t from, unsigned long limit,
		struct scan_result *res);
int btree_walk(const struct btree *tree, visit_fn visit, void *ctx);
bool btree_check(const struct btree *tree, char *why, size_t len);

TREE_FUNCTIONS(btree)
TREE_SEARCH_COUNTED(btree)

static const struct tree_ops btree_tree = {
	TREE_OPS(btree),
	.search_counted = btree_do_search_counted,
};

#endif
