/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tree.h - what the trees of struct node share: memory, bulk loading, and checks at rest.
 *
 * bplus, blink, olfit and bx have the same nodes and differ in how threads pass through
 * them, which is in sync/. Such a tree consists of
 *
 *	NAME/NAME.h       the table NAME_tree, made by NODE_TREE_OPS() with node_options, or
 *			  with a table of its own, whose first option is --node, of
 *	NAME/options.def
 *	sync/NAME.c       search, insert, remove and scan, and NODE_INDEX() of sync/nodes.h
 *			  for each scheme
 *	sync/variants.def a line INDEX and a line VARIANT for each scheme
 *
 * A tree with other nodes (csb, bw) has a struct of its own, functions with the signatures
 * of struct tree_ops, and may use node/search.h, mem/pool.h, mem/epoch.h and the checker
 * of index/check.h.
 *
 * The functions acquire no latch and, but for node_tree_reserve(), allocate nothing while
 * other threads use the tree.
 */
#ifndef DEMO_NODE_TREE_H
#define DEMO_NODE_TREE_H

#include "node.h"
#include "search.h"
#include "../base/option.h"
#include "../index/counts.h"
#include "../index/tree.h"
#include "../mem/epoch.h"
#include "../mem/pool.h"

/**
 * struct node_latching - how a scheme uses the latch fields of nodes
 * @prepare: makes the latch of a new node free; NULL sets both fields to 0
 * @end: destroys the latch of a node; NULL for nothing
 * @held: bits of @word that differ between a held and a free latch
 */
struct node_latching {
	void (*prepare)(void *node);
	void (*end)(void *node);
	uint32_t held;
};

/**
 * struct node_tree - a tree of struct node
 * @root: root node, never NULL; its level is the height of the tree less one
 * @layout: the capacities of the nodes
 * @options: values of the tree's options, the first of which is the size of a node
 * @latch: latch of @root for schemes that change it without the latch of the root; four bytes
 * @held: bits of the latch words of nodes that differ between a held and a free latch
 * @free: the latch word of a node that is free
 * @own: pool that provided the first root
 * @epoch: epoch of the nodes that threads retire
 * @threads: list of the threads that were attached
 *
 * The first cache line, which each operation reads, is written only when the height
 * changes.
 */
struct node_tree {
	struct node *root;
	struct node_layout layout;
	uint64_t options[4];
	uint32_t latch __cacheline_aligned;
	uint32_t held __cacheline_aligned;
	uint32_t free;
	struct node_pool own;
	struct epoch epoch;
	struct node_thread *threads;
} __cacheline_aligned;

/* The option that all trees of struct node have, and its place in their tables. */
#define NODE_OPTION_bytes 0

/* The table of a tree that has no other option. */
extern const struct option_row node_options[];

/**
 * struct node_thread - a thread that uses a tree of struct node
 * @pool: its free nodes
 * @counts: what it counted, written outside transactions
 * @epoch: nodes that it retired
 * @next: thread that was attached before
 */
struct node_thread {
	struct node_pool pool;
	struct counts counts __cacheline_aligned;
	struct epoch_thread epoch;
	struct node_thread *next;
};

int node_tree_init(struct node_tree *tree, const struct index_config *config,
		   const struct node_latching *latching);
void node_tree_destroy(void *tree);
double node_tree_bytes(const struct index_config *config);
void *node_tree_attach(void *tree, unsigned int core, uint64_t inserts);
void node_tree_detach(void *thread);
int node_tree_bulk(void *tree, void *thread, const struct bulk_source *source);
int node_tree_walk(const void *tree, visit_fn visit, void *ctx);
bool node_tree_check(const void *tree, char *why, size_t len);
void node_tree_shape(const void *tree, struct tree_shape *shape);
const char *node_tree_unfit(const struct index_config *config, char *why, size_t len);

/* Size of a node of a tree that is made without options. */
#define NODE_BYTES_DEFAULT 1024

/**
 * node_reserve() - reserve the nodes of one insert: a split on each level, a new root
 * @tree: the tree
 * @thread: the calling thread
 *
 * Return: 0, or -ENOMEM with the tree unchanged.
 */
static inline int node_reserve(const struct node_tree *tree, struct node_thread *thread)
{
	return pool_reserve(&thread->pool, tree->layout.levels_max + 1u);
}

static inline int node_tree_reserve(void *tree, void *thread)
{
	return node_reserve(tree, thread);
}

/* A node from the pool of @thread, empty, for a node of level @level. */
static inline struct node *node_new(struct node_thread *thread, unsigned int level)
{
	struct node *node = pool_get(&thread->pool);

	node_clear(node, level);
	return node;
}

/* The members of the table of a tree of struct node; @table is the table of its options. */
#define NODE_TREE_OPS(table)                                                                       \
	.bytes = node_tree_bytes, .destroy = node_tree_destroy, .attach = node_tree_attach,        \
	.detach = node_tree_detach, .reserve = node_tree_reserve, .check = node_tree_check,        \
	.walk = node_tree_walk, .options = table, .unfit = node_tree_unfit,                        \
	.bulk = node_tree_bulk, .shape = node_tree_shape

/* The help of --node, the first option of each of these trees. */
#define NODE_OPTION_HELP "bytes of a node, a multiple of 64"

#endif
