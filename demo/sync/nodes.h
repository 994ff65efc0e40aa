/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * nodes.h - index operations on a tree of struct node, for the files NAME.c of this folder.
 *
 * A file defines the four operations once (see family.h) and instantiates them with
 * NODE_INDEX(tree, scheme, family, how, ...) for each scheme. HOW is mostly a struct guard.
 */
#ifndef DEMO_SYNC_NODES_H
#define DEMO_SYNC_NODES_H

#include "family.h"
#include "../index/index.h"
#include "../latch/hle.h"
#include "../latch/none.h"
#include "../latch/spin.h"
#include "../latch/ttas.h"
#include "../node/tree.h"

#include <stdlib.h>

/**
 * struct guard - an exclusive latch that lies in each node
 * @latch: operations of the latch
 * @at: offset of the latch in a node
 */
struct guard {
	const struct latch_ops *latch;
	size_t at;
};

/* The guards of the schemes none, latch, latch-pthread and latch-hle. */
#define GUARD_NONE ((struct guard){ &latch_none, offsetof(struct node, latch) })
#define GUARD_TTAS ((struct guard){ &latch_ttas, offsetof(struct node, latch) })
#define GUARD_SPIN ((struct guard){ &latch_spin, offsetof(struct node, word) })
#define GUARD_HLE ((struct guard){ &latch_hle, offsetof(struct node, word) })

_Static_assert(sizeof(struct ttas_latch) == 1, "fits the byte of a node");
_Static_assert(sizeof(struct spin_latch) == 4, "fits the word of a node");
_Static_assert(sizeof(struct hle_latch) == 4, "fits the word of a node");

/* The pthread spin lock of a node, which is initialised here alone: one class of locks. */
static inline void node_spin_prepare(void *node)
{
	struct node *n = node;

	/* The store behind the call keeps it from being a jump: reports name this function. */
	latch_spin.init(&n->word);
	n->latch = 0;
}

static inline void node_spin_end(void *node)
{
	latch_spin.destroy(&((struct node *)node)->word);
}

/* How the schemes use the latch fields: a byte or an HLE word, a pthread lock, a version. */
#define LATCHING_PLAIN ((struct node_latching){ .held = ~0u })
#define LATCHING_SPIN ((struct node_latching){ node_spin_prepare, node_spin_end, ~0u })
#define LATCHING_VERSION ((struct node_latching){ .held = 1 })

/* Acquire and release the latch of a node to read, and to write. */
static __inline_always void *latch_of(struct guard g, struct node *node)
{
	return (char *)node + g.at;
}

static __inline_always void node_read(struct guard g, struct node *node)
{
	g.latch->read(latch_of(g, node));
}

static __inline_always void node_read_release(struct guard g, struct node *node)
{
	g.latch->read_release(latch_of(g, node));
}

static __inline_always void node_write(struct guard g, struct node *node)
{
	g.latch->write(latch_of(g, node));
}

static __inline_always void node_write_release(struct guard g, struct node *node)
{
	g.latch->write_release(latch_of(g, node));
}

/* The latch of the pointer to the root. */
static __inline_always void root_write(struct guard g, struct node_tree *tree)
{
	g.latch->write(&tree->latch);
}

static __inline_always void root_write_release(struct guard g, struct node_tree *tree)
{
	g.latch->write_release(&tree->latch);
}

/* struct node_index - a tree of struct node under any scheme */
struct node_index {
	struct index head;
	struct node_tree tree __cacheline_aligned;
};

static inline struct node_tree *node_index_tree(struct index *index)
{
	return &container_of(index, struct node_index, head)->tree;
}

static inline struct node_thread *node_index_thread(struct index_thread *thread)
{
	return (struct node_thread *)thread;
}

static inline struct index *node_index_create(const struct index_ops *ops,
					      const struct index_config *config,
					      const struct node_latching *latching,
					      struct guard root)
{
	struct node_index *index = aligned_alloc(CACHE_LINE, sizeof(*index));

	if (!index)
		return NULL;
	index->head = (struct index){ .ops = ops, .tree = &index->tree };
	if (node_tree_init(&index->tree, config, latching)) {
		free(index);
		return NULL;
	}
	root.latch->init(&index->tree.latch);
	return &index->head;
}

static inline void node_index_destroy(struct index *index, struct guard root)
{
	struct node_index *of = container_of(index, struct node_index, head);

	root.latch->destroy(&of->tree.latch);
	node_tree_destroy(&of->tree);
	free(of);
}

static inline int node_index_reserve(struct index *index, struct index_thread *thread)
{
	return node_reserve(node_index_tree(index), node_index_thread(thread));
}

/* For the member @counts of a scheme that counts. */
static inline const struct counts *node_index_counts(const struct index_thread *thread)
{
	return &((const struct node_thread *)thread)->counts;
}

/* For the member @idle of a scheme that retires nodes. */
static inline void node_index_idle(struct index *index, struct index_thread *thread)
{
	epoch_idle(&node_index_thread(thread)->epoch);
}

/*
 * The operations of a tree of struct node under a scheme: FAMILY_INDEX() of family.h. @root
 * is the guard of the pointer to the root.
 */
#define NODE_INDEX(id, scheme, family, how, plain, root, latching, ...)                            \
	FAMILY_INDEX(node, id, scheme, family, how, plain, root, latching, __VA_ARGS__)

/* Add the entries of a leaf from the first one that is not below @from on to a scan. */
static __inline_always void scan_leaf(const struct node_layout *layout, struct node *leaf,
				      uint64_t from, unsigned long limit, struct scan_result *res)
{
	scan_entries(node_keys(leaf), node_values(layout, leaf), node_get(leaf->nr), from, limit,
		     res);
}

#endif
