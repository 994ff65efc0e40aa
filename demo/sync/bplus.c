// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * bplus.c - the B+Tree with latch coupling: a thread acquires the latch of a child before
 * it releases that of the parent.
 *
 * It is the B-tree of Schröder, "Using modern synchronization mechanisms in databases",
 * 2016, sections 2.3.2 and 2.3.3. All latches are acquired from the root down, so threads
 * cannot wait for each other in a circle. The split schemes are
 *
 *	safe       an insert releases all nodes above one that is not full
 *	proactive  an insert splits each full node on its way, so it holds two nodes
 *	path       an insert holds all nodes of its path exclusively; other threads share
 *	upgrade    an insert holds all nodes of its path in mode U, which readers pass, and
 *		   upgrades to X those that it changes, from the top down
 *
 * With path and upgrade the latches have the modes S, U and X. With the others they are
 * exclusive for readers, too. Nothing is merged or freed, so a scan need not hold a leaf
 * while it acquires the next one.
 */
#include "nodes.h"
#include "../bplus/bplus.h"
#include "../latch/sux.h"

#include <stdio.h>

#define GUARD_SUX ((struct guard){ &latch_sux, offsetof(struct node, word) })
_Static_assert(sizeof(struct sux_latch) == 4, "fits the word of a node");

/* Modes of the latch of a node. */
enum mode {
	READ,
	UPDATE,
	WRITE,
};

static __inline_always void acquire(struct guard g, struct node *node, enum mode mode)
{
	if (mode == READ)
		node_read(g, node);
	else if (mode == UPDATE)
		sux_update(latch_of(g, node));
	else
		node_write(g, node);
}

static __inline_always void release(struct guard g, struct node *node, enum mode mode)
{
	if (mode == READ)
		node_read_release(g, node);
	else if (mode == UPDATE)
		sux_update_release(latch_of(g, node));
	else
		node_write_release(g, node);
}

/* Acquire the latch of the root: in mode @leaf if it is a leaf, else in mode @inner. */
static __inline_always struct node *acquire_root(struct guard g, struct node_tree *tree,
						 enum mode inner, enum mode leaf)
{
	for (;;) {
		struct node *root = node_get_link(tree->root);

		acquire(g, root, root->level ? inner : leaf);
		/* The root of before the tree grew is an ordinary node. */
		if (likely(root == node_get_link(tree->root)))
			return root;
		release(g, root, root->level ? inner : leaf);
	}
}

/* Couple down to the leaf of @key, which is acquired in mode @leaf, the nodes above in @inner. */
static __inline_always struct node *couple(struct guard g, struct node_tree *tree, uint64_t key,
					   enum mode inner, enum mode leaf)
{
	struct node *node = acquire_root(g, tree, inner, leaf);

	while (node->level) {
		struct node *child = child_of(&tree->layout, node, key);

		node_prefetch(&tree->layout, child);
		acquire(g, child, node->level > 1 ? inner : leaf);
		release(g, node, inner);
		node = child;
	}
	return node;
}

static __inline_always bool coupled_search(struct guard g, struct node_tree *tree,
					   struct node_thread *thread, uint64_t key,
					   uint64_t *value)
{
	struct node *leaf = couple(g, tree, key, READ, READ);
	bool found;
	unsigned int at = leaf_find(leaf, key, &found);

	if (found)
		*value = node_get(node_values(&tree->layout, leaf)[at]);
	release(g, leaf, READ);
	return found;
}

/* Replace the root, which the thread holds, by a node with the children @left and @right. */
static void __attribute__((noinline)) grow(struct node_tree *tree, struct node_thread *thread,
					   struct node *left, uint64_t key, struct node *right)
{
	struct node *root = node_new(thread, left->level + 1u);

	node_children(&tree->layout, root)[0] = left;
	inner_insert(&tree->layout, root, 0, key, right);
	node_set_link(tree->root, root);
}

