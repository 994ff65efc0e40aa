// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * bplus-olc.c - the B+Tree under optimistic latch coupling: readers acquire nothing.
 *
 * Leis, Haubenschild, Neumann, "Optimistic lock coupling: a scalable and efficient
 * general-purpose synchronization method", IEEE Data Engineering Bulletin 42(1), 2019. A
 * thread notes the version of a node, reads the child, notes the version of the child, and
 * compares the version of the node: so the child belonged to the node when its version was
 * noted. If a version has changed, the operation begins again at the root. A thread that
 * changes a node upgrades the version that it noted to a latch. Full nodes are split on the
 * way down, under the latches of the node and of its parent.
 *
 * Nothing is merged or freed, so a stale pointer leads to a node nevertheless.
 */
#include "nodes.h"
#include "../bplus/bplus.h"
#include "../latch/version.h"

#include <stdio.h>

/*
 * struct place - where a descent is
 * @node: the node
 * @version: its version
 * @parent: its parent, NULL above the root
 * @parent_version: version of @parent
 */
struct place {
	struct node *node, *parent;
	uint32_t version, parent_version;
};

static __inline_always bool at_root(struct node_tree *tree, struct place *p)
{
	*p = (struct place){ .node = node_get_link(tree->root) };
	p->version = version_begin(&p->node->word);
	return p->node == node_get_link(tree->root);
}

/* Go to the child of @key. Returns false if a version has changed. */
static __inline_always bool down(const struct node_layout *layout, struct place *p, uint64_t key)
{
	struct node *child = child_of(layout, p->node, key);

	/* The child may be read after this: what a writer is moving need not be a pointer. */
	if (!version_same(&p->node->word, p->version))
		return false;
	node_prefetch(layout, child);
	p->parent = p->node;
	p->parent_version = p->version;
	p->node = child;
	p->version = version_begin(&child->word);
	return version_same(&p->parent->word, p->parent_version);
}

/* The leaf of @key; each failure counts as a restart. */
static __inline_always void find_leaf(struct node_tree *tree, struct node_thread *thread,
				      uint64_t key, struct place *p)
{
	for (;; thread->counts.restarts++) {
		bool ok = at_root(tree, p);

		while (ok && p->node->level)
			ok = down(&tree->layout, p, key);
		if (likely(ok))
			return;
	}
}

static __inline_always bool olc_search(struct guard g, struct node_tree *tree,
				       struct node_thread *thread, uint64_t key, uint64_t *value)
{
	for (;; thread->counts.restarts++) {
		struct place p;
		unsigned int at;
		uint64_t seen = 0;
		bool found;

		find_leaf(tree, thread, key, &p);
		at = leaf_find(p.node, key, &found);
		if (found)
			seen = node_get(node_values(&tree->layout, p.node)[at]);
		if (unlikely(!version_same(&p.node->word, p.version)))
			continue;
		if (found)
			*value = seen;
		return found;
	}
}

/* Acquire @p->node and its parent, which is not full, or is the pointer to the root. */
static bool acquire_both(struct node_tree *tree, const struct place *p)
{
	if (p->parent && !version_upgrade(&p->parent->word, p->parent_version))
		return false;
	if (!version_upgrade(&p->node->word, p->version)) {
		if (p->parent)
			version_release(&p->parent->word);
		return false;
	}
	if (!p->parent && p->node != node_get_link(tree->root)) {
		version_release(&p->node->word);
		return false;
	}
	return true;
}

