// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * sync-global.c - every index under one global latch.
 *
 * A set of operations for each pair of index and scheme in variants.def.
 * Between acquiring and releasing there is the index's operation and nothing
 * else. The tables of indexes and latches are constants where they are used,
 * so that all calls become direct ones.
 */
#include "btree.h"
#include "delta.h"
#include "latch.h"

#include <stdlib.h>

/*
 * struct tree_ops - an index that knows no latch, as sync-global.c calls it
 * @size: bytes of its head
 *
 * The rest as in struct index_ops.
 */
struct tree_ops {
	size_t size;
	int (*init)(void *tree, const struct index_config *config);
	void (*destroy)(void *tree);
	double (*bytes)(const struct index_config *config);
	uint64_t (*entries_max)(const struct index_config *config);
	void *(*attach)(void *tree, unsigned int core, uint64_t inserts);
	void (*detach)(void *thread);
	int (*reserve)(void *tree, void *thread);
	bool (*search)(void *tree, uint64_t key, uint64_t *value);
	bool (*search_counted)(void *tree, uint64_t key, uint64_t *value, struct footprint *fp);
	bool (*insert)(void *tree, void *thread, uint64_t key, uint64_t value);
	bool (*remove)(void *tree, void *thread, uint64_t key, uint64_t *value);
	void (*scan)(void *tree, uint64_t from, unsigned long limit, struct scan_result *res);
	bool (*check)(const void *tree, char *why, size_t len);
	int (*walk)(const void *tree, visit_fn visit, void *ctx);
	int (*merge)(const void *tree, struct merge_result *res);
};

/* The functions NAME_operation() of an index behind pointers to void. */
#define INDEX(id, name, help)                                                                      \
	static int id##_do_init(void *tree, const struct index_config *config)                     \
	{                                                                                          \
		return id##_init(tree, config);                                                    \
	}                                                                                          \
	static void id##_do_destroy(void *tree)                                                    \
	{                                                                                          \
		id##_destroy(tree);                                                                \
	}                                                                                          \
	static void *id##_do_attach(void *tree, unsigned int core, uint64_t inserts)               \
	{                                                                                          \
		return id##_attach(tree, core, inserts);                                           \
	}                                                                                          \
	static void id##_do_detach(void *thread)                                                   \
	{                                                                                          \
		id##_detach(thread);                                                               \
	}                                                                                          \
	static int id##_do_reserve(void *tree, void *thread)                                       \
	{                                                                                          \
		return id##_reserve(tree, thread);                                                 \
	}                                                                                          \
	static bool id##_do_search(void *tree, uint64_t key, uint64_t *value)                      \
	{                                                                                          \
		return id##_search(tree, key, value);                                              \
	}                                                                                          \
	static bool id##_do_search_counted(void *tree, uint64_t key, uint64_t *value,              \
					   struct footprint *fp)                                   \
	{                                                                                          \
		return id##_search_counted(tree, key, value, fp);                                  \
	}                                                                                          \
	static bool id##_do_insert(void *tree, void *thread, uint64_t key, uint64_t value)         \
	{                                                                                          \
		return id##_insert(tree, thread, key, value);                                      \
	}                                                                                          \
	static bool id##_do_remove(void *tree, void *thread, uint64_t key, uint64_t *value)        \
	{                                                                                          \
		return id##_remove(tree, thread, key, value);                                      \
	}                                                                                          \
	static void id##_do_scan(void *tree, uint64_t from, unsigned long limit,                   \
				 struct scan_result *res)                                          \
	{                                                                                          \
		id##_scan(tree, from, limit, res);                                                 \
	}                                                                                          \
	static bool id##_do_check(const void *tree, char *why, size_t len)                         \
	{                                                                                          \
		return id##_check(tree, why, len);                                                 \
	}                                                                                          \
	static int id##_do_walk(const void *tree, visit_fn visit, void *ctx)                       \
	{                                                                                          \
		return id##_walk(tree, visit, ctx);                                                \
	}                                                                                          \
	static int id##_do_merge(const void *tree, struct merge_result *res)                       \
	{                                                                                          \
		return id##_merge(tree, res);                                                      \
	}                                                                                          \
	static const struct tree_ops tree_##id = {                                                 \
		sizeof(struct id), id##_do_init, id##_do_destroy, id##_bytes, id##_entries_max,    \
		id##_do_attach, id##_do_detach, id##_do_reserve, id##_do_search,                   \
		id##_do_search_counted, id##_do_insert, id##_do_remove, id##_do_scan,              \
		id##_do_check, id##_do_walk, id##_do_merge,                                        \
	};
