// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * blink.c - the B-link tree: each thread holds at most one latch of a node at a time.
 *
 * The tree is that of Lehman, Yao, ACM TODS 6(4), 1981, with the latches of Schröder,
 * "Using modern synchronization mechanisms in databases", 2016, section 2.4: readers
 * latch, too, and a split leaves the node reachable through its left sibling before the
 * parent gets it, so an insert releases the node before it latches the parent. A thread
 * that reaches a node whose high key is not above its key goes to the right sibling.
 *
 * Nothing is merged or freed, so a pointer to a node stays valid.
 */
#include "nodes.h"
#include "../blink/blink.h"

/*
 * struct path - the inner nodes that a descent passed
 * @node: the node of each level, where an insert into the parent begins
 * @top: level of the root at that time
 */
struct path {
	struct node *node[NODE_LEVELS_MAX];
	unsigned int top;
};

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

/*
 * Descend from the root to the level @to and return a node, not latched, from which the
 * place of @key is reached to the right. @path, unless NULL, receives the nodes above.
 */
static __inline_always struct node *descend(struct guard g, struct node_tree *tree, uint64_t key,
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

static __inline_always bool link_search(struct guard g, struct node_tree *tree,
					struct node_thread *thread, uint64_t key, uint64_t *value)
{
	struct node *leaf = read_right(g, descend(g, tree, key, 0, NULL), key);
	bool found;
	unsigned int at = leaf_find(leaf, key, &found);

	if (found)
		*value = node_get(node_values(&tree->layout, leaf)[at]);
	node_read_release(g, leaf);
	return found;
}

/*
 * Make a root above the level of @right, which has the keys from @key on. Returns false if
 * another thread has made a root above that level.
 */
static bool __attribute__((noinline)) grow(struct guard g, struct node_tree *tree,
					   struct node_thread *thread, uint64_t key,
					   struct node *right)
{
	struct node *old, *root;
	bool grown = false;

	root_write(g, tree);
	old = node_get_link(tree->root);
	if (old->level == right->level) {
		root = node_new(thread, old->level + 1u);
		node_children(&tree->layout, root)[0] = old;
		inner_insert(&tree->layout, root, 0, key, right);
		node_set_link(tree->root, root);
		grown = true;
	}
	root_write_release(g, tree);
	return grown;
}

/* A node of the level of @right's parent, from which the place of @key is to the right. */
static __inline_always struct node *parent_of(struct guard g, struct node_tree *tree,
					      const struct path *path, uint64_t key,
					      const struct node *right)
{
	unsigned int level = right->level + 1u;

	if (level <= path->top)
		return path->node[level];
	return descend(g, tree, key, level, NULL);
}

/*
 * Insert @right, which has the keys from @key on, into its parent, and further nodes above
 * if the parent splits. Each node is latched by itself.
 */
static __inline_always void insert_up(struct guard g, struct node_tree *tree,
				      struct node_thread *thread, const struct path *path,
				      uint64_t key, struct node *right)
{
	const struct node_layout *layout = &tree->layout;

	for (;;) {
		struct node *node, *more;
		unsigned int at;

		if (right->level >= path->top && grow(g, tree, thread, key, right))
			return;
		node = write_right(g, parent_of(g, tree, path, key, right), key);
		at = keys_below(node_keys(node), node->nr, key);
		if (!node_full(layout, node)) {
			inner_insert(layout, node, at, key, right);
			node_write_release(g, node);
			return;
		}
		more = node_new(thread, node->level);
		key = node_split_insert(layout, node, more, at, key, (uint64_t)(uintptr_t)right);
		node_write_release(g, node);
		right = more;
	}
}

static __inline_always bool link_insert(struct guard g, struct node_tree *tree,
					struct node_thread *thread, uint64_t key, uint64_t value)
{
	const struct node_layout *layout = &tree->layout;
	struct path path;
	struct node *leaf = write_right(g, descend(g, tree, key, 0, &path), key), *right;
	bool found;
	unsigned int at = leaf_find(leaf, key, &found);

	if (found) {
		node_write_release(g, leaf);
		return false;
	}
	if (likely(!node_full(layout, leaf))) {
		leaf_insert(layout, leaf, at, key, value);
		node_write_release(g, leaf);
		return true;
	}
	right = node_new(thread, 0);
	key = node_split_insert(layout, leaf, right, at, key, value);
	node_write_release(g, leaf);
	insert_up(g, tree, thread, &path, key, right);
	return true;
}

static __inline_always bool link_remove(struct guard g, struct node_tree *tree,
					struct node_thread *thread, uint64_t key, uint64_t *value)
{
	struct node *leaf = write_right(g, descend(g, tree, key, 0, NULL), key);
	bool found;
	unsigned int at = leaf_find(leaf, key, &found);

	if (found)
		*value = leaf_remove(&tree->layout, leaf, at);
	node_write_release(g, leaf);
	return found;
}

/* Each leaf is read under its latch. */
static __inline_always void link_scan(struct guard g, struct node_tree *tree,
				      struct node_thread *thread, uint64_t from,
				      unsigned long limit, struct scan_result *res)
{
	struct node *leaf = read_right(g, descend(g, tree, from, 0, NULL), from), *right;

	*res = (struct scan_result){ 0 };
	for (;;) {
		scan_leaf(&tree->layout, leaf, from, limit, res);
		right = node_get_link(leaf->right);
		node_read_release(g, leaf);
		if (!right || res->nr == limit)
			return;
		leaf = right;
		node_read(g, leaf);
	}
}

#define BLINK(scheme, guard, latching)                                                             \
	NODE_INDEX(blink, scheme, link, guard, GUARD_NONE, guard, latching)

BLINK(none, GUARD_NONE, LATCHING_PLAIN)
BLINK(latch, GUARD_TTAS, LATCHING_PLAIN)
BLINK(latch_pthread, GUARD_SPIN, LATCHING_SPIN)
BLINK(latch_hle, GUARD_HLE, LATCHING_PLAIN)
