// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * bstar.c - the B*-tree: before a full leaf is split its entries are divided evenly among it and a
 * neighbour; if that is nearly full, too, both become three (Knuth, "The Art of Computer
 * Programming", volume 3, section 6.2.4; Alhomssi and Leis, CIDR 2021, section 5.2, compare it).
 */
#include "bstar.h"

#include "pack.h"

#include <stdlib.h>

/*
 * The neighbour takes over entries if this share of its room is free. With less the leaves would be
 * divided again after few inserts, and be hardly fuller. Measured with 200,000 random entries of
 * 8 + 100 bytes, beside a B-tree: with 1/6 the tree has 0.87 of the pages and inserts take 1.35
 * times the instructions, with 1/10 0.86 and 1.46, with 1/16 0.85 and 1.60.
 */
#define BSTAR_FREE (PAGE_ROOM / 6)

/* Plan for two leaves, or if the key would not have room for three. */
static bool plan(struct pack *p, const struct page_node *left, const struct page_node *right,
		 struct bytes key, unsigned int need)
{
	pack_init(p);
	pack_add(p, left);
	pack_add(p, right);
	if (page_node_free(left) + page_node_free(right) >= BSTAR_FREE + need && pack_even(p, 2) &&
	    p->free[pack_leaf(p, key)] >= need)
		return true;
	return pack_even(p, 3) && p->free[pack_leaf(p, key)] >= need;
}

/* Write what was planned. @middle: the page between the two, if there are three. */
static void carry_out(struct pack *p, struct frame *parent, unsigned int at,
		      struct page_node *nodes, struct frame *left, struct frame *right,
		      struct frame *middle)
{
	struct frame *frames[3] = { left, middle ? middle : right, right };
	uint32_t ids[3];

	for (unsigned int i = 0; i < p->nr_new; i++)
		pack_build(p, i, &nodes[i]);
	for (unsigned int i = 0; i < p->nr_new; i++) {
		page_node_copy(frames[i]->page, &nodes[i]);
		node_unset(frames[i]);
		ids[i] = frame_id(frames[i]);
	}
	inner_replace(parent->page, at, 2, p->separators, ids, p->nr_new);
	pool_dirty(parent);
}

/* Divide the entries of two latched neighbours. Returns as bstar_share(), or -EAGAIN. */
static int divide(struct page_tree *tree, struct frame *parent, unsigned int at,
		  struct frame *left, struct frame *right, struct bytes key, unsigned int need)
{
	struct frame *middle = NULL;
	struct page_node *nodes;
	struct pack *p = malloc(sizeof(*p));
	int err = -ECANCELED;

	if (!p)
		return -ECANCELED;
	if (!plan(p, left->page, right->page, key, need) ||
	    !inner_room(parent->page, at, 2, p->separators, p->nr_new))
		goto free_pack;
	nodes = malloc(p->nr_new * sizeof(*nodes));
	if (!nodes)
		goto free_pack;
	err = p->nr_new == 3 ? pool_new(tree->pool, tree->nr, &middle) : 0;
	if (!err) {
		carry_out(p, parent, at, nodes, left, right, middle);
		if (middle) {
			latch_release(&middle->latch);
			page_tree_count(tree, splits, 1);
		} else {
			page_tree_count(tree, shared_out, 1);
		}
	}
	free(nodes);
free_pack:
	free(p);
	return err;
}

/**
 * bstar_share() - make room in the leaf that has a key, without or before a split
 * @tree: the tree
 * @key: the key
 * @need: bytes that the leaf should have room for
 *
 * The calling thread holds no latch.
 *
 * Return: 0 if the leaf may have room now, -ECANCELED if it has no neighbour in memory or the
 * entries cannot be divided so, and it is to be split; or another -errno.
 */
int bstar_share(struct page_tree *tree, struct bytes key, unsigned int need)
{
	struct frame *left, *right;
	struct family f;
	int err = family_latch(tree, key, 0, &f);

	if (err)
		return err == -EDOM ? -ECANCELED : err;
	if (page_node_free(f.child->page) >= need) {
		family_release(&f);
		return 0;
	}
	/* The common prefix of the fences, which the key was counted without, may become shorter. */
	need += f.child->page->prefix;
	if (!f.parent->page->nr || !family_neighbours(tree, &f, &left, &right)) {
		family_release(&f);
		return -ECANCELED;
	}
	err = divide(tree, f.parent, f.at, left, right, key, need);
	latch_release(&right->latch);
	latch_release(&left->latch);
	latch_release(&f.parent->latch);
	return err == -EAGAIN ? pool_wait(tree->pool) : err;
}
