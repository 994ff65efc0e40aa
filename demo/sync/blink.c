// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * blink.c - the B-link tree: each thread holds at most one latch of a node at a time.
 *
 * The tree is that of Lehman, Yao, ACM TODS 6(4), 1981, with the latches of Schröder,
 * "Using modern synchronization mechanisms in databases", 2016, section 2.4: readers
 * latch, too, and a split leaves the node reachable through its left sibling before the
 * parent gets it, so an insert releases the node before it latches the parent.
 */
#include "link.h"
#include "../blink/blink.h"

static __inline_always bool link_search(struct guard g, struct node_tree *tree,
					struct node_thread *thread, uint64_t key, uint64_t *value)
{
	struct node *leaf = latched_descend(g, tree, thread, key, 0, NULL);

	return latched_find(g, &tree->layout, leaf, key, value);
}

static __inline_always bool link_insert(struct guard g, struct node_tree *tree,
					struct node_thread *thread, uint64_t key, uint64_t value)
{
	return insert_in_steps(g, tree, thread, key, value, latched_descend, latched_add);
}

static __inline_always bool link_remove(struct guard g, struct node_tree *tree,
					struct node_thread *thread, uint64_t key, uint64_t *value)
{
	struct node *leaf = latched_descend(g, tree, thread, key, 0, NULL);

	return latched_take(g, &tree->layout, leaf, key, value);
}

/* Each leaf is read under its latch. */
static __inline_always void link_scan(struct guard g, struct node_tree *tree,
				      struct node_thread *thread, uint64_t from,
				      unsigned long limit, struct scan_result *res)
{
	struct node *leaf = latched_descend(g, tree, thread, from, 0, NULL);

	*res = (struct scan_result){ 0 };
	while (leaf && res->nr < limit)
		leaf = latched_visit(g, &tree->layout, leaf, from, limit, res);
}

#define BLINK(scheme, guard, latching)                                                             \
	NODE_INDEX(blink, scheme, link, guard, GUARD_NONE, guard, latching)

BLINK(none, GUARD_NONE, LATCHING_PLAIN)
BLINK(latch, GUARD_TTAS, LATCHING_PLAIN)
BLINK(latch_pthread, GUARD_SPIN, LATCHING_SPIN)
BLINK(latch_hle, GUARD_HLE, LATCHING_PLAIN)
