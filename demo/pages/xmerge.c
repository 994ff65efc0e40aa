// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * xmerge.c - XMerge: from a leaf to the right the fewest neighbours, at most k, are sought that
 * have a page of free space together; their entries move to the right, and the leftmost page is
 * freed (Alhomssi and Leis, CIDR 2021, section 4 and listing 2).
 *
 * The listing as printed frees the page though the entries may not fit, and goes beyond the last
 * child. Here the bytes of all new leaves and of the parent are counted exactly before anything
 * is written (pack.h), and it is done as a whole or not at all.
 *
 * It runs in the provider, before a page becomes cool, so it never waits: it gives up where a latch
 * is held, and a neighbour that is not in memory ends the group.
 *
 *	look for the parent, and at the free bytes of the neighbours	no latch, or shared
 *	latch the parent, then the leaves from left to right		exclusively, by trying
 *	plan; if all fits: write the leaves, the parent; free the page
 */
#include "xmerge.h"

#include "descend.h"
#include "pack.h"

#include <stdlib.h>
#include <string.h>

/*
 * A key that the leaf in a frame has. Returns false if the frame has another page, or one that is
 * no leaf of the tree, or the rightmost leaf, which has no neighbour.
 */
static bool leaf_key(const struct page_tree *tree, struct frame *frame, uint32_t id,
		     unsigned char *key, struct bytes *k)
{
	const struct page_node *node = frame->page;
	struct bytes upper;

	if (!latch_try_shared(&frame->latch))
		return false;
	k->len = 0;
	if (frame_id(frame) == id && node->tag.kind == PAGE_NODE && node->tag.tree == tree->nr &&
	    !node->level) {
		upper = page_node_fence(node, node->upper);
		memcpy(key, upper.data, upper.len);
		*k = (struct bytes){ key, upper.len };
	}
	latch_release_shared(&frame->latch);
	return k->len;
}

/* Whether the leaves from position @at of a parent on have a page of free space. */
static bool survey(const struct page_tree *tree, const struct page_node *parent, unsigned int at)
{
	unsigned int free = 0, last = look_nr(parent);

	for (unsigned int i = 0; i < tree->options.k && at + i <= last; i++) {
		struct frame *leaf = pool_peek(tree->pool, look_child_at(parent, at + i));

		if (!leaf)
			return false;
		free += look_free(leaf->page);
		if (i && free >= PAGE_ROOM)
			return true;
	}
	return false;
}

static bool worth_it(const struct page_tree *tree, const struct page_node *parent,
		     struct bytes key)
{
	bool found;

	return survey(tree, parent, page_node_find(parent, key, &found));
}

/*
 * The parent of the leaf that has a key, latched exclusively, if the leaf and its neighbours have a
 * page of free space. NULL if not, if a page is missing, or if a latch is held.
 */
static struct frame *find_looking(struct page_tree *tree, struct bytes key)
{
	struct frame *frame = pool_peek(tree->pool, tree->root), *parent = NULL;
	uint32_t id = tree->root;
	uint64_t version, parent_version = 0;

	while (frame) {
		unsigned int level;

		version = latch_word(&frame->latch);
		if (version & (LATCH_HELD | LATCH_READERS))
			return NULL;
		/* Pairs with the release in latch_word_leave(). */
		latch_fence(__ATOMIC_ACQUIRE);
		level = look_level(frame->page);
		if (frame_id(frame) != id || !level ||
		    (parent && !latch_validate(&parent->latch, parent_version)))
			return NULL;
		if (level == 1)
			return worth_it(tree, frame->page, key) &&
			       latch_upgrade(&frame->latch, version) ? frame : NULL;
		id = look_child(frame->page, key);
		if (!latch_validate(&frame->latch, version))
			return NULL;
		parent = frame;
		parent_version = version;
		frame = pool_peek(tree->pool, id);
	}
	return NULL;
}

static struct frame *find_coupling(struct page_tree *tree, struct bytes key)
{
	struct frame *frame = pool_peek(tree->pool, tree->root), *child;
	uint32_t id = tree->root;
	bool worth;

	if (!frame || !latch_try_shared(&frame->latch))
		return NULL;
	if (frame_id(frame) != id)
		goto release;
	while (frame->page->level > 1) {
		id = look_child(frame->page, key);
		child = pool_peek(tree->pool, id);
		if (!child || !latch_try_shared(&child->latch))
			goto release;
		latch_release_shared(&frame->latch);
		frame = child;
		if (frame_id(frame) != id)
			goto release;
	}
	worth = frame->page->level == 1 && worth_it(tree, frame->page, key);
	latch_release_shared(&frame->latch);
	if (!worth || !latch_try_exclusive(&frame->latch))
		return NULL;
	if (frame_id(frame) == id && descend_arrived(tree, frame, key, 1))
		return frame;
	latch_release(&frame->latch);
	return NULL;
release:
	latch_release_shared(&frame->latch);
	return NULL;
}