#include "variants.def"

/* The latch has its line to itself: acquiring it must not disturb readers of the root. */
struct global {
	struct index head;
	union latch latch __cacheline_aligned;
	char tree[] __cacheline_aligned;
};

static struct global *global_of(const struct index *index)
{
	return container_of(index, struct global, head);
}

static __inline_always struct index *create(const struct index_ops *ops,
					    const struct tree_ops *tree,
					    const struct latch_ops *latch,
					    const struct index_config *config)
{
	struct global *global = aligned_alloc(CACHE_LINE, sizeof(*global) + tree->size);

	if (!global)
		return NULL;
	global->head.ops = ops;
	if (tree->init(global->tree, config))
		goto free_global;
	if (latch->init(&global->latch))
		goto destroy_tree;
	return &global->head;

destroy_tree:
	tree->destroy(global->tree);
free_global:
	free(global);
	return NULL;
}

static __inline_always void destroy(struct index *index, const struct tree_ops *tree,
				    const struct latch_ops *latch)
{
	latch->destroy(&global_of(index)->latch);
	tree->destroy(global_of(index)->tree);
	free(global_of(index));
}

static __inline_always bool search(struct index *index, const struct tree_ops *tree,
				   const struct latch_ops *latch, uint64_t key, uint64_t *value)
{
	struct global *global = global_of(index);
	bool found;

	latch->read(&global->latch);
	found = tree->search(global->tree, key, value);
	latch->read_release(&global->latch);
	return found;
}

static __inline_always bool search_counted(struct index *index, const struct tree_ops *tree,
					   const struct latch_ops *latch, uint64_t key,
					   uint64_t *value, struct footprint *fp)
{
	struct global *global = global_of(index);
	bool found;

	latch->read(&global->latch);
	found = tree->search_counted(global->tree, key, value, fp);
	latch->read_release(&global->latch);
	return found;
}

static __inline_always bool insert(struct index *index, const struct tree_ops *tree,
				   const struct latch_ops *latch, struct index_thread *thread,
				   uint64_t key, uint64_t value)
{
	struct global *global = global_of(index);
	bool inserted;

	latch->write(&global->latch);
	inserted = tree->insert(global->tree, thread, key, value);
	latch->write_release(&global->latch);
	return inserted;
}

static __inline_always bool remove_key(struct index *index, const struct tree_ops *tree,
				       const struct latch_ops *latch, struct index_thread *thread,
				       uint64_t key, uint64_t *value)
{
	struct global *global = global_of(index);
	bool removed;

	latch->write(&global->latch);
	removed = tree->remove(global->tree, thread, key, value);
	latch->write_release(&global->latch);
	return removed;
}

static __inline_always void scan(struct index *index, const struct tree_ops *tree,
				 const struct latch_ops *latch, uint64_t from, unsigned long limit,
				 struct scan_result *res)
{
	struct global *global = global_of(index);

	latch->read(&global->latch);
	tree->scan(global->tree, from, limit, res);
	latch->read_release(&global->latch);
}

