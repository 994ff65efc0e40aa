// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * btree-bulk.c - builds a tree from sorted entries, and checks its structure at rest.
 */
#include "sm.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/**
 * struct level - nodes of a level that is being built
 * @entries: least key and number of each node
 * @nr: number of nodes
 * @max: number of nodes that @entries has room for
 */
struct level {
	struct index_entry *entries;
	uint64_t nr, max;
};

static int level_add(struct level *l, uint64_t key, uint32_t page)
{
	if (l->nr == l->max) {
		uint64_t max = l->max ? 2 * l->max : 1024;
		struct index_entry *entries = reallocarray(l->entries, max, sizeof(*entries));

		if (!entries)
			return -ENOMEM;
		l->entries = entries;
		l->max = max;
	}
	l->entries[l->nr++] = (struct index_entry){ .key = key, .value = page };
	return 0;
}

/* Make the next node of a level on the right of @at, which is unfixed. */
static int next_node(struct btree *tree, unsigned int level, struct page_ref *at)
{
	struct page_ref left = *at;
	int err = buffer_new(&tree->sm->buffer, PAGE_NODE, tree->store, at);

	if (!err)
		at->page->level = (uint16_t)level;
	if (!err && left.frame)
		left.page->next = at->page->id;
	if (left.frame) {
		buffer_dirty(&left, 1);
		buffer_unpin(&tree->sm->buffer, &left);
	}
	/* Nobody else knows the tree, so its nodes need no latch, which a ref could not move. */
	if (!err)
		latch_release(&at->frame->latch, &at->hold);
	else
		at->frame = NULL;
	return err;
}

/* Build a level from @nr entries, and list its nodes. */
static int build(struct btree *tree, unsigned int level, uint64_t nr, unsigned int fill,
		 void (*entry)(void *ctx, uint64_t i, struct index_entry *e), void *ctx,
		 struct level *nodes)
{
	uint64_t most = NODE_MAX * fill / 100;
	struct page_ref at = { .frame = NULL };
	int err = 0;

	for (uint64_t i = 0; i < nr && !err; i++) {
		struct index_entry e;

		entry(ctx, i, &e);
		if (!at.frame || at.page->nr == most) {
			err = next_node(tree, level, &at);
			if (!err)
				err = level_add(nodes, e.key, at.page->id);
		}
		if (!err)
			node_entries(at.page)[at.page->nr++] = e;
	}
	if (at.frame) {
		buffer_dirty(&at, 1);
		buffer_unpin(&tree->sm->buffer, &at);
	}
	return err;
}

static void node_entry(void *ctx, uint64_t i, struct index_entry *e)
{
	*e = ((const struct level *)ctx)->entries[i];
}

/**
 * btree_bulk() - build a tree from sorted entries, without log records
 * @tree: the tree, whose root is an empty page
 * @nr: number of entries
 * @fill: entries of a node in per cent of its room, at least 1
 * @entry: yields entry @i, in ascending order of keys
 * @ctx: its argument
 *
 * Return: 0 or -errno.
 */
int btree_bulk(struct btree *tree, uint64_t nr, unsigned int fill,
	       void (*entry)(void *ctx, uint64_t i, struct index_entry *e), void *ctx)
{
	struct level below = { .nr = 0 }, nodes = { .nr = 0 };
	unsigned int level = 0;
	struct page_ref root;
	int err = 0;

	while (nr > NODE_MAX && !err) {
		err = build(tree, level, nr, fill, entry, ctx, &nodes);
		free(below.entries);
		below = nodes;
		nodes = (struct level){ .nr = 0 };
		nr = below.nr;
		entry = node_entry;
		ctx = &below;
		level++;
	}
	if (!err) {
		buffer_fix(&tree->sm->buffer, tree->root, LATCH_WRITE, &root);
		root.page->level = (uint16_t)level;
		for (uint64_t i = 0; i < nr; i++)
			entry(ctx, i, &node_entries(root.page)[root.page->nr++]);
		buffer_dirty(&root, 1);
		buffer_unfix(&tree->sm->buffer, &root);
	}
	free(below.entries);
	return err;
}

