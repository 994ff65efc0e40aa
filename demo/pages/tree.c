// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * tree.c - the operations of a B-tree in a pool of pages (see tree.h).
 *
 * An operation that changes a leaf descends, acquires its latch exclusively, changes it, and
 * releases it. If the leaf has no room it releases the latch, has the leaf split (restructure.c),
 * and begins anew.
 */
#include "tree.h"

#include "descend.h"
#include "restructure.h"
#include "split.h"

#include "../base/rng.h"

#include <limits.h>
#include <string.h>

/**
 * descend_missing() - get a page that a descent did not find, before it begins anew
 * @tree: the tree
 * @missing: the page; its number is set to 0
 *
 * A page may be freed between the descent and the load, which then fails. So it is an error only
 * if the next descent finds the same page missing and it cannot be read again.
 *
 * Return: 0, or -errno.
 */
int descend_missing(struct page_tree *tree, struct missing *missing)
{
	uint32_t id = missing->id;
	int err;

	if (!id)
		return 0;
	missing->times = id == missing->before ? missing->times + 1 : 0;
	if (missing->times == MISSING_MAX)
		return -EBADMSG;
	missing->before = id;
	missing->id = 0;
	err = pool_load(tree->pool, id);
	if (err && missing->failed == id)
		return err;
	missing->failed = err ? id : 0;
	return 0;
}

/**
 * page_tree_create() - make an empty tree
 * @tree: receives the tree
 * @pool: the pool of its pages
 * @name: its name, below STORE_NAME bytes
 * @options: what it does besides
 *
 * For one thread at a time.
 *
 * Return: 0, -EEXIST if there is a tree of that name, or another -errno.
 */
int page_tree_create(struct page_tree *tree, struct page_pool *pool, const char *name,
		     const struct page_tree_options *options)
{
	static const struct bytes none = { "", 0 };
	int nr = pool_tree_add(pool, name), err;
	struct frame *frame;

	if (nr < 0)
		return nr;
	while ((err = pool_new(pool, (unsigned int)nr, &frame)) == -EAGAIN) {
		err = pool_wait(pool);
		if (err)
			return err;
	}
	if (err)
		return err;
	page_node_init(frame->page, 0, none, none);
	pool_dirty(frame);
	pool_root_set(pool, (unsigned int)nr, frame_id(frame));
	latch_release(&frame->latch);
	return page_tree_open(tree, pool, name, options);
}

/**
 * page_tree_open() - open a tree of a file
 * @tree: receives the tree
 * @pool: the pool of its pages
 * @name: its name
 * @options: what it does besides
 *
 * Return: 0, or -ENOENT if there is no such tree.
 */
int page_tree_open(struct page_tree *tree, struct page_pool *pool, const char *name,
		   const struct page_tree_options *options)
{
	int nr = pool_tree(pool, name);

	if (nr < 0)
		return nr;
	memset(tree, 0, sizeof(*tree));
	tree->pool = pool;
	tree->nr = (unsigned int)nr;
	tree->root = pool_root(pool, tree->nr);
	tree->height = UINT_MAX;
	tree->options = *options;
	return 0;
}

/**
 * page_tree_thread_init() - initialise what a thread has of its own
 * @thread: receives it
 * @seed: seed of the run
 * @nr: number of the thread
 */
void page_tree_thread_init(struct page_tree_thread *thread, uint64_t seed, uint64_t nr)
{
	struct rng rng;

	rng_seed(&rng, seed, nr);
	*thread = (struct page_tree_thread){ .draw = rng_next(&rng) | 1 };
}

/**
 * page_tree_lookup() - find a key
 * @tree: the tree
 * @key: the key
 * @value: receives up to @room bytes of its value
 * @room: bytes that @value has room for
 * @len: receives the number of bytes that the value has
 *
 * Return: 0, -ENOENT if the key is not there, or another -errno.
 */
