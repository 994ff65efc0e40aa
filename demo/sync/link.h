/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * link.h - what the B-link trees share: steps to the right and down under latches, and how
 * a split climbs.
 *
 * A thread passes through a B-link tree in steps, one for each node, and holds nothing
 * between two steps. So a tree may do each step in another way: under the latch of the
 * node (blink), by its version (olfit), in a transaction (bx). A split leaves the new
 * node reachable through its left sibling; the parent gets it in a step of its own. A
 * thread that reaches a node whose high key is not above its key goes to the right.
 *
 * Nothing is merged or freed, so a pointer to a node stays valid.
 */
#ifndef DEMO_SYNC_LINK_H
#define DEMO_SYNC_LINK_H

#include "nodes.h"

/*
 * struct path - the inner nodes that a descent passed
 * @node: the node of each level, where an insert into the parent begins
 * @top: level of the root at that time
 */
struct path {
	struct node *node[NODE_LEVELS_MAX];
	unsigned int top;
};

/* struct pending - a key and its slot, a value or a child, that a node must get */
struct pending {
	uint64_t key;
	uint64_t slot;
};

/* What an insert did to a node. */
enum added {
	ADDED,
	PRESENT, /* the leaf had the key already */
	SPLIT, /* the parent must get the new right sibling */
};

/*
 * Descend from the root to the level @to and return a node from which the place of @key is
 * reached to the right. @path, unless NULL, receives the nodes above.
 */
typedef struct node *(*descend_fn)(struct guard g, struct node_tree *tree,
				   struct node_thread *thread, uint64_t key, unsigned int to,
				   struct path *path);

/*
 * Insert @p into the node of its level that is its place, which is reached to the right from
 * @node. After a split @p has what the parent must get.
 */
typedef enum added (*add_fn)(struct guard g, struct node_tree *tree, struct node_thread *thread,
			     struct node *node, struct pending *p);

/* Latch @node to write, or the right sibling that is the place of @key. */
static __inline_always struct node *write_right(struct guard g, struct node *node, uint64_t key)
{
	node_write(g, node);
	while (node_beyond(node, key)) {
		struct node *right = node_get_link(node->right);

		node_write_release(g, node);
		node_write(g, right);
		node = right;
	}
	return node;
}

static __inline_always struct node *read_right(struct guard g, struct node *node, uint64_t key)
{
	node_read(g, node);
	while (node_beyond(node, key)) {
		struct node *right = node_get_link(node->right);

		node_read_release(g, node);
		node_read(g, right);
		node = right;
	}
	return node;
}

/* A descend_fn: each node is latched to read. */
static __inline_always struct node *latched_descend(struct guard g, struct node_tree *tree,
						    struct node_thread *thread, uint64_t key,
						    unsigned int to, struct path *path)
{
	const struct node_layout *layout = &tree->layout;
	struct node *node = node_get_link(tree->root);

	if (path)
		path->top = node->level;
	for (unsigned int level = node->level; level > to; level--) {
		struct node *child;

		node = read_right(g, node, key);
		if (path)
			path->node[level] = node;
		child = child_of(layout, node, key);
		node_read_release(g, node);
		node_prefetch(layout, child);
		node = child;
	}
	return node;
}

/* Insert @p at @at into @node, which the thread may change, and split a full one. */
static __inline_always enum added add_at(const struct node_layout *layout,
					 struct node_thread *thread, struct node *node,
					 unsigned int at, struct pending *p)
{
	struct node *right;

	if (unlikely(node_full(layout, node))) {
		right = node_new(thread, node->level);
		p->key = node_split_insert(layout, node, right, at, p->key, p->slot);
		p->slot = (uint64_t)(uintptr_t)right;
		return SPLIT;
	}
	if (node->level)
		inner_insert(layout, node, at, p->key, (struct node *)(uintptr_t)p->slot);
	else
		leaf_insert(layout, node, at, p->key, p->slot);
	return ADDED;
}

/* Insert @p into @node, its place, which the thread may change. */
static __inline_always enum added add_to(const struct node_layout *layout,
					 struct node_thread *thread, struct node *node,
					 struct pending *p)
{
	unsigned int at = keys_below(node_keys(node), node->nr, p->key);

