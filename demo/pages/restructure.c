// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * restructure.c - splits of nodes, merges of neighbours, and the growth of the root
 * (see restructure.h).
 */
#include "restructure.h"

#include "bstar.h"
#include "descend.h"

#include <string.h>

/**
 * inner_child() - number of a child's page
 * @parent: an inner node
 * @at: position of the child, from 0 to the number of slots
 */
uint32_t inner_child(const struct page_node *parent, unsigned int at)
{
	uint32_t child = parent->last;

	if (at < parent->nr)
		memcpy(&child, page_node_value(parent, at).data, sizeof(child));
	return child;
}

static void inner_child_set(struct page_node *parent, unsigned int at, uint32_t child)
{
	if (at < parent->nr)
		page_node_update(parent, at, (struct bytes){ &child, sizeof(child) });
	else
		parent->last = child;
}

/**
 * inner_room() - whether other children have room in an inner node
 * @parent: the node
 * @at: position of the first child that goes
 * @old: number of children that go, neighbours
 * @separators: keys between the children that come, @nr - 1 of them
 * @nr: number of children that come
 */
bool inner_room(const struct page_node *parent, unsigned int at, unsigned int old,
		const struct bytes *separators, unsigned int nr)
{
	unsigned int room = page_node_free(parent), need = 0;

	for (unsigned int i = 0; i + 1 < old; i++)
		room += (unsigned int)sizeof(struct page_slot) + parent->slots[at + i].key +
			parent->slots[at + i].value;
	for (unsigned int i = 0; i + 1 < nr; i++)
		need += page_node_need(parent, separators[i], sizeof(uint32_t));
	return need <= room;
}

/**
 * inner_replace() - replace children of an inner node by others with the same outer fences
 * @parent: the node; inner_room() has said that they fit
 * @at: position of the first child that goes
 * @old: number of children that go, neighbours
 * @separators: keys between the children that come, @nr - 1 of them; not in @parent
 * @children: numbers of their pages
 * @nr: their number
 */
void inner_replace(struct page_node *parent, unsigned int at, unsigned int old,
		   const struct bytes *separators, const uint32_t *children, unsigned int nr)
{
	for (unsigned int i = 0; i + 1 < old; i++)
		page_node_remove(parent, at);
	for (unsigned int i = 0; i + 1 < nr; i++)
		page_node_insert_at(parent, at + i, separators[i],
				    (struct bytes){ &children[i], sizeof(children[i]) });
	inner_child_set(parent, at + nr - 1, children[nr - 1]);
}

/**
 * family_latch() - latch the node of a level that has a key, and its parent
 * @tree: the tree
 * @key: the key
 * @level: the level of the node
 * @f: receives them
 *
 * Return: 0, -EDOM if the root is not above that level, or -errno.
 */
int family_latch(struct page_tree *tree, struct bytes key, unsigned int level, struct family *f)
{
	struct missing missing = { 0 };
	struct hold h;
	bool found;
	int err;

	for (;;) {
		uint32_t id;

		err = descend(tree, key, level + 1, EXCLUSIVE, NULL, &h);
		if (err)
			return err;
		f->parent = h.frame;
		f->at = page_node_find(h.frame->page, key, &found);
		id = inner_child(h.frame->page, f->at);
		f->child = pool_frame(tree->pool, id);
		if (f->child) {
			latch_exclusive(&f->child->latch, NULL);
			if (frame_id(f->child) == id)
				return 0;
			latch_release(&f->child->latch);
		} else {
			missing.id = id;
		}
		latch_release(&h.frame->latch);
		err = descend_missing(tree, &missing);
		if (err)
			return err;
	}
}

/** family_release() - release the latches of a node and its parent */
void family_release(const struct family *f)
{
	latch_release(&f->child->latch);
	latch_release(&f->parent->latch);
}

/*
 * Divide the node of a family behind position @at. Returns 0, -E2BIG if the parent has no room,
 * -EAGAIN if there is no frame, or -errno; then nothing has changed.
 */
