// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * bx.c - the Bx tree: a B-link tree whose steps are transactions first.
 *
 * Schröder, "Using modern synchronization mechanisms in databases", 2016, chapter 5. One
 * transaction descends from the root to a pointer to a leaf, one does the work in the leaf,
 * and after a split one for each parent inserts the new node. A transaction reads the latch
 * of each node before the node, and aborts if it is held. So a thread that acquires the
 * latch later aborts it. The path of a step:
 *
 *	an attempt commits                                      the next step begins
 *	it aborts, a retry is advised, and attempts are left    PAUSE, the next attempt
 *	it aborts otherwise: capacity, a held latch, interrupt  the fallback
 *	the fallback has done the step                          the next step begins
 *
 * With --fallback=latch (the thesis) a fallback descends as blink does: it latches the root
 * to read it, which aborts the transactions of all threads that read the root. With
 * --fallback=version it reads as olfit does and writes only what it changes; then a
 * transaction raises the version of a node that it changes.
 *
 * A new root is made under the latch of the tree, never in a transaction: it happens once
 * for each level. The nodes that a split needs are in the thread's pool, so a transaction
 * allocates nothing.
 */
#include "attempt.h"
#include "link-version.h"
#include "../bx/bx.h"

#include <stdio.h>

static __inline_always bool by_version(struct guard g)
{
	return g.latch == &latch_version;
}

/*
 * Begin a transaction for a step. Returns true in the transaction, which commit() ends. Each
 * abort continues here; false is returned if the step must do without.
 */
static __inline_always bool begin(const struct node_tree *tree, struct node_thread *thread)
{
	uint64_t left = usable ? tree->options[BX_OPTION_attempts] : 0;

	if (!left)
		return false;
	for (;;) {
		unsigned int status;

		thread->counts.begun++;
		status = rtm_begin();
		if (likely(status == RTM_STARTED))
			return true;
		if (!aborted(&thread->counts, status) || !--left)
			break;
		__builtin_ia32_pause();
	}
	thread->counts.fallbacks++;
	return false;
}

static __inline_always void commit(struct node_thread *thread)
{
	rtm_end();
	thread->counts.committed++;
}

/* Have the latch of @node in the read set, free. */
static __inline_always void expect_free(struct guard g, struct node *node)
{
	if (unlikely(by_version(g) ? !version_free(&node->word) : node_get(node->latch)))
		rtm_abort();
}

/* In a transaction: from @node to the right until a node is the place of @key. */
static __inline_always struct node *free_right(struct guard g, struct node *node, uint64_t key)
{
	expect_free(g, node);
	while (node_beyond(node, key)) {
		node = node_get_link(node->right);
		expect_free(g, node);
	}
	return node;
}

/* In a transaction that has changed @node: readers by version must see that. */
static __inline_always void changed(struct guard g, struct node *node)
{
	if (by_version(g))
		node_set(node->word, node->word + 2 * VERSION_HELD);
}

/* A descend_fn. The node that it returns is not read: who writes it need not abort this. */
static __inline_always struct node *tx_descend(struct guard g, struct node_tree *tree,
					       struct node_thread *thread, uint64_t key,
					       unsigned int to, struct path *path)
{
	const struct node_layout *layout = &tree->layout;
	struct node *node;

	if (!begin(tree, thread)) {
		if (by_version(g))
			return noted_descend(g, tree, thread, key, to, path);
		return latched_descend(g, tree, thread, key, to, path);
	}
	node = node_get_link(tree->root);
	if (path)
		path->top = node->level;
	for (unsigned int level = node->level; level > to; level--) {
		node = free_right(g, node, key);
		if (path)
			path->node[level] = node;
		node = child_of(layout, node, key);
		node_prefetch(layout, node);
	}
	commit(thread);
	return node;
}

/* An add_fn. */
static __inline_always enum added tx_add(struct guard g, struct node_tree *tree,
					 struct node_thread *thread, struct node *node,
					 struct pending *p)
{
	enum added added;

	if (!begin(tree, thread)) {
		if (by_version(g))
			return noted_add(g, tree, thread, node, p);
		return latched_add(g, tree, thread, node, p);
	}
	node = free_right(g, node, p->key);
	added = add_to(&tree->layout, thread, node, p);
	if (added != PRESENT)
		changed(g, node);
	commit(thread);
	return added;
}

static __inline_always bool tx_search(struct guard g, struct node_tree *tree,
				      struct node_thread *thread, uint64_t key, uint64_t *value)
{
	const struct node_layout *layout = &tree->layout;
	struct node *leaf = tx_descend(g, tree, thread, key, 0, NULL);
	unsigned int at;
	bool found;

