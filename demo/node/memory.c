// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * memory.c - memory of a tree of struct node and of the threads that use it.
 *
 * All functions of this file may allocate, so none may be called inside a critical
 * section.
 */
#include "tree.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

/* Number of values in struct node_tree @options. */
#define NR_OPTIONS (sizeof(((struct node_tree *)0)->options) / sizeof(uint64_t))

static uint64_t bytes_of(const struct index_config *config)
{
	return config && config->options ? config->options[NODE_OPTION_bytes] : NODE_BYTES_DEFAULT;
}

static void prepare(void *node)
{
	struct node *n = node;

	n->latch = 0;
	n->word = 0;
}

/**
 * node_tree_init() - initialise an empty tree
 * @tree: the tree
 * @config: has the options; NULL for the defaults
 * @latching: how the scheme uses the latch fields of nodes
 *
 * Return: 0 or -ENOMEM.
 */
int node_tree_init(struct node_tree *tree, const struct index_config *config,
		   const struct node_latching *latching)
{
	struct pool_nodes of = {
		.size = bytes_of(config),
		.link = offsetof(struct node, right),
		.init = latching->prepare ? latching->prepare : prepare,
		.fini = latching->end,
	};
	int err;

	*tree = (struct node_tree){ .layout = node_layout(of.size) };
	for (unsigned int i = 0; config && config->options && i < NR_OPTIONS; i++)
		tree->options[i] = config->options[i];
	epoch_init(&tree->epoch);
	pool_init_nodes(&tree->own, &of);
	err = pool_reserve(&tree->own, 1);
	if (err)
		return err;
	tree->root = pool_get(&tree->own);
	node_clear(tree->root, 0);
	tree->held = latching->held;
	tree->free = tree->root->word & tree->held;
	return 0;
}

/**
 * node_tree_destroy() - free the first root
 * @tree: the tree; the pools of the threads own all other nodes
 */
void node_tree_destroy(void *tree)
{
	struct node_tree *t = tree;

	pool_destroy(&t->own);
}

/**
 * node_tree_bytes() - maximum memory of a tree in bytes
 * @config: has the number of entries and the options
 */
double node_tree_bytes(const struct index_config *config)
{
	struct node_layout layout = node_layout(bytes_of(config));
	/* Halves of splits: the smaller one has at least half of the entries, less one. */
	double entries = layout.leaf_max / 2 > 1 ? layout.leaf_max / 2 : 1;
	double children = layout.inner_max / 2 > 2 ? layout.inner_max / 2 : 2;
	double leaves = (double)config->entries / entries + 1;

	return leaves * (1 + 1 / (children - 1)) * layout.bytes;
}

/**
 * node_tree_attach() - make the share of a thread
 * @tree: the tree; several threads may be attached at the same time
 * @core: number of the thread's core, not used
 * @inserts: expected number of the thread's inserts
 *
 * Return: the share, or NULL if out of memory.
 */
void *node_tree_attach(void *tree, unsigned int core, uint64_t inserts)
{
	struct node_tree *t = tree;
	struct node_thread *thread = aligned_alloc(CACHE_LINE, sizeof(*thread));
	uint64_t nodes = inserts / (t->layout.leaf_max / 2u ? t->layout.leaf_max / 2u : 1u);

	if (!thread)
		return NULL;
	*thread = (struct node_thread){ .counts = { 0 } };
	pool_init_nodes(&thread->pool, &t->own.of);
	if (pool_reserve(&thread->pool, nodes + t->layout.levels_max + 1u)) {
		free(thread);
		return NULL;
	}
	epoch_attach(&t->epoch, &thread->epoch);
	thread->next = __atomic_load_n(&t->threads, __ATOMIC_RELAXED);
	while (!__atomic_compare_exchange_n(&t->threads, &thread->next, thread, true,
					    __ATOMIC_RELEASE, __ATOMIC_RELAXED))
		;
	return thread;
}

/**
 * node_tree_detach() - free the share of a thread
 * @thread: the share; its tree has been destroyed
 */
void node_tree_detach(void *thread)
{
	struct node_thread *t = thread;

	epoch_detach(&t->epoch);
	pool_destroy(&t->pool);
	free(t);
}

/**
 * node_tree_unfit() - why a tree cannot have the size of nodes
 * @config: has the options
 * @why: room for a message
 * @len: size of @why in bytes
 *
 * Return: the message, or NULL.
 */
const char *node_tree_unfit(const struct index_config *config, char *why, size_t len)
{
	uint64_t bytes = bytes_of(config);

	if (bytes % CACHE_LINE == 0)
		return NULL;
	snprintf(why, len, "--node=%llu: must be a multiple of %d", (unsigned long long)bytes,
		 CACHE_LINE);
	return why;
}