int page_tree_lookup(struct page_tree *tree, struct bytes key, void *value, unsigned int room,
		     unsigned int *len)
{
	struct hold h;
	bool found;
	int err;

	do {
		err = descend(tree, key, 0, LOOK, NULL, &h);
		if (unlikely(err))
			return err;
		found = look_value(h.frame->page, key, value, room, len);
	} while (unlikely(!hold_end(&h, LOOK)));
	return found ? 0 : -ENOENT;
}

/*
 * Where Contention Split is to know whether the latch was held. Otherwise acquiring it is one call,
 * and a lock profiler has all acquisitions of an operation at one site.
 */
static __inline_always bool *asks(const struct page_tree *tree, bool *waited)
{
	return tree->options.split ? waited : NULL;
}

/*
 * The entry at @at of the leaf was changed. Contention Split counts that, and the latch is
 * released.
 */
static __inline_always int leave(struct page_tree *tree, struct page_tree_thread *thread,
				 struct hold *h, struct bytes key, unsigned int at, bool waited)
{
	struct frame *frame = h->frame;
	unsigned char other[PAGE_KEY_MAX];
	int32_t before;
	unsigned int len;

	thread->waited += waited;
	pool_dirty(frame);
	if (likely(!tree->options.split ||
		   !split_sampled(&tree->options, thread, frame, at, waited, &before)) ||
	    before >= frame->page->nr) {
		latch_release(&frame->latch);
		return 0;
	}
	len = page_node_key(frame->page, (unsigned int)before, other);
	latch_release(&frame->latch);
	return split_contended(tree, key, (struct bytes){ other, len });
}

/**
 * page_tree_update() - change the value of an entry in its place
 * @tree: the tree
 * @thread: the calling thread
 * @key: the key
 * @change: changes the value
 * @ctx: argument of @change
 *
 * Return: 0, -ENOENT if the key is not there, or another -errno.
 */
int page_tree_update(struct page_tree *tree, struct page_tree_thread *thread, struct bytes key,
		     page_tree_change change, void *ctx)
{
	bool found, waited = false;
	struct page_node *node;
	struct bytes value;
	struct hold h;
	unsigned int at;
	int err = pool_writable(tree->pool);

	if (unlikely(err))
		return err;
	err = descend(tree, key, 0, EXCLUSIVE, asks(tree, &waited), &h);
	if (unlikely(err))
		return err;
	node = h.frame->page;
	at = page_node_find(node, key, &found);
	if (unlikely(!found)) {
		latch_release(&h.frame->latch);
		return -ENOENT;
	}
	value = page_node_value(node, at);
	change(ctx, (void *)(uintptr_t)value.data, value.len);
	return leave(tree, thread, &h, key, at, waited);
}

/* What put() does with a key that is there, and with one that is not. */
enum put {
	PUT_NEW,
	PUT_ANY,
};

static __inline_always int put(struct page_tree *tree, struct page_tree_thread *thread,
			       struct bytes key, struct bytes value, enum put how)
{
	bool found, waited = false;
	struct hold h;
	unsigned int at;
	int err;

	if (!key.len || key.len > PAGE_KEY_MAX || key.len + value.len > PAGE_ENTRY_MAX)
		return -EINVAL;
	for (;;) {
		unsigned int need;

		err = pool_writable(tree->pool);
		if (unlikely(err))
			return err;
		err = descend(tree, key, 0, EXCLUSIVE, asks(tree, &waited), &h);
		if (unlikely(err))
			return err;
		at = page_node_find(h.frame->page, key, &found);
		if (found && how == PUT_NEW) {
			latch_release(&h.frame->latch);
			return -EEXIST;
		}
		if (found)
			err = page_node_update(h.frame->page, at, value);
		else
			err = page_node_insert_at(h.frame->page, at, key, value);
		if (likely(!err))
			break;
		need = page_node_need(h.frame->page, key, value.len);
		latch_release(&h.frame->latch);
		err = leaf_split(tree, key, need);
		if (err)
			return err;
	}
	if (!found)
		split_inserted(h.frame, at);
	return leave(tree, thread, &h, key, at, waited);
}