	if (!node->level && at < node->nr && node_keys(node)[at] == p->key)
		return PRESENT;
	return add_at(layout, thread, node, at, p);
}

/* An add_fn: each node is latched to write. */
static __inline_always enum added latched_add(struct guard g, struct node_tree *tree,
					      struct node_thread *thread, struct node *node,
					      struct pending *p)
{
	enum added added;

	node = write_right(g, node, p->key);
	added = add_to(&tree->layout, thread, node, p);
	node_write_release(g, node);
	return added;
}

/*
 * Make a root above the level @level for the node @p, which was split off on that level.
 * Returns false if another thread has made a root above that level.
 */
static bool __attribute__((noinline)) grow(struct guard g, struct node_tree *tree,
					   struct node_thread *thread, unsigned int level,
					   const struct pending *p)
{
	struct node *old, *root;
	bool grown = false;

	root_write(g, tree);
	old = node_get_link(tree->root);
	if (old->level == level) {
		root = node_new(thread, level + 1);
		node_children(&tree->layout, root)[0] = old;
		inner_insert(&tree->layout, root, 0, p->key, (struct node *)(uintptr_t)p->slot);
		node_set_link(tree->root, root);
		grown = true;
	}
	root_write_release(g, tree);
	return grown;
}

/*
 * Insert @p, a node that was split off, into its parent, and further nodes above if the
 * parent splits. A parent above the root that the descent saw is found by its level.
 */
static __inline_always void add_above(struct guard g, struct node_tree *tree,
				      struct node_thread *thread, const struct path *path,
				      struct pending *p, descend_fn descend, add_fn add)
{
	for (unsigned int level = 1;; level++) {
		struct node *node;

		if (level > path->top && grow(g, tree, thread, level - 1, p))
			return;
		if (level <= path->top)
			node = path->node[level];
		else
			node = descend(g, tree, thread, p->key, level, NULL);
		if (add(g, tree, thread, node, p) != SPLIT)
			return;
	}
}

/* Insert an entry in steps. Returns false if the key is there already. */
static __inline_always bool insert_in_steps(struct guard g, struct node_tree *tree,
					    struct node_thread *thread, uint64_t key,
					    uint64_t value, descend_fn descend, add_fn add)
{
	struct pending p = { key, value };
	struct path path;
	struct node *leaf = descend(g, tree, thread, key, 0, &path);
	enum added added = add(g, tree, thread, leaf, &p);

	if (unlikely(added == SPLIT))
		add_above(g, tree, thread, &path, &p, descend, add);
	return added != PRESENT;
}

/* The end of a search: @leaf is latched to read. */
static __inline_always bool latched_find(struct guard g, const struct node_layout *layout,
					 struct node *leaf, uint64_t key, uint64_t *value)
{
	bool found;
	unsigned int at;

	leaf = read_right(g, leaf, key);
	at = leaf_find(leaf, key, &found);
	if (found)
		*value = node_get(node_values(layout, leaf)[at]);
	node_read_release(g, leaf);
	return found;
}

/* The end of a delete: @leaf is latched to write. */
static __inline_always bool latched_take(struct guard g, const struct node_layout *layout,
					 struct node *leaf, uint64_t key, uint64_t *value)
{
	bool found;
	unsigned int at;

	leaf = write_right(g, leaf, key);
	at = leaf_find(leaf, key, &found);
	if (found)
		*value = leaf_remove(layout, leaf, at);
	node_write_release(g, leaf);
	return found;
}

/* Add the entries of a leaf to a scan, latched to read; returns the next leaf or NULL. */
static __inline_always struct node *latched_visit(struct guard g, const struct node_layout *layout,
						  struct node *leaf, uint64_t from,
						  unsigned long limit, struct scan_result *res)
{
	struct node *right;

	leaf = read_right(g, leaf, from);
	scan_leaf(layout, leaf, from, limit, res);
	right = node_get_link(leaf->right);
	node_read_release(g, leaf);
	return right;
}

#endif
