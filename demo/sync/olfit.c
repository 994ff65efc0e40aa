// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * olfit.c - the B-link tree by versions: a thread latches a node only to change it.
 *
 * OLFIT is optimistic, latch-free index traversal: Cha, Hwang, Kim, Kwon, "Cache-conscious
 * concurrency control of main-memory indexes on shared-memory multiprocessor systems",
 * VLDB 2001, section 3, on the tree of Lehman and Yao as in Schröder, "Using modern
 * synchronization mechanisms in databases", 2016, section 2.7. There an insert latches
 * its leaf before it searches it. Here it reads the leaf first and latches it only if
 * it changes the leaf, so an insert of a key that is there writes nothing.
 */
#include "link-version.h"
#include "../olfit/olfit.h"

static __inline_always bool version_search(struct guard g, struct node_tree *tree,
					   struct node_thread *thread, uint64_t key,
					   uint64_t *value)
{
	struct node *leaf = noted_descend(g, tree, thread, key, 0, NULL);

	return noted_find(thread, &tree->layout, leaf, key, value);
}

static __inline_always bool version_insert(struct guard g, struct node_tree *tree,
					   struct node_thread *thread, uint64_t key,
					   uint64_t value)
{
	return insert_in_steps(g, tree, thread, key, value, noted_descend, noted_add);
}

static __inline_always bool version_remove(struct guard g, struct node_tree *tree,
					   struct node_thread *thread, uint64_t key,
					   uint64_t *value)
{
	struct node *leaf = noted_descend(g, tree, thread, key, 0, NULL);

	return noted_take(thread, &tree->layout, leaf, key, value);
}

/* Each leaf is read as it was at one time. */
static __inline_always void version_scan(struct guard g, struct node_tree *tree,
					 struct node_thread *thread, uint64_t from,
					 unsigned long limit, struct scan_result *res)
{
	struct node *leaf = noted_descend(g, tree, thread, from, 0, NULL);

	*res = (struct scan_result){ 0 };
	while (leaf && res->nr < limit)
		leaf = noted_visit(thread, &tree->layout, leaf, from, limit, res);
}

NODE_INDEX(olfit, version, version, GUARD_VERSION, GUARD_VERSION, GUARD_VERSION, LATCHING_VERSION,
	   .counts = node_index_counts)