/*
 * struct held - the nodes that an insert holds
 * @node: the node of each level from the leaf on
 * @top: level of the highest node
 */
struct held {
	struct node *node[NODE_LEVELS_MAX];
	unsigned int top;
};

/*
 * Acquire the nodes from the root to the leaf of @key to write. With @safe the nodes above
 * one that is not full are released.
 */
static __inline_always struct node *hold(struct guard g, struct node_tree *tree, uint64_t key,
					 bool safe, struct held *held)
{
	struct node *node = acquire_root(g, tree, WRITE, WRITE);

	held->top = node->level;
	held->node[node->level] = node;
	while (node->level) {
		node = child_of(&tree->layout, node, key);
		node_prefetch(&tree->layout, node);
		acquire(g, node, WRITE);
		held->node[node->level] = node;
		if (safe && likely(!node_full(&tree->layout, node)))
			while (held->top > node->level)
				release(g, held->node[held->top--], WRITE);
	}
	return node;
}

/* Insert an entry into a full leaf, and into the nodes above it that @held has. */
static __inline_always void split_up(struct node_tree *tree, struct node_thread *thread,
				     struct held *held, unsigned int at, uint64_t key,
				     uint64_t slot)
{
	const struct node_layout *layout = &tree->layout;

	for (unsigned int level = 0;; level++) {
		struct node *node = held->node[level], *right;

		if (level)
			at = keys_below(node_keys(node), node->nr, key);
		if (level && !node_full(layout, node)) {
			inner_insert(layout, node, at, key, (struct node *)(uintptr_t)slot);
			return;
		}
		right = node_new(thread, level);
		key = node_split_insert(layout, node, right, at, key, slot);
		slot = (uint64_t)(uintptr_t)right;
		/* With safe the highest node is not full, or it is the root. */
		if (level == held->top) {
			grow(tree, thread, node, key, right);
			return;
		}
	}
}

static __inline_always bool insert_held(struct guard g, struct node_tree *tree,
					struct node_thread *thread, uint64_t key, uint64_t value,
					bool safe)
{
	struct held held;
	struct node *leaf = hold(g, tree, key, safe, &held);
	bool found;
	unsigned int at = leaf_find(leaf, key, &found);

	if (!found) {
		if (likely(!node_full(&tree->layout, leaf)))
			leaf_insert(&tree->layout, leaf, at, key, value);
		else
			split_up(tree, thread, &held, at, key, value);
	}
	for (unsigned int level = 0; level <= held.top; level++)
		release(g, held.node[level], WRITE);
	return !found;
}

/*
 * Split the full @node, whose parent, if any, the thread holds and is not full. Returns
 * the half that is the place of @key, held, and releases the other one.
 */
static __inline_always struct node *split_first(struct guard g, struct node_tree *tree,
						struct node_thread *thread, struct node *parent,
						struct node *node, uint64_t key)
{
	const struct node_layout *layout = &tree->layout;
	struct node *right = node_new(thread, node->level);
	uint64_t separator;

	/* Other threads reach the new node as soon as it is linked. */
	acquire(g, right, WRITE);
	separator = node_split(layout, node, right);
	if (parent)
		inner_insert(layout, parent, keys_below(node_keys(parent), parent->nr, separator),
			     separator, right);
	else
		grow(tree, thread, node, separator, right);
	release(g, key < separator ? right : node, WRITE);
	return key < separator ? node : right;
}

static __inline_always bool insert_proactive(struct guard g, struct node_tree *tree,
					     struct node_thread *thread, uint64_t key,
					     uint64_t value)
{
	const struct node_layout *layout = &tree->layout;
	struct node *parent = NULL, *node = acquire_root(g, tree, WRITE, WRITE);
	unsigned int at;
	bool found;

	for (;;) {
		if (unlikely(node_full(layout, node)))
			node = split_first(g, tree, thread, parent, node, key);
		if (parent)
			release(g, parent, WRITE);
		if (!node->level)
			break;
		parent = node;
		node = child_of(layout, parent, key);
		node_prefetch(layout, node);
		acquire(g, node, WRITE);
	}
	at = leaf_find(node, key, &found);
	if (!found)
		leaf_insert(layout, node, at, key, value);
	release(g, node, WRITE);
	return !found;
}

