// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * bulk.c - builds a CSB+ tree from sorted entries.
 *
 * The sizes of the nodes of all levels are drawn twice (see node/sizes.h): at first to count
 * the nodes, so that all memory is reserved before the tree changes, and then to fill them.
 */
#include "csb.h"
#include "../node/sizes.h"

/*
 * struct level - a level under construction
 * @sizes: the sizes of its nodes
 * @left: entries, or nodes of the level below, that no node of the level has yet
 */
struct level {
	struct sizes sizes;
	uint64_t left;
};

/*
 * struct build - state of csb_bulk()
 * @tree: the tree
 * @thread: the share whose pool provides the groups
 * @source: the entries
 * @entry: number of the next entry
 * @top: level of the root
 * @levels: the levels
 */
struct build {
	struct csb_tree *tree;
	struct csb_thread *thread;
	const struct bulk_source *source;
	uint64_t entry;
	unsigned int top;
	struct level levels[NODE_LEVELS_MAX];
};

static struct level level_of(const struct build *b, unsigned int level, uint64_t elements)
{
	const struct node_layout *layout = &b->tree->layout;
	unsigned int fill = b->source->fill;

	return (struct level){
		.sizes = level ? sizes_of(csb_children_max(layout), 2, fill) :
				 sizes_of(layout->leaf_max, 1, fill),
		.left = elements,
	};
}

static uint64_t level_next(struct level *level)
{
	uint64_t size = sizes_next(&level->sizes, level->left);

	level->left -= size;
	return size;
}

/* Prepare all levels. Returns the number of groups: one for each inner node, one for the root. */
static uint64_t plan(struct build *b)
{
	uint64_t groups = 1, nodes = b->source->nr;

	for (unsigned int level = 0;; level++) {
		struct level count = level_of(b, level, nodes);

		b->levels[level] = count;
		for (nodes = 0; count.left; nodes++)
			level_next(&count);
		groups += level ? nodes : 0;
		if (nodes == 1) {
			b->top = level;
			return groups;
		}
	}
}

static uint64_t build_leaf(struct build *b, struct csb_node *leaf)
{
	const struct bulk_source *source = b->source;
	uint64_t nr = level_next(&b->levels[0]);

	leaf->level = 0;
	leaf->children = NULL;
	leaf->nr = (uint16_t)nr;
	for (uint64_t i = 0; i < nr; i++)
		source->entry(source->ctx, b->entry++, &leaf->slots[i],
			      &csb_values(&b->tree->layout, leaf)[i]);
	return leaf->slots[0];
}

/* Build the next node of a level, and all below it, at @node. Returns its least key. */
static uint64_t build_node(struct build *b, struct csb_node *node, unsigned int level)
{
	const struct node_layout *layout = &b->tree->layout;
	uint64_t least = 0, key, nr;

	if (!level)
		return build_leaf(b, node);
	nr = level_next(&b->levels[level]);
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
	struct build b = { .tree = tree, .thread = thread, .source = source };
	struct csb_node *root;
	int err;

	if (!source->nr)
		return 0;
	err = pool_reserve(&b.thread->pool, plan(&b));
	if (err)
		return err;
	root = csb_group_new(b.thread);
	build_node(&b, root, b.top);
	pool_put(&b.tree->own, b.tree->root);
	b.tree->root = root;
	return 0;
}
