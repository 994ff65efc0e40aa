// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * bulk.c - builds a Bw-tree from sorted entries (see node/levels.h).
 */
#include "bw.h"
#include "../node/levels.h"

#include <errno.h>

/*
 * struct build - state of bw_bulk()
 * @tree: the tree
 * @thread: the share that provides nodes and IDs
 * @levels: the levels
 * @last: last node of each level that was begun
 */
struct build {
	struct bw_tree *tree;
	struct bw_thread *thread;
	struct levels levels;
	struct bw_node *last[NODE_LEVELS_MAX];
};

/* A node of a level, with an ID. */
static struct bw_node *begin_node(struct build *b, unsigned int level, uint32_t *id)
{
	struct bw_node *node = pool_get(&b->thread->nodes);

	*id = bw_id_new(b->tree, b->thread);
	*node = (struct bw_node){ .head = { .level = (uint8_t)level }, .high = UINT64_MAX };
	*bw_word(b->tree, *id) = (uintptr_t)node;
	return node;
}

/* Build the next node of a level, and all below it. Returns its ID, and its least key in @least. */
static uint32_t build_node(struct build *b, unsigned int level, uint64_t *least)
{
	const struct node_layout *layout = &b->tree->layout;
	uint64_t key, nr;
	uint32_t id;
	struct bw_node *node = begin_node(b, level, &id);

	if (!level) {
		node->head.nr = (uint32_t)levels_leaf(&b->levels, node->slots,
						      bw_values(layout, node));
		*least = node->slots[0];
	} else {
		nr = level_next(&b->levels.level[level]);
		for (unsigned int i = 0; i < nr; i++) {
			bw_children(layout, node)[i] = build_node(b, level - 1, &key);
			if (i)
				node->slots[i - 1] = key;
			else
				*least = key;
		}
		node->head.nr = (uint32_t)(nr - 1);
	}
	if (b->last[level]) {
		b->last[level]->high = *least;
		b->last[level]->right = id;
	}
	b->last[level] = node;
	return id;
}

/**
 * bw_bulk() - build an empty tree from sorted entries
 * @tree: the tree, which no other thread uses
 * @thread: the share that provides nodes and IDs
 * @source: the entries
 *
 * Return: 0; -ENOMEM, or -ENOSPC if the mapping table has not enough IDs, with the tree empty.
 */
int bw_bulk(void *tree, void *thread, const struct bulk_source *source)
{
	struct build b = { .tree = tree, .thread = thread };
	struct bw_tree *t = tree;
	uint64_t nodes, least;
	int err;

	if (!source->nr)
		return 0;
	levels_plan(&b.levels, source, t->layout.leaf_max, t->layout.inner_max + 1u);
	nodes = b.levels.leaves + b.levels.inner;
	if (area_promise(&t->table, 0, BW_IDS, &t->promised, &b.thread->credit, nodes))
		return -ENOSPC;
	err = pool_reserve(&b.thread->nodes, nodes);
	if (err)
		return err;
	/* The ID of the empty root is used again. */
	pool_put(&t->own, (void *)(uintptr_t)bw_get(t, BW_FIRST));
	b.thread->spare[b.thread->nr_spare++] = BW_FIRST;
	*bw_word(t, BW_ROOT) = build_node(&b, b.levels.top, &least);
	return 0;
}
