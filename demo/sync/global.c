// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * global.c - a tree under one global latch.
 *
 * There is a set of operations for each GLOBAL(tree, latch) of variants.def. Between
 * acquire and release there is the tree's operation and nothing else. The tables of
 * trees and latches are constants where they are used, so all calls are direct.
 */
#include "../btree/btree.h"
#include "../delta/delta.h"
#include "../index/index.h"
#include "../latch/hle.h"
#include "../latch/mutex.h"
#include "../latch/none.h"
#include "../latch/rwlock.h"
#include "../latch/spin-rw.h"
#include "../latch/spin.h"

#include <stdlib.h>

/*
 * struct global - a tree and its latch
 * @tree: operations of the tree
 * @latch: operations of the latch
 * @head: the index
 * @tree_at, @latch_at: offset of the tree and of the latch in the index
 */
struct global {
	const struct tree_ops *tree;
	const struct latch_ops *latch;
	struct index *head;
	size_t tree_at, latch_at;
};

static __inline_always void *root(struct global g)
{
	return (char *)g.head + g.tree_at;
}

static __inline_always void *word(struct global g)
{
	return (char *)g.head + g.latch_at;
}

/* Initialise an index, or free its memory. */
static __inline_always struct index *create(struct global g, const struct index_ops *ops,
					    const struct index_config *config)
{
	if (!g.head)
		return NULL;
	*g.head = (struct index){ .ops = ops, .tree = root(g) };
	if (g.tree->init(root(g), config))
		goto free_head;
	if (g.latch->init(word(g)))
		goto destroy_tree;
	return g.head;

destroy_tree:
	g.tree->destroy(root(g));
free_head:
	free(g.head);
	return NULL;
}

static __inline_always void destroy(struct global g)
{
	g.latch->destroy(word(g));
	g.tree->destroy(root(g));
	free(g.head);
}

static __inline_always bool search(struct global g, uint64_t key, uint64_t *value)
{
	bool found;

	g.latch->read(word(g));
	found = g.tree->search(root(g), key, value);
	g.latch->read_release(word(g));
	return found;
}

static __inline_always bool search_counted(struct global g, uint64_t key, uint64_t *value,
					   struct footprint *fp)
{
	bool found;

	g.latch->read(word(g));
	found = g.tree->search_counted(root(g), key, value, fp);
	g.latch->read_release(word(g));
	return found;
}

static __inline_always bool insert(struct global g, struct index_thread *thread, uint64_t key,
				   uint64_t value)
{
	bool inserted;

	g.latch->write(word(g));
	inserted = g.tree->insert(root(g), thread, key, value);
	g.latch->write_release(word(g));
	return inserted;
}

static __inline_always bool remove_key(struct global g, struct index_thread *thread, uint64_t key,
				       uint64_t *value)
{
	bool removed;

	g.latch->write(word(g));
	removed = g.tree->remove(root(g), thread, key, value);
	g.latch->write_release(word(g));
	return removed;
}

static __inline_always void scan(struct global g, uint64_t from, unsigned long limit,
				 struct scan_result *res)
{
	g.latch->read(word(g));
	g.tree->scan(root(g), from, limit, res);
	g.latch->read_release(word(g));
}

/*
 * The functions above with constant tables, under the names that profiles show. The
 * latch has a cache line of its own: to acquire it must not disturb readers of the root.
 */
#define GLOBAL(id, kind)                                                                           \
	struct id##_##kind {                                                                       \
		struct index head;                                                                 \
		struct kind##_latch latch __cacheline_aligned;                                     \
		struct id tree __cacheline_aligned;                                                \
	};                                                                                         \
	extern const struct index_ops id##_##kind##_ops;                                           \
	static __inline_always struct global id##_##kind(struct index *head)                       \
	{                                                                                          \
		return (struct global){                                                            \
			&id##_tree, &latch_##kind, head, offsetof(struct id##_##kind, tree),       \
			offsetof(struct id##_##kind, latch),                                       \
		};                                                                                 \
	}                                                                                          \
	static struct index *id##_##kind##_create(const struct index_config *config)               \
	{                                                                                          \
		return create(id##_##kind(aligned_alloc(CACHE_LINE, sizeof(struct id##_##kind))),  \
			      &id##_##kind##_ops, config);                                         \
	}                                                                                          \
	static void id##_##kind##_destroy(struct index *head)                                      \
	{                                                                                          \
		destroy(id##_##kind(head));                                                        \
	}                                                                                          \
	static int id##_##kind##_reserve(struct index *head, struct index_thread *thread)          \
	{                                                                                          \
		return id##_tree.reserve(root(id##_##kind(head)), thread);                         \
	}                                                                                          \
	static bool id##_##kind##_load(struct index *head, struct index_thread *thread,            \
				       uint64_t key, uint64_t value)                               \
	{                                                                                          \
		return id##_tree.insert(root(id##_##kind(head)), thread, key, value);              \
	}                                                                                          \
	static bool id##_##kind##_search(struct index *head, struct index_thread *thread,          \
					 uint64_t key, uint64_t *value)                            \
	{                                                                                          \
		return search(id##_##kind(head), key, value);                                      \
	}                                                                                          \
	static bool id##_##kind##_search_counted(struct index *head, struct index_thread *thread,  \
						 uint64_t key, uint64_t *value,                    \
						 struct footprint *fp)                             \
	{                                                                                          \
		return search_counted(id##_##kind(head), key, value, fp);                          \
	}                                                                                          \
	static bool id##_##kind##_insert(struct index *head, struct index_thread *thread,          \
					 uint64_t key, uint64_t value)                             \
	{                                                                                          \
		return insert(id##_##kind(head), thread, key, value);                              \
	}                                                                                          \
	static bool id##_##kind##_remove(struct index *head, struct index_thread *thread,          \
					 uint64_t key, uint64_t *value)                            \
	{                                                                                          \
		return remove_key(id##_##kind(head), thread, key, value);                          \
	}                                                                                          \
	static void id##_##kind##_scan(struct index *head, struct index_thread *thread,            \
				       uint64_t from, unsigned long limit,                         \
				       struct scan_result *res)                                    \
	{                                                                                          \
		scan(id##_##kind(head), from, limit, res);                                         \
	}                                                                                          \
	const struct index_ops id##_##kind##_ops = {                                               \
		.tree = &id##_tree,                                                                \
		.create = id##_##kind##_create,                                                    \
		.destroy = id##_##kind##_destroy,                                                  \
		.reserve = id##_##kind##_reserve,                                                  \
		.load = id##_##kind##_load,                                                        \
		.search = id##_##kind##_search,                                                    \
		.search_counted = id##_##kind##_search_counted,                                    \
		.insert = id##_##kind##_insert,                                                    \
		.remove = id##_##kind##_remove,                                                    \
		.scan = id##_##kind##_scan,                                                        \
	};
#include "variants.def"