	if (!begin(tree, thread)) {
		if (by_version(g))
			return noted_find(thread, layout, leaf, key, value);
		return latched_find(g, layout, leaf, key, value);
	}
	leaf = free_right(g, leaf, key);
	at = leaf_find(leaf, key, &found);
	if (found)
		*value = node_get(node_values(layout, leaf)[at]);
	commit(thread);
	return found;
}

static __inline_always bool tx_remove(struct guard g, struct node_tree *tree,
				      struct node_thread *thread, uint64_t key, uint64_t *value)
{
	const struct node_layout *layout = &tree->layout;
	struct node *leaf = tx_descend(g, tree, thread, key, 0, NULL);
	unsigned int at;
	bool found;

	if (!begin(tree, thread)) {
		if (by_version(g))
			return noted_take(thread, layout, leaf, key, value);
		return latched_take(g, layout, leaf, key, value);
	}
	leaf = free_right(g, leaf, key);
	at = leaf_find(leaf, key, &found);
	if (found) {
		*value = leaf_remove(layout, leaf, at);
		changed(g, leaf);
	}
	commit(thread);
	return found;
}

/* Add the entries of a leaf to a scan; returns the next leaf or NULL. */
static __inline_always struct node *tx_visit(struct guard g, struct node_tree *tree,
					     struct node_thread *thread, struct node *leaf,
					     uint64_t from, unsigned long limit,
					     struct scan_result *res)
{
	struct node *right;

	if (!begin(tree, thread)) {
		if (by_version(g))
			return noted_visit(thread, &tree->layout, leaf, from, limit, res);
		return latched_visit(g, &tree->layout, leaf, from, limit, res);
	}
	leaf = free_right(g, leaf, from);
	scan_leaf(&tree->layout, leaf, from, limit, res);
	right = node_get_link(leaf->right);
	commit(thread);
	return right;
}

/* Each leaf is read in a transaction of its own. */
static __inline_always void tx_scan(struct guard g, struct node_tree *tree,
				    struct node_thread *thread, uint64_t from,
				    unsigned long limit, struct scan_result *res)
{
	struct node *leaf = tx_descend(g, tree, thread, from, 0, NULL);

	*res = (struct scan_result){ 0 };
	while (leaf && res->nr < limit)
		leaf = tx_visit(g, tree, thread, leaf, from, limit, res);
}

/*
 * The fallback is an option, so each operation is compiled for both. The argument @g of
 * these functions is that of the loading, GUARD_NONE, or any other one.
 */
#define CALL(operation, tree, ...)                                                                 \
	((tree)->options[BX_OPTION_fallback] == BX_FALLBACK_version ?                              \
		 operation(GUARD_VERSION, tree, __VA_ARGS__) :                                     \
		 operation(GUARD_TTAS, tree, __VA_ARGS__))

static __inline_always bool bx_search(struct guard g, struct node_tree *tree,
				      struct node_thread *thread, uint64_t key, uint64_t *value)
{
	return CALL(tx_search, tree, thread, key, value);
}

static __inline_always bool bx_insert(struct guard g, struct node_tree *tree,
				      struct node_thread *thread, uint64_t key, uint64_t value)
{
	if (g.latch == &latch_none)
		return insert_in_steps(g, tree, thread, key, value, latched_descend, latched_add);
	return CALL(insert_in_steps, tree, thread, key, value, tx_descend, tx_add);
}

static __inline_always bool bx_remove(struct guard g, struct node_tree *tree,
				      struct node_thread *thread, uint64_t key, uint64_t *value)
{
	return CALL(tx_remove, tree, thread, key, value);
}

static __inline_always void bx_scan(struct guard g, struct node_tree *tree,
				    struct node_thread *thread, uint64_t from,
				    unsigned long limit, struct scan_result *res)
{
	CALL(tx_scan, tree, thread, from, limit, res);
}

static const char *unfit(const struct index_config *config, char *why, size_t len)
{
	if (rtm_usable() || !config->options[BX_OPTION_attempts])
		return NULL;
	snprintf(why, len, "--scheme=rtm: this processor has no RTM; possible with --attempts=0, "
		 "which acquires latches");
	return why;
}

/* The latch of the tree is free for both guards when its bytes are 0. */
NODE_INDEX(bx, rtm, bx, GUARD_TTAS, GUARD_NONE, GUARD_TTAS, LATCHING_VERSION,
	   .counts = node_index_counts, .unfit = unfit)