/**
 * struct walk - state of btree_check()
 * @tree: the tree
 * @visit: called for each entry of a leaf
 * @ctx: its argument
 * @why: receives the first fault
 * @len: size of @why
 * @next: of each level: what the node on the left has as the next one
 * @seen: a node of the level was seen
 */
struct walk {
	struct btree *tree;
	int (*visit)(void *ctx, uint64_t key, uint64_t value);
	void *ctx;
	char *why;
	size_t len;
	uint32_t next[16];
	bool seen[16];
};

static bool fault(struct walk *w, uint32_t page, const char *what)
{
	if (!*w->why)
		snprintf(w->why, w->len, "index %u, page %" PRIu32 ": %s",
			 w->tree->store - SM_HEAPS, page, what);
	return false;
}

/* Check a node whose keys are to be in [low, high]. */
static bool check_node(struct walk *w, const struct page *page, unsigned int level, uint64_t low,
		       uint64_t high)
{
	const struct index_entry *e = node_entries(page);

	if (page->kind != PAGE_NODE || page->store != w->tree->store)
		return fault(w, page->id, "is no node of the tree");
	if (page->level != level || level >= 16)
		return fault(w, page->id, "is at the wrong level");
	if (page->nr > NODE_MAX || (level && !page->nr))
		return fault(w, page->id, "has a wrong number of entries");
	if (w->seen[level] && w->next[level] != page->id)
		return fault(w, page->id, "is not on the right of the node before");
	w->seen[level] = true;
	w->next[level] = page->next;
	for (unsigned int i = 0; i < page->nr; i++) {
		/* The first key of an inner node is not looked at. */
		if ((i || !level) && (e[i].key < low || e[i].key > high))
			return fault(w, page->id, "has a key outside its range");
		if (i && e[i].key <= e[i - 1].key)
			return fault(w, page->id, "has keys out of order");
	}
	return true;
}

static bool walk_node(struct walk *w, uint32_t id, unsigned int level, uint64_t low, uint64_t high)
{
	struct buffer *b = &w->tree->sm->buffer;
	struct page_ref ref;
	bool ok;

	buffer_fix(b, id, LATCH_READ, &ref);
	ok = check_node(w, ref.page, level, low, high);
	for (unsigned int i = 0; i < ref.page->nr && ok; i++) {
		const struct index_entry *e = &node_entries(ref.page)[i];

		if (!level) {
			ok = !w->visit || !w->visit(w->ctx, e->key, e->value);
			continue;
		}
		ok = walk_node(w, (uint32_t)e->value, level - 1, i ? e->key : low,
			       i + 1u < ref.page->nr ? e[1].key - 1 : high);
	}
	buffer_unfix(b, &ref);
	return ok;
}

/**
 * btree_check() - check the structure of a tree at rest, and visit its entries in order
 * @tree: the tree
 * @visit: called for each entry; a value other than 0 ends the walk. May be NULL.
 * @ctx: its argument
 * @why: receives the first fault of the structure, else an empty text
 * @len: size of @why in bytes
 *
 * Return: false at a fault, or if @visit ended the walk.
 */
bool btree_check(struct btree *tree, int (*visit)(void *ctx, uint64_t key, uint64_t value),
		 void *ctx, char *why, size_t len)
{
	struct walk w = { .tree = tree, .visit = visit, .ctx = ctx, .why = why, .len = len };
	struct page_ref root;
	unsigned int level;
	bool ok;

	*why = '\0';
	buffer_fix(&tree->sm->buffer, tree->root, LATCH_READ, &root);
	level = root.page->level;
	buffer_unfix(&tree->sm->buffer, &root);
	ok = walk_node(&w, tree->root, level, 0, UINT64_MAX);
	for (unsigned int i = 0; i <= level && i < 16 && ok; i++)
		if (w.next[i])
			ok = fault(&w, w.next[i], "is behind the last node of its level");
	return ok;
}
