// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * btree.c - search, insert, remove and scan of a B+Tree.
 *
 * No function acquires a latch (see btree.h). An operation that changes one leaf
 * writes that leaf and nothing else; the descent records no path. Only if the leaf
 * is full, or has the minimum of keys, a second descent splits or refills nodes of
 * the path, from the top down.
 */
#include "btree.h"

#include <string.h>

/* Bytes of a slot: an element of the arrays of keys, values and children. */
#define SLOT sizeof(uint64_t)
_Static_assert(sizeof(struct btree_node *) == SLOT, "children are slots");

/* Open a gap of one slot at @at in an array of @nr slots. */
static void slot_open(void *array, unsigned int nr, unsigned int at)
{
	char *p = (char *)array + at * SLOT;

	memmove(p + SLOT, p, (nr - at) * SLOT);
}

/* Remove the slot at @at from an array of @nr slots. */
static void slot_close(void *array, unsigned int nr, unsigned int at)
{
	char *p = (char *)array + at * SLOT;

	memmove(p, p + SLOT, (nr - at - 1) * SLOT);
}

/*
 * The number of keys of @node that are below @bound. The search has no branch on the
 * comparison, because the processor would mispredict it half of the time.
 */
static __inline_always unsigned int keys_below_counted(const struct btree_node *node,
						       uint64_t bound, struct footprint *fp)
{
	const uint64_t *base = node->keys;
	unsigned int nr = node->nr;

	footprint_read(fp, node, offsetof(struct btree_node, keys));
	while (nr > 1) {
		unsigned int half = nr / 2;

		footprint_read(fp, &base[half - 1], SLOT);
		base += base[half - 1] < bound ? half : 0;
		nr -= half;
	}
	if (nr)
		footprint_read(fp, base, SLOT);
	return (unsigned int)(base - node->keys) + (nr && *base < bound);
}

static unsigned int keys_below(const struct btree_node *node, uint64_t bound)
{
	return keys_below_counted(node, bound, NULL);
}

/*
 * Prefetch all lines of a node that have keys. The branch-free search does not
 * speculate, so without the prefetch it would wait for one line after the other. A
 * prefetch does not add a line to the read set of a transaction.
 */
static __inline_always void prefetch_keys(const struct btree_node *node)
{
	for (size_t line = 0; line < offsetof(struct btree_node, values); line += CACHE_LINE)
		__builtin_prefetch((const char *)node + line);
}

/* Prefetch the values of a leaf for writing. An insert moves half of them on average. */
static __inline_always void prefetch_values(const struct btree_node *leaf)
{
	for (size_t line = offsetof(struct btree_node, values); line < sizeof(*leaf);
	     line += CACHE_LINE)
		__builtin_prefetch((const char *)leaf + line, 1);
}

/* The number of the child of @node whose subtree is the place of @key. */
static __inline_always unsigned int child_slot_counted(const struct btree_node *node, uint64_t key,
						       struct footprint *fp)
{
	unsigned int slot = keys_below_counted(node, key, fp);

	footprint_read(fp, &node->keys[slot < node->nr ? slot : 0], SLOT);
	return slot + (slot < node->nr && node->keys[slot] == key);
}

static unsigned int child_slot(const struct btree_node *node, uint64_t key)
{
	return child_slot_counted(node, key, NULL);
}

/* The leaf that is the place of @key. */
static __inline_always struct btree_node *leaf_of_counted(const struct btree *tree, uint64_t key,
							  struct footprint *fp)
{
	struct btree_node *node = tree->root;

	footprint_read(fp, &tree->root, sizeof(tree->root));
	while (node->level) {
		unsigned int slot = child_slot_counted(node, key, fp);

		footprint_read(fp, &node->children[slot], SLOT);
		node = node->children[slot];
		prefetch_keys(node);
	}
	return node;
}

static struct btree_node *leaf_of(const struct btree *tree, uint64_t key)
{
	return leaf_of_counted(tree, key, NULL);
}

static bool leaf_has(const struct btree_node *leaf, unsigned int at, uint64_t key)
{
	return at < leaf->nr && leaf->keys[at] == key;
}

static struct btree_node *node_new(struct node_pool *pool, unsigned int level)
{
	struct btree_node *node = pool_get(pool);

	node->nr = 0;
	node->level = level;
	return node;
}

static __inline_always bool search(const struct btree *tree, uint64_t key, uint64_t *value,
				   struct footprint *fp)
{
	const struct btree_node *leaf = leaf_of_counted(tree, key, fp);
	unsigned int at = keys_below_counted(leaf, key, fp);

	if (!leaf_has(leaf, at, key))
		return false;
	footprint_read(fp, &leaf->keys[at], SLOT);
	footprint_read(fp, &leaf->values[at], SLOT);
	*value = leaf->values[at];
	return true;
}

/**
 * btree_search() - look a key up
 * @tree: the tree
 * @key: the key
 * @value: receives the value of @key
 *
 * Return: true if @key is present.
 */
bool btree_search(const struct btree *tree, uint64_t key, uint64_t *value)
{
	return search(tree, key, value, NULL);
}

