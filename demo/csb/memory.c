// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * memory.c - memory of a CSB+ tree and of the threads that use it.
 *
 * A node of the pools is a group, whose parts are the nodes of the tree. All functions of
 * this file may allocate, so none may be called inside a critical section.
 */
#include "csb.h"

#include <errno.h>
#include <stdlib.h>

static struct node_layout layout_of(const struct index_config *config)
{
	return csb_layout(config && config->options ? config->options[CSB_OPTION_node] :
						      CSB_BYTES_DEFAULT);
}

static size_t group_bytes(const struct node_layout *layout)
{
	return (size_t)layout->bytes * csb_children_max(layout);
}

/* Entries and children that the smaller half of a split has at least. */
static unsigned int least_entries(const struct node_layout *layout)
{
	return layout->leaf_max / 2u;
}

static unsigned int least_children(const struct node_layout *layout)
{
	return (layout->inner_max + 2u) / 2 - 1;
}

static void prepare(void *node)
{
	struct csb_node *n = node;

	n->latch = 0;
	n->word = 0;
}

/**
 * csb_init() - initialise an empty tree
 * @tree: the tree
 * @config: has the options; NULL for the defaults
 * @latching: how the scheme uses the latch fields of nodes
 *
 * Return: 0 or -ENOMEM.
 */
int csb_init(struct csb_tree *tree, const struct index_config *config,
	     const struct node_latching *latching)
{
	struct node_layout layout = layout_of(config);
	struct pool_nodes of = {
		.size = group_bytes(&layout),
		.link = offsetof(struct csb_node, children),
		.parts = csb_children_max(&layout),
		.init = latching->prepare ? latching->prepare : prepare,
		.fini = latching->end,
	};
	int err;

	*tree = (struct csb_tree){ .layout = layout };
	pool_init_nodes(&tree->own, &of);
	err = pool_reserve(&tree->own, 1);
	if (err)
		return err;
	tree->root = pool_get(&tree->own);
	tree->root->level = 0;
	tree->root->nr = 0;
	tree->root->children = NULL;
	tree->held = latching->held;
	tree->free = tree->root->word & tree->held;
	return 0;
}

/**
 * csb_destroy() - free the group of the first root
 * @tree: the tree; the pools of the threads own all other groups
 */
void csb_destroy(void *tree)
{
	pool_destroy(&((struct csb_tree *)tree)->own);
}

/**
 * csb_bytes() - maximum memory of a tree in bytes
 * @config: has the number of entries and the options
 */
double csb_bytes(const struct index_config *config)
{
	struct node_layout layout = layout_of(config);
	double children = least_children(&layout);
	double leaves = (double)config->entries / least_entries(&layout) + 1;
	double groups = (leaves / children + 1) * (1 + 1 / (children - 1)) + 1;

	return groups * (double)group_bytes(&layout);
}

/**
 * csb_attach() - make the share of a thread
 * @tree: the tree; several threads may be attached at the same time
 * @core: number of the thread's core, not used
 * @inserts: expected number of the thread's inserts
 *
 * Return: the share, or NULL if out of memory.
 */
void *csb_attach(void *tree, unsigned int core, uint64_t inserts)
{
	struct csb_tree *t = tree;
	struct csb_thread *thread = aligned_alloc(CACHE_LINE, sizeof(*thread));
	uint64_t groups = inserts / least_entries(&t->layout) / least_children(&t->layout);

	if (!thread)
		return NULL;
	pool_init_nodes(&thread->pool, &t->own.of);
	if (pool_reserve(&thread->pool, groups + t->layout.levels_max + 1u)) {
		free(thread);
		return NULL;
	}
	thread->next = __atomic_load_n(&t->threads, __ATOMIC_RELAXED);
	while (!__atomic_compare_exchange_n(&t->threads, &thread->next, thread, true,
					    __ATOMIC_RELEASE, __ATOMIC_RELAXED))
		;
	return thread;
}

/**
 * csb_detach() - free the share of a thread
 * @thread: the share; its tree has been destroyed
 */
void csb_detach(void *thread)
{
	pool_destroy(&((struct csb_thread *)thread)->pool);
	free(thread);
}