/**
 * struct group - leaves that give up a page
 * @frames: their frames, latched exclusively
 * @nr: their number
 * @pack: the plan
 */
struct group {
	struct frame *frames[XMERGE_MAX];
	unsigned int nr;
	struct pack pack;
};

/*
 * Latch leaves from position @at of the parent on, until one less has room for all their entries.
 * Returns true if it is so.
 */
static bool gather(struct page_tree *tree, struct frame *parent, unsigned int at, struct group *g)
{
	unsigned int free = 0;

	pack_init(&g->pack);
	for (g->nr = 0; g->nr < tree->options.k && at + g->nr <= parent->page->nr;) {
		uint32_t id = inner_child(parent->page, at + g->nr);
		struct frame *leaf = pool_peek(tree->pool, id);

		if (!leaf || !latch_try_exclusive(&leaf->latch))
			return false;
		if (frame_id(leaf) != id) {
			latch_release(&leaf->latch);
			return false;
		}
		g->frames[g->nr++] = leaf;
		pack_add(&g->pack, leaf->page);
		free += page_node_free(leaf->page);
		if (g->nr >= XMERGE_MIN && free >= PAGE_ROOM && pack_right(&g->pack, g->nr - 1) &&
		    inner_room(parent->page, at, g->nr, g->pack.separators, g->nr - 1))
			return true;
	}
	return false;
}

/*
 * Write what was planned, but leave the page that becomes free. As entries move to the right, no
 * leaf is overwritten from which one on the left gets entries. Returns false if there is no memory.
 */
static bool carry_out(struct page_tree *tree, struct frame *parent, unsigned int at,
		      struct group *g)
{
	unsigned int nr = g->nr - 1;
	struct page_node *node = malloc(sizeof(*node));
	uint32_t ids[XMERGE_MAX];

	if (!node)
		return false;
	for (unsigned int i = nr; i--;) {
		struct frame *frame = g->frames[i + 1];

		if (i + 1 < nr || !pack_extend(&g->pack, frame->page)) {
			pack_build(&g->pack, i, node);
			page_node_copy(frame->page, node);
		}
		node_unset(frame);
		ids[i] = frame_id(frame);
	}
	free(node);
	inner_replace(parent->page, at, g->nr, g->pack.separators, ids, nr);
	pool_dirty(parent);
	page_tree_count(tree, xmerges, 1);
	page_tree_count(tree, xmerge_pages, g->nr);
	return true;
}

/* Merge the leaves from that of a key on, under their parent, which is released. */
static void merge(struct page_tree *tree, struct frame *parent, struct bytes key)
{
	struct group *g = malloc(sizeof(*g));
	bool found, merged;
	unsigned int at;

	if (!g) {
		latch_release(&parent->latch);
		return;
	}
	at = page_node_find(parent->page, key, &found);
	merged = gather(tree, parent, at, g) && carry_out(tree, parent, at, g);
	for (unsigned int i = merged; i < g->nr; i++)
		latch_release(&g->frames[i]->latch);
	latch_release(&parent->latch);
	if (merged)
		pool_free_page(tree->pool, g->frames[0]);
	free(g);
}

/**
 * xmerge() - free a page of a group of leaves, if there is such a group
 * @tree: the tree
 * @frame: a page
 * @id: its number when it was chosen
 *
 * It does nothing unless the page is a leaf of the tree. The calling thread holds no latch; it may
 * be called for any page at any time.
 *
 * Return: true if the page is a leaf of the tree with a neighbour, whether one was freed or not.
 */
bool xmerge(struct page_tree *tree, struct frame *frame, uint32_t id)
{
	unsigned char bytes[PAGE_KEY_MAX];
	struct frame *parent;
	struct bytes key;

	if (!tree->options.xmerge || pool_writable(tree->pool) ||
	    !leaf_key(tree, frame, id, bytes, &key))
		return false;
	page_tree_count(tree, xmerge_calls, 1);
	parent = latch_optimistic() ? find_looking(tree, key) : find_coupling(tree, key);
	if (parent)
		merge(tree, parent, key);
	return true;
}
