// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * memory.c - memory of a Bw-tree and of the threads that use it.
 *
 * All functions of this file may allocate, so none may be called inside a critical
 * section.
 */
#include "bw.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

/*
 * IDs that a thread gets at once: 1024 threads keep a sixteenth of all. A split takes one
 * or two, so a thread of inserts gets more every 3000 inserts or so.
 */
#define IDS_AT_ONCE 64

static uint64_t option_of(const struct index_config *config, enum bw_option option)
{
	return config && config->options ? config->options[option] : bw_options[option].def;
}

/* Children that the smaller half of a split has at least. */
static unsigned int least_children(const struct node_layout *layout)
{
	return (layout->inner_max + 2u) / 2;
}

/**
 * bw_layout() - the capacities of nodes
 * @bytes: size of a node, a multiple of the cache line from NODE_BYTES_MIN to NODE_BYTES_MAX
 *
 * An inner node has half of the keys of a leaf (64 of 128 in the OpenBw-Tree), as a new
 * one is made for every third child. The maximum number of levels is bounded by that of IDs.
 */
struct node_layout bw_layout(uint64_t bytes)
{
	unsigned int leaf_max = (unsigned int)(bytes - offsetof(struct bw_node, slots)) / 16;
	struct node_layout layout = {
		.bytes = (uint32_t)bytes,
		.leaf_max = (uint16_t)leaf_max,
		.inner_max = (uint16_t)(leaf_max / 2 > 2 ? leaf_max / 2 : 2),
	};

	for (uint64_t nodes = 2; nodes < BW_IDS; nodes *= least_children(&layout))
		layout.levels_max++;
	layout.levels_max += 2;
	return layout;
}

static unsigned int smaller(unsigned int a, unsigned int b)
{
	return a < b ? a : b;
}

/**
 * bw_init() - initialise an empty tree
 * @tree: the tree
 * @config: has the options; NULL for the defaults
 *
 * Small nodes have fewer records above them, so that the halves of a split fit into nodes.
 *
 * Return: 0 or -ENOMEM.
 */
int bw_init(struct bw_tree *tree, const struct index_config *config)
{
	struct node_layout layout = bw_layout(option_of(config, BW_OPTION_node));
	unsigned int chain = (unsigned int)option_of(config, BW_OPTION_chain);
	struct pool_nodes of = { .size = layout.bytes, .link = offsetof(struct bw_node, high) };
	struct bw_node *root;

	*tree = (struct bw_tree){
		.layout = layout,
		.chain = (uint8_t)smaller(chain, layout.leaf_max - 1u),
		.chain_inner = (uint8_t)smaller(smaller(chain, BW_CHAIN_INNER),
						layout.inner_max - 1u),
		.attempts = option_of(config, BW_OPTION_attempts),
		.promised = BW_FIRST + 1,
		.ids = BW_FIRST + 1,
	};
	tree->blocks.size = offsetof(struct bw_block, records) +
			    (tree->chain ? tree->chain : 1u) * sizeof(struct bw_record);
	tree->blocks.size = (tree->blocks.size + CACHE_LINE - 1) / CACHE_LINE * CACHE_LINE;
	epoch_init(&tree->epoch);
	pool_init_nodes(&tree->own, &of);
	if (area_init(&tree->table, sizeof(uint64_t), BW_IDS))
		return -ENOMEM;
	tree->table.batch = IDS_AT_ONCE;
	if (pool_reserve(&tree->own, 1)) {
		area_destroy(&tree->table);
		return -ENOMEM;
	}
	root = pool_get(&tree->own);
	*root = (struct bw_node){ .head = { .kind = BW_NODE }, .high = UINT64_MAX };
	*bw_word(tree, BW_ROOT) = BW_FIRST;
	*bw_word(tree, BW_FIRST) = (uintptr_t)root;
	return 0;
}

/**
 * bw_destroy() - free the table and the first root
 * @tree: the tree; the pools of the threads own all other nodes
 */
void bw_destroy(void *tree)
{
	struct bw_tree *t = tree;

	area_destroy(&t->table);
	pool_destroy(&t->own);
}

