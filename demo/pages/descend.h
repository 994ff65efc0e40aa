/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * descend.h - from the root of a tree to the node of a level that has a key.
 *
 *	mode		latches with versions		other latches
 *	LOOK		the version of the node		shared
 *	SHARED		shared				shared
 *	EXCLUSIVE	exclusive			exclusive
 *
 * All is inlined, so the lock calls have the address of the operation.
 */
#ifndef DEMO_PAGES_DESCEND_H
#define DEMO_PAGES_DESCEND_H

#include "look.h"
#include "tree.h"

enum hold_mode {
	LOOK,
	SHARED,
	EXCLUSIVE,
};

/**
 * struct hold - a node that a thread has
 * @frame: its frame
 * @version: of LOOK with latches that have versions: its version
 */
struct hold {
	struct frame *frame;
	uint64_t version;
};

/*
 * struct missing - pages that a descent did not find in memory
 * @id: the last one, 0 for none
 * @failed: the last one that could not be read
 * @before: the one before @id
 * @times: how often in turn it was the same one
 */
struct missing {
	uint32_t id;
	uint32_t failed;
	uint32_t before;
	uint32_t times;
};

/* Loads of one page in turn without a use of it, after which a free page must have a parent. */
#define MISSING_MAX (1u << 20)

int descend_missing(struct page_tree *tree, struct missing *missing);

static __inline_always void hold_acquire(struct frame *frame, enum hold_mode mode, bool *waited)
{
	if (mode == EXCLUSIVE)
		latch_exclusive(&frame->latch, waited);
	else
		latch_shared(&frame->latch, waited);
}

static __inline_always void hold_release(struct frame *frame, enum hold_mode mode)
{
	if (mode == EXCLUSIVE)
		latch_release(&frame->latch);
	else
		latch_release_shared(&frame->latch);
}

/*
 * A thread needs the node no longer. Returns true if what it read is valid, which it always is
 * under a latch.
 */
static __inline_always bool hold_end(const struct hold *h, enum hold_mode mode)
{
	if (mode == LOOK && latch_optimistic())
		return latch_validate(&h->frame->latch, h->version);
	hold_release(h->frame, mode);
	return true;
}

/* Whether a latched node of a tree is the one of a level that has a key. */
static inline bool descend_arrived(const struct page_tree *tree, const struct frame *frame,
				   struct bytes key, unsigned int level)
{
	const struct page_node *node = frame->page;

	return node->tag.tree == tree->nr && node->tag.kind == PAGE_NODE && node->level == level &&
	       page_node_covers(node, key);
}

/* descend() without latches above the node. Returns -EAGAIN to begin anew. */
static __inline_always int descend_looking(struct page_tree *tree, struct bytes key,
					   unsigned int level, enum hold_mode mode, bool *waited,
					   uint32_t *missing, struct hold *h)
{
	uint32_t id = tree->root;
	struct frame *frame = pool_frame(tree->pool, id), *parent = NULL;
	uint64_t version, parent_version = 0;
	unsigned int at;

	if (unlikely(!frame)) {
		*missing = id;
		return -EAGAIN;
	}
	version = latch_begin(&frame->latch, NULL);
	at = look_level(frame->page);
	if (unlikely(frame_id(frame) != id))
		return -EAGAIN;
	if (unlikely(at < level))
		return latch_validate(&frame->latch, version) ? -EDOM : -EAGAIN;
	while (at > level) {
		id = look_child(frame->page, key);
		if (unlikely(!latch_validate(&frame->latch, version)))
			return -EAGAIN;
		parent = frame;
		parent_version = version;
		frame = pool_frame(tree->pool, id);
		if (unlikely(!frame)) {
			*missing = id;
			return -EAGAIN;
		}
		if (--at == level && mode != LOOK)
			break;
		version = latch_begin(&frame->latch, at == level ? waited : NULL);
		/* The page may have left the frame, and the parent may have got another child. */
		if (unlikely(frame_id(frame) != id ||
			     !latch_validate(&parent->latch, parent_version)))
			return -EAGAIN;
	}
	*h = (struct hold){ frame, version };
	if (mode == LOOK)
		return 0;
	hold_acquire(frame, mode, waited);
	if (likely(frame_id(frame) == id) &&
	    (parent ? likely(latch_validate(&parent->latch, parent_version)) ||
			      descend_arrived(tree, frame, key, level) :
		      frame->page->level == level))
		return 0;
	hold_release(frame, mode);
	return -EAGAIN;
}

