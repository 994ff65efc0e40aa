// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * check.c - checks a Bw-tree at rest: order, high keys, chains, that each ID is used once and
 * each node and block is in exactly one place. All records are applied to copies of the nodes.
 */
#include "bw.h"

#include "../index/census.h"
#include "../index/check.h"

#include <stdlib.h>

/*
 * struct view - a node with all records applied
 * @id: its ID
 * @right: ID of its right sibling
 * @high: its high key
 * @level: its level
 * @nr: number of keys
 * @counted: the same as the newest record has it
 * @keys: the keys
 * @children: IDs of the children of an inner node
 */
struct view {
	uint32_t id, right;
	uint64_t high;
	unsigned int level, nr, counted;
	uint64_t keys[NODE_BYTES_MAX / 16 + BW_CHAIN_MAX];
	uint32_t children[NODE_BYTES_MAX / 16 + BW_CHAIN_MAX + 1];
};

/*
 * struct bw_census - the tree that is checked
 * @tree: the tree
 * @nodes: its nodes and blocks
 * @ids: number of IDs that the tree has
 * @views: the two last nodes of each level: the one that is checked and its left sibling
 * @now: which of the two is the last
 */
struct bw_census {
	const struct bw_tree *tree;
	struct census nodes;
	uint64_t ids;
	struct view views[BW_LEVELS_MAX][2];
	unsigned int now[BW_LEVELS_MAX];
};

CHECK_NODE_OF_NUMBERS(struct view, keys)

static const void *high(const struct check *check, const void *node)
{
	return &((const struct view *)node)->high;
}

/* The sibling is the view behind it, if that has its ID, else any other address. */
static const void *next(const struct check *check, const void *node)
{
	struct bw_census *census = check->ctx;
	const struct view *view = node;
	const struct view *last = &census->views[view->level][census->now[view->level]];

	if (!view->right)
		return NULL;
	return last != view && last->id == view->right ? last : (const void *)census;
}

/* The node of ID @id as a view. NULL if there is no such ID or its level is not @level. */
static const struct view *view_of(struct bw_census *census, uint32_t id, unsigned int level)
{
	const struct bw_tree *tree = census->tree;
	const struct bw_head *head = id < tree->ids ? bw_get(tree, id) : NULL;
	struct view *view = &census->views[level][census->now[level] ^ 1];
	struct bw_merge merge;
	uint64_t value;

	if (!head || head->level != level || bw_node(head)->head.nr > tree->layout.leaf_max)
		return NULL;
	census->now[level] ^= 1;
	census->ids++;
	census_add(&census->nodes, bw_node(head));
	if (head->kind != BW_NODE)
		census_add(&census->nodes, bw_block(head));
	bw_merge_begin(&merge, &tree->layout, head, NULL);
	view->id = id;
	view->right = merge.node->right;
	view->high = merge.node->high;
	view->level = head->level;
	view->children[0] = bw_children(&tree->layout, merge.node)[0];
	for (view->nr = 0; bw_merge_next(&merge, &view->keys[view->nr], &value); view->nr++)
		view->children[view->nr + 1] = (uint32_t)value;
	view->counted = head->nr;
	return view;
}

static const void *child(const struct check *check, const void *node, unsigned int i)
{
	const struct view *view = node;

	return view_of(check->ctx, view->children[i], view->level - 1);
}

static int visit(struct check *check, const void *node)
{
	const struct bw_census *census = check->ctx;
	const struct node_layout *layout = &census->tree->layout;
	const struct view *view = node;

	if (view->level && view->nr > layout->inner_max + census->tree->chain_inner)
		return fault(&check->fault, "a node of level %u with %u keys", view->level,
			     view->nr);
	if (view->nr != view->counted)
		return fault(&check->fault, "a node of level %u with %u keys and the number %u",
			     view->level, view->nr, view->counted);
	return 0;
}

/* Each ID that was taken is in the tree or spare, and each node and block in one place. */
static int all_check(struct bw_census *census, const struct fault *where)
{
	const struct bw_tree *tree = census->tree;
	uint64_t taken = tree->ids - BW_FIRST, spare = 0;

	census_add_pool(&census->nodes, &tree->own);
	for (const struct bw_thread *t = bw_thread_first(tree); t; t = bw_thread_next(t)) {
		census_add_pool(&census->nodes, &t->nodes);
		census_add_pool(&census->nodes, &t->blocks);
		census_add_retired(&census->nodes, &t->epoch);
		spare += t->nr_spare;
	}
	if (census->ids + spare != taken)
		return fault(where, "%llu IDs in the tree and %llu spare ones, of %llu",
			     (unsigned long long)census->ids, (unsigned long long)spare,
			     (unsigned long long)taken);
	return census_check(&census->nodes, where);
}

