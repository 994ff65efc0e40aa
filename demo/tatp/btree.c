// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * btree.c - B-trees with latch coupling.
 *
 * A node has up to NODE_MAX entries in the order of their keys. The key of an entry of an
 * inner node is the least key below it; that of the first entry is not looked at. The nodes
 * of a level are linked from left to right.
 *
 * An insert latches its leaf for writing and the nodes above for reading. If the leaf is
 * full, it begins again, latches nodes for writing and splits each full node on its way, so
 * that a parent has room. A split is one log record with all its pages, and stays if the
 * transaction is rolled back. A delete leaves empty nodes where they are.
 *
 * With one lock for the tree a reader latches no page and pins it only. Writers latch pages
 * nevertheless, because the cleaner copies them.
 */
#include "sm.h"

#include <errno.h>
#include <string.h>

/**
 * btree_init() - set a tree up; its root is made by btree_bulk() or by recovery
 * @tree: the tree
 * @sm: its storage manager
 * @nr: its number
 */
void btree_init(struct btree *tree, struct sm *sm, unsigned int nr)
{
	*tree = (struct btree){
		.sm = sm,
		.store = TREE_STORE(nr),
		.root = TREE_ROOT(nr),
		.one_lock = latch_settings.kinds[LATCH_ROLE_tree] != LATCH_KIND_none,
	};
	latch_init(&tree->latch, LATCH_ROLE_tree);
}

/**
 * node_find() - find a key in a node
 * @page: the node
 * @key: the key
 * @found: set if the key is there
 *
 * Return: number of entries whose keys are less.
 */
unsigned int node_find(const struct page *page, uint64_t key, bool *found)
{
	const struct index_entry *e = node_entries(page);
	unsigned int low = 0, nr = page->nr;

	while (nr) {
		unsigned int half = nr / 2;
		bool less = e[low + half].key < key;

		low = less ? low + half + 1 : low;
		nr = less ? nr - half - 1 : half;
	}
	*found = low < page->nr && e[low].key == key;
	return low;
}

/* The child of an inner node for a key. */
static uint32_t child_of(const struct page *page, uint64_t key)
{
	bool found;
	unsigned int at = node_find(page, key, &found);

	return (uint32_t)node_entries(page)[found || !at ? at : at - 1].value;
}

/** node_insert() - insert an entry into a node that has room and not the key */
void node_insert(struct page *page, uint64_t key, uint64_t value)
{
	struct index_entry *e = node_entries(page);
	bool found;
	unsigned int at = node_find(page, key, &found);

	memmove(e + at + 1, e + at, (page->nr - at) * sizeof(*e));
	e[at] = (struct index_entry){ .key = key, .value = value };
	page->nr++;
}

/** node_delete() - delete a key from a node; false if it is not there */
bool node_delete(struct page *page, uint64_t key)
{
	struct index_entry *e = node_entries(page);
	bool found;
	unsigned int at = node_find(page, key, &found);

	if (!found)
		return false;
	page->nr--;
	memmove(e + at, e + at + 1, (page->nr - at) * sizeof(*e));
	return true;
}

/* Fix a node for reading. */
static __inline_always void read_fix(struct btree *tree, uint32_t id, struct page_ref *ref)
{
	if (tree->one_lock)
		buffer_pin(&tree->sm->buffer, id, ref);
	else
		buffer_fix(&tree->sm->buffer, id, LATCH_READ, ref);
}

static __inline_always void read_unfix(struct btree *tree, struct page_ref *ref)
{
	if (tree->one_lock)
		buffer_unpin(&tree->sm->buffer, ref);
	else
		buffer_unfix(&tree->sm->buffer, ref);
}

/* Fix the leaf of a key for reading, in one of two refs. */
static struct page_ref *descend(struct btree *tree, uint64_t key, struct page_ref refs[2])
{
	struct page_ref *at = refs;

	read_fix(tree, tree->root, at);
	while (at->page->level) {
		struct page_ref *child = at == refs ? refs + 1 : refs;

		read_fix(tree, child_of(at->page, key), child);
		read_unfix(tree, at);
		at = child;
	}
	return at;
}

/**
 * btree_lookup() - find a key
 * @tree: the tree
 * @key: the key
 * @value: receives its value
 *
 * Return: false if the key is not there.
 */
bool btree_lookup(struct btree *tree, uint64_t key, uint64_t *value)
{
	struct page_ref refs[2], *leaf;
	struct latch_hold hold;
	unsigned int at;
	bool found;

	latch_acquire(&tree->latch, LATCH_READ, &hold);
	leaf = descend(tree, key, refs);
	at = node_find(leaf->page, key, &found);
	if (found)
		*value = node_entries(leaf->page)[at].value;
	read_unfix(tree, leaf);
	latch_release(&tree->latch, &hold);
	return found;
}