static int split_family(struct page_tree *tree, const struct family *f, unsigned int at)
{
	unsigned char key[PAGE_KEY_MAX];
	struct bytes separator = { key, page_node_separator(f->child->page, at, key) };
	struct frame *right;
	uint32_t children[2];
	int err;

	if (!inner_room(f->parent->page, f->at, 1, &separator, 2))
		return -E2BIG;
	err = pool_new(tree->pool, tree->nr, &right);
	if (err)
		return err;
	if (!page_node_split(f->child->page, right->page, at, separator)) {
		pool_free_page(tree->pool, right);
		return -ECANCELED;
	}
	children[0] = frame_id(f->child);
	children[1] = frame_id(right);
	inner_replace(f->parent->page, f->at, 1, &separator, children, 2);
	pool_dirty(f->parent);
	node_unset(f->child);
	node_unset(right);
	latch_release(&right->latch);
	return 0;
}

/*
 * The root is at @level and has to be divided: its content moves to a child. Returns 0 also if the
 * root is above that level meanwhile.
 */
static int grow(struct page_tree *tree, struct bytes key, unsigned int level)
{
	static const struct bytes none = { "", 0 };
	struct frame *child;
	struct hold h;
	int err = descend(tree, key, level, EXCLUSIVE, NULL, &h);

	if (err)
		return err;
	if (frame_id(h.frame) != tree->root)
		goto release;
	err = pool_new(tree->pool, tree->nr, &child);
	if (err)
		goto release;
	page_node_copy(child->page, h.frame->page);
	page_node_init(h.frame->page, level + 1, none, none);
	h.frame->page->last = frame_id(child);
	node_unset(h.frame);
	node_unset(child);
	__atomic_store_n(&tree->height, level + 1, __ATOMIC_RELAXED);
	page_tree_count(tree, grown, 1);
	latch_release(&child->latch);
release:
	latch_release(&h.frame->latch);
	return err;
}

/**
 * page_tree_split() - divide the node of a level that has a key
 * @tree: the tree
 * @key: the key
 * @level: the level
 * @choose: says where
 * @ctx: argument of @choose
 *
 * A parent without room is split before, and a root gets a parent. The calling thread holds no
 * latch.
 *
 * Return: 0, -ECANCELED if @choose returned that or a half did not fit, or another -errno.
 */
int page_tree_split(struct page_tree *tree, struct bytes key, unsigned int level,
		    split_choice choose, void *ctx)
{
	for (;;) {
		struct family f;
		int err = family_latch(tree, key, level, &f);

		if (!err) {
			int at = choose(ctx, f.child->page);

			err = at < 0 ? at : split_family(tree, &f, (unsigned int)at);
			family_release(&f);
		} else if (err == -EDOM) {
			err = grow(tree, key, level);
			if (!err)
				continue;
		}
		if (err == -E2BIG)
			err = page_tree_split_full(tree, key, level + 1, PAGE_KEY_MAX + 16);
		else if (err == -EAGAIN)
			err = pool_wait(tree->pool);
		else
			return err;
		if (err)
			return err;
	}
}

/* A split_choice: half of the bytes to each side, unless the node has room for @ctx bytes. */
static int choose_middle(void *ctx, const struct page_node *node)
{
	const unsigned int *need = ctx;
	unsigned int all = 0, bytes = 0, last = node->level ? node->nr - 1u : node->nr - 2u;

	if (page_node_free(node) >= *need || node->nr < 2)
		return -ECANCELED;
	for (unsigned int i = 0; i < node->nr; i++)
		all += node->slots[i].key + node->slots[i].value +
		       (unsigned int)sizeof(struct page_slot);
	for (unsigned int i = 0; i < last; i++) {
		bytes += node->slots[i].key + node->slots[i].value +
			 (unsigned int)sizeof(struct page_slot);
		if (2 * bytes >= all)
			return (int)i;
	}
	return (int)last;
}

/**
 * page_tree_split_full() - divide a node in the middle if it has no room
 * @tree: the tree
 * @key: a key of the node
 * @level: level of the node
 * @need: bytes that it should have room for
 *
 * Return: 0 if the node was divided or has room, or -errno.
 */
int page_tree_split_full(struct page_tree *tree, struct bytes key, unsigned int level,
		    unsigned int need)
{
	int err = page_tree_split(tree, key, level, choose_middle, &need);

	if (!err)
		page_tree_count(tree, splits, 1);
	return err == -ECANCELED ? 0 : err;
}

