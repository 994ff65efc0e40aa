// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * bulk.c - builds a CSB+ tree from sorted entries (see node/levels.h).
 */
#include "csb.h"
#include "../node/levels.h"

/*
 * struct build - state of csb_bulk()
 * @tree: the tree
 * @thread: the share whose pool provides the groups
 * @levels: the levels
 */
struct build {
	struct csb_tree *tree;
	struct csb_thread *thread;
	struct levels levels;
};

static uint64_t build_leaf(struct build *b, struct csb_node *leaf)
{
	leaf->level = 0;
	leaf->children = NULL;
	leaf->nr = (uint16_t)levels_leaf(&b->levels, leaf->slots,
					 csb_values(&b->tree->layout, leaf));
	return leaf->slots[0];
}

/* Build the next node of a level, and all below it, at @node. Returns its least key. */
static uint64_t build_node(struct build *b, struct csb_node *node, unsigned int level)
{
	const struct node_layout *layout = &b->tree->layout;
	uint64_t least = 0, key, nr;

	if (!level)
		return build_leaf(b, node);
	nr = level_next(&b->levels.level[level]);
	node->level = (uint8_t)level;
	node->children = csb_group_new(b->thread);
	node->nr = (uint16_t)(nr - 1);
	for (unsigned int i = 0; i < nr; i++) {
		key = build_node(b, csb_child(layout, node, i), level - 1);
		if (i)
			node->slots[i - 1] = key;
		else
			least = key;
	}
	return least;
}

/**
 * csb_bulk() - build an empty tree from sorted entries
 * @tree: the tree, which no other thread uses
 * @thread: the share whose pool provides the groups
 * @source: the entries
 *
 * Return: 0, or -ENOMEM with the tree empty.
 */
int csb_bulk(void *tree, void *thread, const struct bulk_source *source)
{
	struct build b = { .tree = tree, .thread = thread };
	struct csb_node *root;
	int err;

	if (!source->nr)
		return 0;
	levels_plan(&b.levels, source, b.tree->layout.leaf_max,
		    csb_children_max(&b.tree->layout));
	/* A group for each inner node, and one for the root. */
	err = pool_reserve(&b.thread->pool, b.levels.inner + 1);
	if (err)
		return err;
	root = csb_group_new(b.thread);
	build_node(&b, root, b.levels.top);
	pool_put(&b.tree->own, b.tree->root);
	b.tree->root = root;
	return 0;
}