/**
 * bw_bytes() - maximum memory of a tree in bytes
 * @config: has the number of entries and the options
 */
double bw_bytes(const struct index_config *config)
{
	struct node_layout layout = bw_layout(option_of(config, BW_OPTION_node));
	double records = (double)option_of(config, BW_OPTION_chain) * sizeof(struct bw_record);
	double children = least_children(&layout);
	/* Halves of splits: the smaller one has at least half of the entries. */
	double leaves = (double)config->entries / (layout.leaf_max / 2) + 1;

	return leaves * (1 + 1 / (children - 1)) *
		       (layout.bytes + records + offsetof(struct bw_block, records)) +
	       BW_IDS * sizeof(uint64_t);
}

/*
 * Nodes of an update: two on each level, and a root. Twice, as it may complete the split of
 * another thread on its way.
 */
static unsigned int nodes_needed(const struct bw_tree *tree)
{
	return 2 * (2u * tree->layout.levels_max + 1);
}

/**
 * bw_attach() - make the share of a thread
 * @tree: the tree; several threads may be attached at the same time
 * @core: number of the thread's core, not used
 * @inserts: expected number of the thread's inserts
 *
 * Return: the share, or NULL if out of memory.
 */
void *bw_attach(void *tree, unsigned int core, uint64_t inserts)
{
	struct bw_tree *t = tree;
	struct bw_thread *thread = aligned_alloc(CACHE_LINE, sizeof(*thread));
	uint64_t nodes = inserts / (t->layout.leaf_max / 2u);

	if (!thread)
		return NULL;
	*thread = (struct bw_thread){ .credit = 0 };
	pool_init_nodes(&thread->nodes, &t->own.of);
	pool_init_nodes(&thread->blocks, &t->blocks);
	if (pool_reserve(&thread->nodes, nodes + nodes_needed(t)) ||
	    pool_reserve(&thread->blocks, nodes + nodes_needed(t))) {
		pool_destroy(&thread->nodes);
		free(thread);
		return NULL;
	}
	epoch_attach(&t->epoch, &thread->epoch);
	return thread;
}

/**
 * bw_detach() - free the share of a thread
 * @thread: the share; its tree has been destroyed
 */
void bw_detach(void *thread)
{
	struct bw_thread *t = thread;

	epoch_detach(&t->epoch);
	pool_destroy(&t->nodes);
	pool_destroy(&t->blocks);
	free(t);
}

/**
 * bw_reserve() - reserve the nodes, blocks and IDs of one insert or delete
 * @tree: the tree
 * @thread: the calling thread, between operations
 *
 * Return: 0; -ENOMEM, or -ENOSPC if the mapping table may become full, with the tree unchanged.
 */
int bw_reserve(void *tree, void *thread)
{
	struct bw_tree *t = tree;
	struct bw_thread *own = thread;
	unsigned int nodes = nodes_needed(t), ids = nodes / 2;

	/* Each node that is replaced is retired with its block. */
	if (epoch_reserve(&own->epoch, 2 * nodes) || pool_reserve(&own->nodes, nodes) ||
	    pool_reserve(&own->blocks, nodes))
		return -ENOMEM;
	if (likely(own->credit >= ids))
		return 0;
	return area_promise(&t->table, 0, BW_IDS, &t->promised, &own->credit, ids) ? -ENOSPC : 0;
}

/**
 * bw_unfit() - why a tree cannot have the size of nodes, or the number of entries
 * @config: has them
 * @why: room for a message
 * @len: size of @why in bytes
 *
 * Return: the message, or NULL.
 */
const char *bw_unfit(const struct index_config *config, char *why, size_t len)
{
	const char *unfit = node_tree_unfit(config, why, len);
	uint64_t bytes = option_of(config, BW_OPTION_node), most;

	if (unfit)
		return unfit;
	most = (uint64_t)BW_IDS * bw_layout(bytes).leaf_max;
	if (config->entries <= most)
		return NULL;
	snprintf(why, len, "--preload=%llu: the mapping table has %u IDs, enough for %llu entries "
		 "with --node=%llu", (unsigned long long)config->entries, BW_IDS,
		 (unsigned long long)most, (unsigned long long)bytes);
	return why;
}