/**
 * btree_range() - find the keys of a range
 * @tree: the tree
 * @low: first key
 * @high: last key
 * @out: receives the entries in the order of their keys
 * @max: number of entries that @out has room for
 *
 * Return: number of entries, at most @max.
 */
unsigned int btree_range(struct btree *tree, uint64_t low, uint64_t high, struct index_entry *out,
			 unsigned int max)
{
	struct page_ref refs[2], *leaf;
	struct latch_hold hold;
	unsigned int nr = 0, at;
	bool found;

	latch_acquire(&tree->latch, LATCH_READ, &hold);
	leaf = descend(tree, low, refs);
	at = node_find(leaf->page, low, &found);
	while (nr < max) {
		struct page_ref *next = leaf == refs ? refs + 1 : refs;
		const struct index_entry *e = node_entries(leaf->page);

		for (; at < leaf->page->nr && e[at].key <= high && nr < max; at++)
			out[nr++] = e[at];
		if (at < leaf->page->nr || !leaf->page->next)
			break;
		read_fix(tree, leaf->page->next, next);
		read_unfix(tree, leaf);
		leaf = next;
		at = 0;
	}
	read_unfix(tree, leaf);
	latch_release(&tree->latch, &hold);
	return nr;
}

/* Fix the leaf of a key for writing, in one of two refs; the nodes above are only read. */
static struct page_ref *descend_write(struct btree *tree, uint64_t key, struct page_ref refs[2])
{
	struct buffer *b = &tree->sm->buffer;
	struct page_ref *at = refs;

	for (;;) {
		buffer_fix(b, tree->root, LATCH_READ, at);
		if (!at->page->level) {
			/* The root was the leaf, and may have become an inner node. */
			buffer_unfix(&tree->sm->buffer, at);
			buffer_fix(b, tree->root, LATCH_WRITE, at);
			if (!at->page->level)
				return at;
			buffer_unfix(&tree->sm->buffer, at);
			continue;
		}
		while (at->page->level) {
			struct page_ref *child = at == refs ? refs + 1 : refs;

			buffer_fix(b, child_of(at->page, key),
				   at->page->level == 1 ? LATCH_WRITE : LATCH_READ, child);
			buffer_unfix(&tree->sm->buffer, at);
			at = child;
		}
		return at;
	}
}

/* Log the pages of a split as they are now. */
static void log_split(struct xct *x, struct btree *tree, struct page_ref *const pages[3])
{
	struct log_record *r = x->record;
	struct sm *sm = tree->sm;
	struct latch_hold hold;
	uint64_t lsn = 1;

	if (sm->logging) {
		*r = (struct log_record){ .type = LOG_PAGES, .store = (uint16_t)tree->store, .n = 3,
					  .len = sizeof(*r) + 3 * PAGE_BYTES };
		for (unsigned int i = 0; i < 3; i++)
			memcpy(r->payload + i * PAGE_BYTES, pages[i]->page, PAGE_BYTES);
		latch_acquire(&sm->gate, LATCH_READ, &hold);
		lsn = log_insert(&sm->log, r);
	}
	for (unsigned int i = 0; i < 3; i++)
		buffer_dirty(pages[i], lsn);
	if (sm->logging)
		latch_release(&sm->gate, &hold);
}

/* Move the upper half of the entries of @from to the empty node @to on its right. */
static void move_half(struct page *from, struct page *to)
{
	unsigned int keep = from->nr / 2;

	to->level = from->level;
	to->nr = (uint16_t)(from->nr - keep);
	memcpy(node_entries(to), node_entries(from) + keep, to->nr * sizeof(struct index_entry));
	from->nr = (uint16_t)keep;
	to->next = from->next;
	from->next = to->id;
}

/* Put the entries of the full root into two new nodes. The root stays latched. */
static int split_root(struct xct *x, struct btree *tree, struct page_ref *root)
{
	struct buffer *b = &tree->sm->buffer;
	struct page_ref left, right;
	int err = buffer_new(b, PAGE_NODE, tree->store, &left);

	if (err)
		return err;
	err = buffer_new(b, PAGE_NODE, tree->store, &right);
	if (err) {
		buffer_unfix(&tree->sm->buffer, &left);
		return err;
	}
	left.page->level = root->page->level;
	left.page->nr = root->page->nr;
	memcpy(left.page->body, root->page->body, PAGE_BODY);
	move_half(left.page, right.page);
	root->page->level++;
	root->page->nr = 2;
	node_entries(root->page)[0] = (struct index_entry){
		.key = node_entries(left.page)->key, .value = left.page->id };
	node_entries(root->page)[1] = (struct index_entry){
		.key = node_entries(right.page)->key, .value = right.page->id };
	log_split(x, tree, (struct page_ref *const[3]){ root, &left, &right });
	buffer_unfix(&tree->sm->buffer, &right);
	buffer_unfix(&tree->sm->buffer, &left);
	return 0;
}

