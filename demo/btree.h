/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * btree.h - a B+Tree of 8-byte keys and values, one thread at a time.
 *
 * The operations know no latch and no thread: a synchronisation scheme calls
 * them inside its critical sections. They make no system call, take memory
 * only from the caller's pool, and keep no count of entries, because a counter
 * that every insert writes would make any two inserts conflict.
 */
#ifndef DEMO_BTREE_H
#define DEMO_BTREE_H

#include "btree-node.h"
#include "footprint.h"
#include "index.h"
#include "pool.h"

#include <stdbool.h>

/* Nodes one insert may take: a split on every level and a new root. */
#define BTREE_NODES_PER_INSERT (BTREE_LEVELS_MAX + 1)

/**
 * struct btree - a tree
 * @root: never NULL; its level is the height of the tree less one
 * @own: where the first root comes from
 *
 * @root is written only when the height changes, so the line that every
 * operation reads first stays shared.
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
uint64_t btree_entries_max(const struct index_config *config);
int btree_merge(const struct btree *tree, struct merge_result *res);
bool btree_search(const struct btree *tree, uint64_t key, uint64_t *value);
bool btree_search_counted(const struct btree *tree, uint64_t key, uint64_t *value,
			  struct footprint *fp);
bool btree_insert(struct btree *tree, struct node_pool *pool, uint64_t key, uint64_t value);
bool btree_remove(struct btree *tree, struct node_pool *pool, uint64_t key, uint64_t *value);
void btree_scan(const struct btree *tree, uint64_t from, unsigned long limit,
		struct scan_result *res);
int btree_walk(const struct btree *tree, visit_fn visit, void *ctx);
bool btree_check(const struct btree *tree, char *why, size_t len);

#endif