/* The root as the node of a level, to write. Returns -EAGAIN if it has another level. */
static __inline_always int descend_root(struct page_tree *tree, struct frame *frame,
					unsigned int level, bool *waited, struct hold *h)
{
	latch_exclusive(&frame->latch, waited);
	if (likely(frame_id(frame) == tree->root && frame->page->level == level)) {
		*h = (struct hold){ frame, 0 };
		return 0;
	}
	latch_release(&frame->latch);
	return -EAGAIN;
}

/* descend() with the latch of each node until that of its child is held. */
static __inline_always int descend_coupling(struct page_tree *tree, struct bytes key,
					    unsigned int level, enum hold_mode mode, bool *waited,
					    uint32_t *missing, struct hold *h)
{
	uint32_t id = tree->root;
	struct frame *frame = pool_frame(tree->pool, id), *child;
	unsigned int at;

	if (unlikely(!frame)) {
		*missing = id;
		return -EAGAIN;
	}
	/* The height is a hint that saves acquiring the latch of a root twice. */
	if (mode == EXCLUSIVE && __atomic_load_n(&tree->height, __ATOMIC_RELAXED) == level)
		if (!descend_root(tree, frame, level, waited, h))
			return 0;
	latch_shared(&frame->latch, NULL);
	at = frame->page->level;
	if (unlikely(__atomic_load_n(&tree->height, __ATOMIC_RELAXED) != at))
		__atomic_store_n(&tree->height, at, __ATOMIC_RELAXED);
	if (unlikely(frame_id(frame) != id || at <= level)) {
		bool there = frame_id(frame) == id;

		if (there && at == level && mode != EXCLUSIVE) {
			*h = (struct hold){ frame, 0 };
			return 0;
		}
		latch_release_shared(&frame->latch);
		if (!there)
			return -EAGAIN;
		return at < level ? -EDOM : descend_root(tree, frame, level, waited, h);
	}
	for (;;) {
		id = look_child(frame->page, key);
		child = pool_frame(tree->pool, id);
		if (unlikely(!child)) {
			latch_release_shared(&frame->latch);
			*missing = id;
			return -EAGAIN;
		}
		at--;
		if (at == level)
			hold_acquire(child, mode, waited);
		else
			latch_shared(&child->latch, NULL);
		latch_release_shared(&frame->latch);
		frame = child;
		if (unlikely(frame_id(frame) != id))
			break;
		if (at == level) {
			*h = (struct hold){ frame, 0 };
			return 0;
		}
	}
	hold_release(frame, at == level ? mode : SHARED);
	return -EAGAIN;
}

/**
 * descend() - get the node of a level that has a key
 * @tree: the tree
 * @key: the key
 * @level: the level, 0 for a leaf
 * @mode: how
 * @waited: set to true if the latch of the node was held at first; or NULL
 * @h: receives the node
 *
 * The calling thread holds no latch. The result of LOOK must be read as look.h says.
 *
 * Return: 0, -EDOM if the root is below that level, or an error of pool_load(). The thread holds
 * a latch only if the result is 0.
 */
static __inline_always int descend(struct page_tree *tree, struct bytes key, unsigned int level,
				   enum hold_mode mode, bool *waited, struct hold *h)
{
	struct missing missing = { 0 };
	int err;

	for (;;) {
		if (latch_optimistic())
			err = descend_looking(tree, key, level, mode, waited, &missing.id, h);
		else
			err = descend_coupling(tree, key, level, mode, waited, &missing.id, h);
		if (likely(err != -EAGAIN))
			return err;
		err = descend_missing(tree, &missing);
		if (err)
			return err;
	}
}

#endif
