/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * restructure.h - changes of more than one node of a tree, under the latch of the parent.
 *
 * Latches are acquired exclusively, the parent first, then its children from left to right. Space
 * and memory are allocated, and what may fail is counted, before the first node is changed. So
 * a change is done as a whole or not at all.
 */
#ifndef DEMO_PAGES_RESTRUCTURE_H
#define DEMO_PAGES_RESTRUCTURE_H

#include "tree.h"

/* A node with more free bytes is merged with a neighbour: 60 % as LeanStore's B-tree. */
#define NODE_SPARSE (PAGE_ROOM * 60 / 100)

/**
 * struct family - a node and its parent, latched exclusively
 * @parent: the parent
 * @child: the node
 * @at: position of the child in the parent
 */
struct family {
	struct frame *parent;
	struct frame *child;
	unsigned int at;
};

/** node_sparse() - true if a node should be merged with a neighbour */
static inline bool node_sparse(const struct page_node *node)
{
	return page_node_free(node) > NODE_SPARSE;
}

/* Contention Split begins a new period, as the positions of a page are others now. */
static inline void node_unset(struct frame *frame)
{
	frame->updates = frame->slow = 0;
	frame->last = FRAME_NO_POSITION;
	pool_dirty(frame);
}

int family_latch(struct page_tree *tree, struct bytes key, unsigned int level, struct family *f);
void family_release(const struct family *f);
bool family_neighbours(struct page_tree *tree, struct family *f, struct frame **left,
		       struct frame **right);
uint32_t inner_child(const struct page_node *parent, unsigned int at);
bool inner_room(const struct page_node *parent, unsigned int at, unsigned int old,
		const struct bytes *separators, unsigned int nr);
void inner_replace(struct page_node *parent, unsigned int at, unsigned int old,
		   const struct bytes *separators, const uint32_t *children, unsigned int nr);

/**
 * split_choice - chooses where a node is divided, or does it otherwise
 * @ctx: as given to page_tree_split()
 * @node: the node
 *
 * Return: the position of the entry behind which the node is divided, or -ECANCELED to leave it.
 */
typedef int (*split_choice)(void *ctx, const struct page_node *node);

int page_tree_split(struct page_tree *tree, struct bytes key, unsigned int level,
		    split_choice choose, void *ctx);
int page_tree_split_full(struct page_tree *tree, struct bytes key, unsigned int level,
		    unsigned int need);
int leaf_split(struct page_tree *tree, struct bytes key, unsigned int need);
int page_tree_merge(struct page_tree *tree, struct bytes key, unsigned int level);

#endif