/**
 * btree_search_counted() - look a key up and record the cache lines that are read
 * @tree: the tree
 * @key: the key
 * @value: receives the value of @key
 * @fp: receives the cache lines
 *
 * Return: true if @key is present.
 */
bool btree_search_counted(const struct btree *tree, uint64_t key, uint64_t *value,
			  struct footprint *fp)
{
	return search(tree, key, value, fp);
}

/* Insert @key and the subtree to its right into @parent, which is not full. */
static void inner_insert(struct btree_node *parent, unsigned int slot, uint64_t key,
			 struct btree_node *right)
{
	slot_open(parent->keys, parent->nr, slot);
	slot_open(parent->children, parent->nr + 1, slot + 1);
	parent->keys[slot] = key;
	parent->children[slot + 1] = right;
	parent->nr++;
}

/*
 * Split the full child @slot of @parent into two halves. The middle key of an inner
 * node moves to @parent. The middle key of a leaf is copied to @parent, and its entry
 * becomes the first of the right half.
 */
static void split_child(struct btree_node *parent, unsigned int slot, struct node_pool *pool)
{
	struct btree_node *left = parent->children[slot];
	struct btree_node *right = node_new(pool, left->level);
	uint64_t middle = left->keys[BTREE_KEYS_MIN];
	unsigned int from = BTREE_KEYS_MIN;

	if (left->level) {
		from++;
		memcpy(right->children, left->children + from, (BTREE_KEYS + 1 - from) * SLOT);
	} else {
		memcpy(right->values, left->values + from, (BTREE_KEYS - from) * SLOT);
		right->next = left->next;
		left->next = right;
	}
	memcpy(right->keys, left->keys + from, (BTREE_KEYS - from) * SLOT);
	right->nr = BTREE_KEYS - from;
	left->nr = BTREE_KEYS_MIN;
	inner_insert(parent, slot, middle, right);
}

/*
 * Split the full leaf that is the place of @key. Its ancestors that this would
 * overflow, which are the unbroken run of full nodes above it, are split first, from
 * the top down. Returns the leaf that is the place of @key after the split.
 */
static struct btree_node *leaf_make_room(struct btree *tree, struct node_pool *pool, uint64_t key)
{
	struct btree_node *node, *roomy = NULL;

	for (node = tree->root; node->level; node = node->children[child_slot(node, key)])
		if (node->nr < BTREE_KEYS)
			roomy = node;
	if (!roomy) {
		roomy = node_new(pool, tree->root->level + 1);
		roomy->children[0] = tree->root;
		tree->root = roomy;
	}
	for (node = roomy; node->level; node = node->children[child_slot(node, key)])
		split_child(node, child_slot(node, key), pool);
	return node;
}

/**
 * btree_insert() - insert a key
 * @tree: the tree
 * @pool: the calling thread's pool, with at least BTREE_NODES_PER_INSERT free nodes
 * @key: the key
 * @value: the value of @key
 *
 * Return: true if @key was absent. If it was present, nothing is written.
 */
bool btree_insert(struct btree *tree, struct node_pool *pool, uint64_t key, uint64_t value)
{
	struct btree_node *leaf = leaf_of(tree, key);
	unsigned int at;

	prefetch_values(leaf);
	at = keys_below(leaf, key);
	if (leaf_has(leaf, at, key))
		return false;
	if (unlikely(leaf->nr == BTREE_KEYS)) {
		leaf = leaf_make_room(tree, pool, key);
		at = keys_below(leaf, key);
	}
	slot_open(leaf->keys, leaf->nr, at);
	slot_open(leaf->values, leaf->nr, at);
	leaf->keys[at] = key;
	leaf->values[at] = value;
	leaf->nr++;
	return true;
}

/* Move the last entry or subtree of the left sibling into the child @slot. */
static void borrow_from_left(struct btree_node *parent, unsigned int slot)
{
	struct btree_node *left = parent->children[slot - 1];
	struct btree_node *node = parent->children[slot];
	uint64_t *between = &parent->keys[slot - 1];

	left->nr--;
	slot_open(node->keys, node->nr, 0);
	if (node->level) {
		slot_open(node->children, node->nr + 1, 0);
		node->children[0] = left->children[left->nr + 1];
		node->keys[0] = *between;
	} else {
		slot_open(node->values, node->nr, 0);
		node->values[0] = left->values[left->nr];
		node->keys[0] = left->keys[left->nr];
	}
	*between = left->keys[left->nr];
	node->nr++;
}

/* Move the first entry or subtree of the right sibling into the child @slot. */
static void borrow_from_right(struct btree_node *parent, unsigned int slot)
{
	struct btree_node *node = parent->children[slot];
	struct btree_node *right = parent->children[slot + 1];
	uint64_t *between = &parent->keys[slot];

	if (node->level) {
		node->keys[node->nr] = *between;
		node->children[node->nr + 1] = right->children[0];
		*between = right->keys[0];
		slot_close(right->children, right->nr + 1, 0);
	} else {
		node->keys[node->nr] = right->keys[0];
		node->values[node->nr] = right->values[0];
		*between = right->keys[1];
		slot_close(right->values, right->nr, 0);
	}
	slot_close(right->keys, right->nr, 0);
	right->nr--;
	node->nr++;
}