/* The operations that take no latch, for each index. */
#define INDEX(id, name, help)                                                                      \
	static struct index_thread *id##_attach_thread(struct index *ix, unsigned int nr,          \
						       uint64_t inserts)                           \
	{                                                                                          \
		return tree_##id.attach(global_of(ix)->tree, nr, inserts);                         \
	}                                                                                          \
	static void id##_detach_thread(struct index_thread *thread)                                \
	{                                                                                          \
		tree_##id.detach(thread);                                                          \
	}                                                                                          \
	static int id##_reserve_thread(struct index *ix, struct index_thread *thread)              \
	{                                                                                          \
		return tree_##id.reserve(global_of(ix)->tree, thread);                             \
	}                                                                                          \
	static bool id##_load(struct index *ix, struct index_thread *thread, uint64_t key,         \
			      uint64_t value)                                                      \
	{                                                                                          \
		return tree_##id.insert(global_of(ix)->tree, thread, key, value);                  \
	}                                                                                          \
	static bool id##_check_index(const struct index *ix, char *why, size_t len)                \
	{                                                                                          \
		return tree_##id.check(global_of(ix)->tree, why, len);                             \
	}                                                                                          \
	static int id##_walk_index(const struct index *ix, visit_fn visit, void *ctx)              \
	{                                                                                          \
		return tree_##id.walk(global_of(ix)->tree, visit, ctx);                            \
	}                                                                                          \
	static int id##_merge_index(const struct index *ix, struct merge_result *res)              \
	{                                                                                          \
		return tree_##id.merge(global_of(ix)->tree, res);                                  \
	}
#include "variants.def"

/* The functions above with constant tables, under the names that profiles will show. */
#define VARIANT(id, scheme)                                                                        \
	extern const struct index_ops id##_##scheme##_ops;                                         \
	static struct index *id##_##scheme##_create(const struct index_config *config)             \
	{                                                                                          \
		return create(&id##_##scheme##_ops, &tree_##id, &latch_##scheme, config);          \
	}                                                                                          \
	static void id##_##scheme##_destroy(struct index *ix)                                      \
	{                                                                                          \
		destroy(ix, &tree_##id, &latch_##scheme);                                          \
	}                                                                                          \
	static bool id##_##scheme##_search(struct index *ix, uint64_t key, uint64_t *value)        \
	{                                                                                          \
		return search(ix, &tree_##id, &latch_##scheme, key, value);                        \
	}                                                                                          \
	static bool id##_##scheme##_search_counted(struct index *ix, uint64_t key,                 \
						   uint64_t *value, struct footprint *fp)          \
	{                                                                                          \
		return search_counted(ix, &tree_##id, &latch_##scheme, key, value, fp);            \
	}                                                                                          \
	static bool id##_##scheme##_insert(struct index *ix, struct index_thread *thread,          \
					   uint64_t key, uint64_t value)                           \
	{                                                                                          \
		return insert(ix, &tree_##id, &latch_##scheme, thread, key, value);                \
	}                                                                                          \
	static bool id##_##scheme##_remove(struct index *ix, struct index_thread *thread,          \
					   uint64_t key, uint64_t *value)                          \
	{                                                                                          \
		return remove_key(ix, &tree_##id, &latch_##scheme, thread, key, value);            \
	}                                                                                          \
	static void id##_##scheme##_scan(struct index *ix, uint64_t from, unsigned long limit,     \
					 struct scan_result *res)                                  \
	{                                                                                          \
		scan(ix, &tree_##id, &latch_##scheme, from, limit, res);                           \
	}                                                                                          \
	const struct index_ops id##_##scheme##_ops = {                                             \
		.bytes = id##_bytes,                                                               \
		.entries_max = id##_entries_max,                                                   \
		.create = id##_##scheme##_create,                                                  \
		.destroy = id##_##scheme##_destroy,                                                \
		.attach = id##_attach_thread,                                                      \
		.detach = id##_detach_thread,                                                      \
		.reserve = id##_reserve_thread,                                                    \
		.load = id##_load,                                                                 \
		.search = id##_##scheme##_search,                                                  \
		.search_counted = id##_##scheme##_search_counted,                                  \
		.insert = id##_##scheme##_insert,                                                  \
		.remove = id##_##scheme##_remove,                                                  \
		.scan = id##_##scheme##_scan,                                                      \
		.check = id##_check_index,                                                         \
		.walk = id##_walk_index,                                                           \
		.merge = id##_merge_index,                                                         \
	};
#include "variants.def"