/*
 * Insert with the modes S, U and X. The insert holds the whole path in mode U, so no other
 * thread but readers is in it. They leave downwards, so the nodes that change are upgraded
 * from the top down.
 */
static bool insert_upgrade(struct guard g, struct node_tree *tree, struct node_thread *thread,
			   uint64_t key, uint64_t value)
{
	const struct node_layout *layout = &tree->layout;
	struct node *leaf = acquire_root(g, tree, UPDATE, UPDATE);
	struct held held = { .top = leaf->level };
	unsigned int changed = 0, at;
	bool found;

	held.node[leaf->level] = leaf;
	while (leaf->level) {
		leaf = child_of(layout, leaf, key);
		acquire(g, leaf, UPDATE);
		held.node[leaf->level] = leaf;
	}
	at = leaf_find(leaf, key, &found);
	/* The nodes that change are the leaf and those above it up to the first not full. */
	while (changed < held.top && node_full(layout, held.node[changed]))
		changed++;
	for (unsigned int level = changed + 1; !found && level-- > 0;)
		sux_upgrade(latch_of(g, held.node[level]));
	if (!found) {
		if (likely(!node_full(layout, leaf)))
			leaf_insert(layout, leaf, at, key, value);
		else
			split_up(tree, thread, &held, at, key, value);
	}
	for (unsigned int level = 0; level <= held.top; level++)
		release(g, held.node[level], !found && level <= changed ? WRITE : UPDATE);
	return !found;
}

static __inline_always bool coupled_insert(struct guard g, struct node_tree *tree,
					   struct node_thread *thread, uint64_t key, uint64_t value)
{
	if (tree->options[BPLUS_OPTION_split] == BPLUS_SPLIT_proactive)
		return insert_proactive(g, tree, thread, key, value);
	return insert_held(g, tree, thread, key, value, true);
}

static __inline_always bool remove_from(struct node_tree *tree, struct node *leaf, uint64_t key,
					uint64_t *value)
{
	bool found;
	unsigned int at = leaf_find(leaf, key, &found);

	if (found)
		*value = leaf_remove(&tree->layout, leaf, at);
	return found;
}

static __inline_always bool coupled_remove(struct guard g, struct node_tree *tree,
					   struct node_thread *thread, uint64_t key,
					   uint64_t *value)
{
	struct node *leaf = couple(g, tree, key, READ, WRITE);
	bool found = remove_from(tree, leaf, key, value);

	release(g, leaf, WRITE);
	return found;
}

/*
 * A delete beside inserts that upgrade: it must not wait for a leaf in mode S of the
 * parent, whose holder may wait for all readers of the parent to leave.
 */
static bool remove_upgrade(struct guard g, struct node_tree *tree, uint64_t key, uint64_t *value)
{
	struct node *leaf = couple(g, tree, key, UPDATE, UPDATE);
	bool found;

	sux_upgrade(latch_of(g, leaf));
	found = remove_from(tree, leaf, key, value);
	release(g, leaf, WRITE);
	return found;
}

static __inline_always void coupled_scan(struct guard g, struct node_tree *tree,
					 struct node_thread *thread, uint64_t from,
					 unsigned long limit, struct scan_result *res)
{
	struct node *leaf = couple(g, tree, from, READ, READ), *right;

	*res = (struct scan_result){ 0 };
	for (;;) {
		scan_leaf(&tree->layout, leaf, from, limit, res);
		right = node_get_link(leaf->right);
		release(g, leaf, READ);
		if (!right || res->nr == limit)
			return;
		leaf = right;
		acquire(g, leaf, READ);
	}
}