/* Move all of the child @slot + 1 of @parent into the child @slot and free the former. */
static void merge_right(struct btree_node *parent, unsigned int slot, struct node_pool *pool)
{
	struct btree_node *left = parent->children[slot];
	struct btree_node *right = parent->children[slot + 1];

	if (left->level) {
		left->keys[left->nr++] = parent->keys[slot];
		memcpy(left->children + left->nr, right->children, (right->nr + 1) * SLOT);
	} else {
		memcpy(left->values + left->nr, right->values, right->nr * SLOT);
		left->next = right->next;
	}
	memcpy(left->keys + left->nr, right->keys, right->nr * SLOT);
	left->nr += right->nr;
	slot_close(parent->keys, parent->nr, slot);
	slot_close(parent->children, parent->nr + 1, slot + 1);
	parent->nr--;
	pool_put(pool, right);
}

/* Make the child @slot of @parent have more than BTREE_KEYS_MIN keys. */
static void refill_child(struct btree_node *parent, unsigned int slot, struct node_pool *pool)
{
	if (slot > 0 && parent->children[slot - 1]->nr > BTREE_KEYS_MIN)
		borrow_from_left(parent, slot);
	else if (slot < parent->nr && parent->children[slot + 1]->nr > BTREE_KEYS_MIN)
		borrow_from_right(parent, slot);
	else
		merge_right(parent, slot > 0 ? slot - 1 : slot, pool);
}

/*
 * Make the leaf that is the place of @key, and the unbroken run of nodes with
 * BTREE_KEYS_MIN keys above it, have more keys, from the top down. Returns the leaf
 * that is the place of @key afterwards.
 */
static struct btree_node *leaf_refill(struct btree *tree, struct node_pool *pool, uint64_t key)
{
	struct btree_node *node, *spare = tree->root;

	for (node = tree->root; node->level; node = node->children[child_slot(node, key)])
		if (node->nr > BTREE_KEYS_MIN)
			spare = node;
	for (node = spare; node->level; node = node->children[child_slot(node, key)])
		refill_child(node, child_slot(node, key), pool);
	if (tree->root->level && !tree->root->nr) {
		struct btree_node *old = tree->root;

		tree->root = old->children[0];
		pool_put(pool, old);
	}
	return node;
}

/**
 * btree_remove() - delete a key
 * @tree: the tree
 * @pool: the calling thread's pool, which receives the nodes that become free
 * @key: the key
 * @value: receives the value of @key
 *
 * Return: true if @key was present. If it was absent, nothing is written.
 */
bool btree_remove(struct btree *tree, struct node_pool *pool, uint64_t key, uint64_t *value)
{
	struct btree_node *leaf = leaf_of(tree, key);
	unsigned int at = keys_below(leaf, key);

	if (!leaf_has(leaf, at, key))
		return false;
	if (unlikely(leaf->nr <= BTREE_KEYS_MIN && leaf != tree->root)) {
		leaf = leaf_refill(tree, pool, key);
		at = keys_below(leaf, key);
	}
	*value = leaf->values[at];
	slot_close(leaf->keys, leaf->nr, at);
	slot_close(leaf->values, leaf->nr, at);
	leaf->nr--;
	return true;
}

/**
 * btree_scan() - visit entries in ascending order of keys
 * @tree: the tree
 * @from: the scan begins at the first key that is not below @from
 * @limit: maximum number of entries to visit
 * @res: receives the number, the first and last key and the sum of the entries
 */
void btree_scan(const struct btree *tree, uint64_t from, unsigned long limit,
		struct scan_result *res)
{
	const struct btree_node *leaf = leaf_of(tree, from);
	unsigned int at = keys_below(leaf, from);
	struct scan_result seen = { 0 };

	for (; leaf && seen.nr < limit; leaf = leaf->next, at = 0) {
		for (; at < leaf->nr && seen.nr < limit; at++) {
			if (!seen.nr++)
				seen.first = leaf->keys[at];
			seen.last = leaf->keys[at];
			seen.sum += leaf->values[at];
		}
	}
	*res = seen;
}

/**
 * btree_walk() - call a function for all entries in the order of the leaf list
 * @tree: the tree
 * @visit: called for each entry; a result other than 0 ends the walk
 * @ctx: first argument of @visit
 *
 * Return: the result of the last @visit, 0 for an empty tree.
 */
int btree_walk(const struct btree *tree, visit_fn visit, void *ctx)
{
	const struct btree_node *leaf = tree->root;
	int ret = 0;

	while (leaf->level)
		leaf = leaf->children[0];
	for (; leaf && !ret; leaf = leaf->next)
		for (unsigned int at = 0; at < leaf->nr && !ret; at++)
			ret = visit(ctx, leaf->keys[at], leaf->values[at]);
	return ret;
}