/* Split a full child of a node that has room. The node and that part stay where @key belongs. */
static int split_child(struct xct *x, struct btree *tree, struct page_ref *parent,
		       struct page_ref *child, uint64_t key)
{
	struct buffer *b = &tree->sm->buffer;
	struct page_ref right;
	int err = buffer_new(b, PAGE_NODE, tree->store, &right);
	uint64_t first;
	uint32_t id;

	if (err)
		return err;
	id = right.page->id;
	move_half(child->page, right.page);
	first = node_entries(right.page)->key;
	node_insert(parent->page, first, id);
	log_split(x, tree, (struct page_ref *const[3]){ parent, child, &right });
	buffer_unfix(&tree->sm->buffer, &right);
	if (key < first)
		return 0;
	buffer_unfix(&tree->sm->buffer, child);
	buffer_fix(b, id, LATCH_WRITE, child);
	return 0;
}

/* As descend_write(), with a leaf that is not full. Returns 0 or -errno with nothing fixed. */
static int descend_split(struct xct *x, struct btree *tree, uint64_t key, struct page_ref refs[2],
			 struct page_ref **leaf)
{
	struct buffer *b = &tree->sm->buffer;
	struct page_ref *at = refs;
	int err = 0;

	buffer_fix(b, tree->root, LATCH_WRITE, at);
	if (at->page->nr == NODE_MAX)
		err = split_root(x, tree, at);
	while (!err && at->page->level) {
		struct page_ref *child = at == refs ? refs + 1 : refs;

		buffer_fix(b, child_of(at->page, key), LATCH_WRITE, child);
		if (child->page->nr == NODE_MAX)
			err = split_child(x, tree, at, child, key);
		if (err)
			buffer_unfix(&tree->sm->buffer, child);
		else
			buffer_unfix(&tree->sm->buffer, at);
		at = err ? at : child;
	}
	if (err)
		buffer_unfix(&tree->sm->buffer, at);
	*leaf = at;
	return err;
}

/* Log and carry out a change of a leaf. */
static void leaf_change(struct xct *x, struct btree *tree, struct page_ref *leaf,
			enum log_type type, uint64_t key, uint64_t value)
{
	struct log_record *r = xct_record(x, type, tree->store, leaf->page);
	uint64_t entry[2] = { key, value };

	r->len = sizeof(*r) + sizeof(entry);
	memcpy(r->payload, entry, sizeof(entry));
	xct_change(x, leaf);
}

/**
 * btree_insert() - insert a key
 * @x: the transaction
 * @tree: the tree
 * @key: the key
 * @value: its value
 *
 * Return: 0, -EEXIST if the key is there, or -errno.
 */
int btree_insert(struct xct *x, struct btree *tree, uint64_t key, uint64_t value)
{
	struct page_ref refs[2], *leaf;
	struct latch_hold hold;
	bool found;
	int err = xct_room(x);

	if (err)
		return err;
	latch_acquire(&tree->latch, LATCH_WRITE, &hold);
	leaf = descend_write(tree, key, refs);
	node_find(leaf->page, key, &found);
	if (!found && leaf->page->nr == NODE_MAX) {
		buffer_unfix(&tree->sm->buffer, leaf);
		err = descend_split(x, tree, key, refs, &leaf);
		if (err)
			goto release;
		/* Another thread may have inserted the key in the meantime. */
		node_find(leaf->page, key, &found);
	}
	if (found)
		err = -EEXIST;
	else
		leaf_change(x, tree, leaf, LOG_INDEX_INSERT, key, value);
	buffer_unfix(&tree->sm->buffer, leaf);
release:
	latch_release(&tree->latch, &hold);
	return err;
}

/**
 * btree_delete() - delete a key
 * @x: the transaction
 * @tree: the tree
 * @key: the key
 *
 * Return: 0, -ENOENT if the key is not there, or -errno.
 */
int btree_delete(struct xct *x, struct btree *tree, uint64_t key)
{
	struct page_ref refs[2], *leaf;
	struct latch_hold hold;
	unsigned int at;
	bool found;
	int err = xct_room(x);

	if (err)
		return err;
	latch_acquire(&tree->latch, LATCH_WRITE, &hold);
	leaf = descend_write(tree, key, refs);
	at = node_find(leaf->page, key, &found);
	if (found)
		leaf_change(x, tree, leaf, LOG_INDEX_DELETE, key,
			    node_entries(leaf->page)[at].value);
	buffer_unfix(&tree->sm->buffer, leaf);
	latch_release(&tree->latch, &hold);
	return found ? 0 : -ENOENT;
}