static uint64_t nodes_of(const struct bw_tree *tree)
{
	uint64_t nodes = tree->own.nr_nodes;

	for (const struct bw_thread *t = bw_thread_first(tree); t; t = bw_thread_next(t))
		nodes += t->nodes.nr_nodes + t->blocks.nr_nodes;
	return nodes;
}

static int tree_and_ids_check(struct check *check)
{
	struct bw_census *census = check->ctx;
	const struct bw_tree *tree = census->tree;
	uint32_t root = bw_root(tree);
	const struct bw_head *head = root < tree->ids ? bw_get(tree, root) : NULL;
	const struct view *view = NULL;

	if (head && head->level < BW_LEVELS_MAX)
		view = view_of(census, root, head->level);
	if (!view)
		return fault(&check->fault, "ID %u is no root", root);
	if (tree->latch)
		return fault(&check->fault, "the latch of the mapping table is held");
	if (tree_check(check, view))
		return -1;
	return all_check(census, &check->fault);
}

/**
 * bw_check() - check a tree at rest
 * @tree: the tree; no other thread may use it
 * @why: receives the description of the first fault, without quotes or backslashes
 * @len: size of @why in bytes
 *
 * Return: true if the tree is correct, else false with @why written.
 */
bool bw_check(const void *tree, char *why, size_t len)
{
	const struct bw_tree *t = tree;
	struct bw_census *census = calloc(1, sizeof(*census));
	struct check_ops ops = {
		CHECK_NUMBERS,
		.max = (unsigned int)t->layout.leaf_max + t->chain,
		.levels = BW_LEVELS_MAX,
		.child = child,
		.next = next,
		.high = high,
		.visit = visit,
	};
	struct check check = { .ops = &ops, .fault = { why, len }, .ctx = census };
	int err;

	if (!census) {
		fault(&check.fault, "out of memory for the check");
		return false;
	}
	census->tree = t;
	census_begin(&census->nodes, nodes_of(t));
	err = tree_and_ids_check(&check);
	census_end(&census->nodes);
	free(census);
	return !err;
}

/* What the ID of the first node of a level maps to. */
static const struct bw_head *first_of_level(const struct bw_tree *tree, unsigned int level)
{
	const struct bw_head *head = bw_get(tree, bw_root(tree));

	while (head->level > level)
		head = bw_get(tree, bw_children(&tree->layout, bw_node(head))[0]);
	return head;
}

static const struct bw_head *right_of(const struct bw_tree *tree, const struct bw_head *head)
{
	uint32_t right = bw_node(head)->right;

	return right ? bw_get(tree, right) : NULL;
}

/**
 * bw_walk() - call a function for all entries in the order of the leaf list
 * @tree: the tree
 * @visit: called for each entry; a result other than 0 ends the walk
 * @ctx: first argument of @visit
 *
 * Return: the result of the last @visit, 0 for an empty tree.
 */
int bw_walk(const void *tree, visit_fn visit, void *ctx)
{
	const struct bw_tree *t = tree;
	struct bw_merge merge;
	uint64_t key, value;
	int ret = 0;

	for (const struct bw_head *leaf = first_of_level(t, 0); leaf; leaf = right_of(t, leaf)) {
		bw_merge_begin(&merge, &t->layout, leaf, NULL);
		while (!ret && bw_merge_next(&merge, &key, &value))
			ret = visit(ctx, key, value);
	}
	return ret;
}

/**
 * bw_shape() - the size of a tree
 * @tree: the tree; no other thread may use it
 * @shape: receives it; the bytes are those of nodes, of blocks and of the IDs that are in use
 */
void bw_shape(const void *tree, struct tree_shape *shape)
{
	const struct bw_tree *t = tree;

	*shape = (struct tree_shape){ .height = bw_get(t, bw_root(t))->level + 1u };
	for (unsigned int level = 0; level < shape->height; level++) {
		const struct bw_head *head = first_of_level(t, level);

		for (; head; head = right_of(t, head)) {
			if (level) {
				shape->inner++;
			} else {
				shape->leaves++;
				shape->entries += head->nr;
			}
			shape->bytes += t->layout.bytes + sizeof(uint64_t);
			shape->bytes += head->kind == BW_NODE ? 0 : t->blocks.size;
		}
	}
}