/**
 * leaf_split() - make room in the leaf that has a key
 * @tree: the tree
 * @key: the key
 * @need: bytes that it should have room for
 *
 * Return: 0 if it may have room now, or -errno.
 */
int leaf_split(struct page_tree *tree, struct bytes key, unsigned int need)
{
	if (tree->options.bstar) {
		int err = bstar_share(tree, key, need);

		if (err != -ECANCELED)
			return err;
	}
	return page_tree_split_full(tree, key, 0, need);
}

/* The root has one child: it gets its content. */
static void shrink(struct page_tree *tree, struct frame *root, struct frame *child)
{
	page_node_copy(root->page, child->page);
	node_unset(root);
	__atomic_store_n(&tree->height, root->page->level, __ATOMIC_RELAXED);
	pool_free_page(tree->pool, child);
}

/**
 * family_neighbours() - latch a neighbour of the child that is in memory
 * @tree: the tree
 * @f: the child and its parent, which has another child; @f->at becomes the position of @left
 * @left: receives the left one of the two
 * @right: receives the right one
 *
 * The neighbour is the right one, of the last child the left one.
 *
 * Return: true; or false, and the latches are those of @f as before.
 */
bool family_neighbours(struct page_tree *tree, struct family *f, struct frame **left,
		       struct frame **right)
{
	const struct page_node *parent = f->parent->page;
	unsigned int other_at = f->at == parent->nr ? f->at - 1 : f->at + 1;
	uint32_t id = inner_child(parent, other_at);
	struct frame *other = pool_frame(tree->pool, id);

	if (!other)
		return false;
	/* To the left it must not wait, as latches are acquired from left to right. */
	if (other_at > f->at)
		latch_exclusive(&other->latch, NULL);
	else if (!latch_try_exclusive(&other->latch))
		return false;
	if (frame_id(other) != id) {
		latch_release(&other->latch);
		return false;
	}
	*left = other_at > f->at ? f->child : other;
	*right = other_at > f->at ? other : f->child;
	f->at = other_at > f->at ? f->at : other_at;
	return true;
}

/* Merge the child with a neighbour, if it is still sparse. Releases the child in any case. */
static bool merge_family(struct page_tree *tree, struct family *f)
{
	struct frame *left, *right;
	uint32_t id;
	bool merged;

	if (!node_sparse(f->child->page) || !f->parent->page->nr ||
	    !family_neighbours(tree, f, &left, &right)) {
		latch_release(&f->child->latch);
		return false;
	}
	id = frame_id(left);
	merged = page_node_merge(left->page, right->page);
	if (merged) {
		inner_replace(f->parent->page, f->at, 2, NULL, &id, 1);
		pool_dirty(f->parent);
		node_unset(left);
		pool_free_page(tree->pool, right);
		page_tree_count(tree, merges, 1);
	} else {
		latch_release(&right->latch);
	}
	latch_release(&left->latch);
	return merged;
}

/* A root without slots gets the content of its child, if that is in memory. */
static void shrink_root(struct page_tree *tree, struct frame *root)
{
	while (root->page->level && !root->page->nr) {
		uint32_t id = root->page->last;
		struct frame *child = pool_frame(tree->pool, id);

		if (!child)
			return;
		latch_exclusive(&child->latch, NULL);
		if (frame_id(child) != id) {
			latch_release(&child->latch);
			return;
		}
		shrink(tree, root, child);
	}
}

/**
 * page_tree_merge() - merge a sparse node with a neighbour that is in memory
 * @tree: the tree
 * @key: a key of the node
 * @level: level of the node
 *
 * The parent may become sparse, and is merged then. The calling thread holds no latch.
 *
 * Return: 0, whether it was merged or not, or -errno.
 */
int page_tree_merge(struct page_tree *tree, struct bytes key, unsigned int level)
{
	struct family f;
	bool merged, sparse;
	int err = family_latch(tree, key, level, &f);

	if (err)
		return err == -EDOM ? 0 : err;
	merged = merge_family(tree, &f);
	if (frame_id(f.parent) == tree->root)
		shrink_root(tree, f.parent);
	sparse = merged && frame_id(f.parent) != tree->root && node_sparse(f.parent->page);
	latch_release(&f.parent->latch);
	return sparse ? page_tree_merge(tree, key, level + 1) : 0;
}