/*
 * The scheme latch has two kinds of latches, by --split. The argument @g of these
 * functions is that of the loading, GUARD_NONE, or GUARD_TTAS.
 */
static __inline_always bool modes(struct guard g, const struct node_tree *tree)
{
	return g.latch != &latch_none &&
	       tree->options[BPLUS_OPTION_split] <= BPLUS_SPLIT_upgrade;
}

static __inline_always bool latched_search(struct guard g, struct node_tree *tree,
					   struct node_thread *thread, uint64_t key,
					   uint64_t *value)
{
	if (modes(g, tree))
		return coupled_search(GUARD_SUX, tree, thread, key, value);
	return coupled_search(g, tree, thread, key, value);
}

static __inline_always bool latched_insert(struct guard g, struct node_tree *tree,
					   struct node_thread *thread, uint64_t key, uint64_t value)
{
	if (!modes(g, tree))
		return coupled_insert(g, tree, thread, key, value);
	if (tree->options[BPLUS_OPTION_split] == BPLUS_SPLIT_path)
		return insert_held(GUARD_SUX, tree, thread, key, value, false);
	return insert_upgrade(GUARD_SUX, tree, thread, key, value);
}

static __inline_always bool latched_remove(struct guard g, struct node_tree *tree,
					   struct node_thread *thread, uint64_t key,
					   uint64_t *value)
{
	if (!modes(g, tree))
		return coupled_remove(g, tree, thread, key, value);
	if (tree->options[BPLUS_OPTION_split] == BPLUS_SPLIT_path)
		return coupled_remove(GUARD_SUX, tree, thread, key, value);
	return remove_upgrade(GUARD_SUX, tree, key, value);
}

static __inline_always void latched_scan(struct guard g, struct node_tree *tree,
					 struct node_thread *thread, uint64_t from,
					 unsigned long limit, struct scan_result *res)
{
	if (modes(g, tree))
		coupled_scan(GUARD_SUX, tree, thread, from, limit, res);
	else
		coupled_scan(g, tree, thread, from, limit, res);
}

/* What --split and --node do not go with: @modes, the latches have the modes S, U and X. */
static const char *unfit(const struct index_config *config, char *why, size_t len, bool modes)
{
	enum bplus_split split = bplus_split(config);

	*why = '\0';
	if (split <= BPLUS_SPLIT_upgrade && !modes)
		snprintf(why, len, "--split=%s: with --scheme=latch only, whose latches can be "
			 "shared", bplus_options[BPLUS_OPTION_split].choices[split].name);
	else if (split == BPLUS_SPLIT_proactive && config->options[BPLUS_OPTION_node] <
						       BPLUS_PROACTIVE_BYTES_MIN)
		snprintf(why, len, "--split=proactive: needs --node=%d at least",
			 BPLUS_PROACTIVE_BYTES_MIN);
	return *why ? why : NULL;
}

static const char *exclusive_unfit(const struct index_config *config, char *why, size_t len)
{
	return unfit(config, why, len, false);
}

static const char *latch_unfit(const struct index_config *config, char *why, size_t len)
{
	return unfit(config, why, len, true);
}

#define BPLUS(scheme, family, guard, latching, why)                                                \
	NODE_INDEX(bplus, scheme, family, guard, GUARD_NONE, guard, latching, .unfit = why)

BPLUS(none, coupled, GUARD_NONE, LATCHING_PLAIN, exclusive_unfit)
BPLUS(latch, latched, GUARD_TTAS, LATCHING_PLAIN, latch_unfit)
BPLUS(latch_pthread, coupled, GUARD_SPIN, LATCHING_SPIN, exclusive_unfit)
BPLUS(latch_hle, coupled, GUARD_HLE, LATCHING_PLAIN, exclusive_unfit)