/* Split the full @p->node. The operation begins again at the root afterwards. */
static void __attribute__((noinline)) split(struct node_tree *tree, struct node_thread *thread,
					    const struct place *p)
{
	const struct node_layout *layout = &tree->layout;
	struct node *right, *parent = p->parent;
	uint64_t key;

	if (!acquire_both(tree, p)) {
		thread->counts.restarts++;
		return;
	}
	right = node_new(thread, p->node->level);
	key = node_split(layout, p->node, right);
	if (parent) {
		inner_insert(layout, parent, keys_below(node_keys(parent), parent->nr, key), key,
			     right);
		version_release(&parent->word);
	} else {
		parent = node_new(thread, p->node->level + 1u);
		node_set_link(node_children(layout, parent)[0], p->node);
		inner_insert(layout, parent, 0, key, right);
		node_set_link(tree->root, parent);
	}
	version_release(&p->node->word);
}

/* The leaf of @key, not full. Full nodes on the way are split. */
static __inline_always void find_room(struct node_tree *tree, struct node_thread *thread,
				      uint64_t key, struct place *p)
{
	const struct node_layout *layout = &tree->layout;

	for (;;) {
		bool ok = at_root(tree, p), full = false;

		while (ok && !(full = node_full(layout, p->node)) && p->node->level)
			ok = down(layout, p, key);
		if (likely(ok && !full))
			return;
		if (ok)
			split(tree, thread, p);
		else
			thread->counts.restarts++;
	}
}

static __inline_always bool olc_insert(struct guard g, struct node_tree *tree,
				       struct node_thread *thread, uint64_t key, uint64_t value)
{
	for (;; thread->counts.restarts++) {
		struct place p;
		unsigned int at;
		bool found;

		find_room(tree, thread, key, &p);
		at = leaf_find(p.node, key, &found);
		if (found && likely(version_same(&p.node->word, p.version)))
			return false;
		if (found || unlikely(!version_upgrade(&p.node->word, p.version)))
			continue;
		leaf_insert(&tree->layout, p.node, at, key, value);
		version_release(&p.node->word);
		return true;
	}
}

static __inline_always bool olc_remove(struct guard g, struct node_tree *tree,
				       struct node_thread *thread, uint64_t key, uint64_t *value)
{
	for (;; thread->counts.restarts++) {
		struct place p;
		unsigned int at;
		bool found;

		find_leaf(tree, thread, key, &p);
		at = leaf_find(p.node, key, &found);
		if (!found && likely(version_same(&p.node->word, p.version)))
			return false;
		if (!found || unlikely(!version_upgrade(&p.node->word, p.version)))
			continue;
		*value = leaf_remove(&tree->layout, p.node, at);
		version_release(&p.node->word);
		return true;
	}
}

/* A leaf that changed is read again: what it lost is in its right siblings. */
static __inline_always void olc_scan(struct guard g, struct node_tree *tree,
				     struct node_thread *thread, uint64_t from,
				     unsigned long limit, struct scan_result *res)
{
	struct place p;

	*res = (struct scan_result){ 0 };
	find_leaf(tree, thread, from, &p);
	while (p.node && res->nr < limit) {
		struct scan_result more = *res;
		struct node *right;

		scan_leaf(&tree->layout, p.node, from, limit, &more);
		right = node_get_link(p.node->right);
		if (likely(version_same(&p.node->word, p.version))) {
			*res = more;
			p.node = right;
		} else {
			thread->counts.restarts++;
		}
		if (p.node)
			p.version = version_begin(&p.node->word);
	}
}

/* Options that do not go with the scheme: it always splits full nodes on the way down. */
static const char *unfit(const struct index_config *config, char *why, size_t len)
{
	if (bplus_split(config) != BPLUS_SPLIT_safe)
		snprintf(why, len, "--split: --scheme=olc splits each full node on its way");
	else if (config->options[BPLUS_OPTION_node] < BPLUS_PROACTIVE_BYTES_MIN)
		snprintf(why, len, "--scheme=olc: needs --node=%d at least",
			 BPLUS_PROACTIVE_BYTES_MIN);
	else
		return NULL;
	return why;
}

NODE_INDEX(bplus, olc, olc, GUARD_NONE, GUARD_NONE, GUARD_NONE, LATCHING_VERSION,
	   .counts = node_index_counts, .unfit = unfit)