/**
 * page_tree_insert() - add an entry
 * @tree: the tree
 * @thread: the calling thread
 * @key: its key
 * @value: its value; with the key at most PAGE_ENTRY_MAX bytes
 *
 * Return: 0, -EEXIST if the key is there, -EINVAL if the key or the entry is too long or the key
 * is empty, or another -errno.
 */
int page_tree_insert(struct page_tree *tree, struct page_tree_thread *thread, struct bytes key,
		     struct bytes value)
{
	return put(tree, thread, key, value, PUT_NEW);
}

/**
 * page_tree_upsert() - add an entry or replace its value
 * @tree: the tree
 * @thread: the calling thread
 * @key: its key
 * @value: its value, which may have another length than before
 *
 * Return: 0, or -errno as of page_tree_insert().
 */
int page_tree_upsert(struct page_tree *tree, struct page_tree_thread *thread, struct bytes key,
		     struct bytes value)
{
	return put(tree, thread, key, value, PUT_ANY);
}

/**
 * page_tree_remove() - delete an entry
 * @tree: the tree
 * @thread: the calling thread
 * @key: its key
 * @value: receives up to @room bytes of its value
 * @room: bytes that @value has room for
 * @len: receives the number of bytes that the value had; or NULL
 *
 * A leaf of which 60 % are free is merged with a neighbour in memory, if all entries fit.
 *
 * Return: 0, -ENOENT if the key is not there, or another -errno.
 */
int page_tree_remove(struct page_tree *tree, struct page_tree_thread *thread, struct bytes key,
		     void *value, unsigned int room, unsigned int *len)
{
	bool found, sparse, waited = false;
	struct page_node *node;
	struct bytes old;
	struct hold h;
	unsigned int at;
	int err = pool_writable(tree->pool);

	if (unlikely(err))
		return err;
	err = descend(tree, key, 0, EXCLUSIVE, asks(tree, &waited), &h);
	if (unlikely(err))
		return err;
	node = h.frame->page;
	at = page_node_find(node, key, &found);
	if (!found) {
		latch_release(&h.frame->latch);
		return -ENOENT;
	}
	old = page_node_value(node, at);
	if (room && old.len)
		memcpy(value, old.data, old.len < room ? old.len : room);
	if (len)
		*len = old.len;
	page_node_remove(node, at);
	split_removed(h.frame, at);
	sparse = node_sparse(node);
	if (at == node->nr && at)
		at--;
	err = leave(tree, thread, &h, key, at, waited);
	return err || !sparse ? err : page_tree_merge(tree, key, 0);
}

/* The entries of a leaf from a key on. Returns false if the scan ends. */
static bool visit_leaf(const struct page_node *node, struct bytes from, page_tree_visit visit,
		       void *ctx)
{
	unsigned char key[PAGE_KEY_MAX];
	bool found;

	for (unsigned int i = page_node_find(node, from, &found); i < node->nr; i++)
		if (!visit(ctx, (struct bytes){ key, page_node_key(node, i, key) },
			   page_node_value(node, i)))
			return false;
	return true;
}

/**
 * page_tree_scan() - visit entries in ascending order
 * @tree: the tree
 * @from: the least key
 * @visit: receives each entry
 * @ctx: argument of @visit
 *
 * The latch of one leaf is held at a time, shared. The entries of a leaf were there at the same
 * time, those of two leaves not.
 *
 * Return: 0, or -errno.
 */
int page_tree_scan(struct page_tree *tree, struct bytes from, page_tree_visit visit, void *ctx)
{
	/* The least key above a fence is the fence and a byte of 0. */
	unsigned char next[PAGE_KEY_MAX + 1];
	struct bytes upper;
	struct hold h;
	bool more;
	int err;

	do {
		err = descend(tree, from, 0, SHARED, NULL, &h);
		if (err)
			return err;
		more = visit_leaf(h.frame->page, from, visit, ctx);
		upper = page_node_fence(h.frame->page, h.frame->page->upper);
		if (more && upper.len) {
			memcpy(next, upper.data, upper.len);
			next[upper.len] = 0;
			from = (struct bytes){ next, upper.len + 1 };
		}
		more = more && upper.len;
		hold_end(&h, SHARED);
	} while (more);
	return 0;
}
