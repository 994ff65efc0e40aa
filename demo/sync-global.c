// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * sync-global.c - the B+Tree under one global latch.
 *
 * A set of operations for each scheme of variants.def. Between acquiring and
 * releasing there is the tree operation and nothing else.
 */
#include "btree.h"
#include "latch.h"

#include <stdlib.h>

/* The latch has its line to itself: acquiring it must not disturb readers of the root. */
struct global {
	struct index head;
	union latch latch __cacheline_aligned;
	struct btree tree;
};

static struct global *global_of(const struct index *index)
{
	return container_of(index, struct global, head);
}

static __inline_always struct index *create(const struct index_ops *ops,
					    const struct latch_ops *latch, struct node_pool *pool)
{
	struct global *global = aligned_alloc(CACHE_LINE, sizeof(*global));

	if (!global)
		return NULL;
	global->head.ops = ops;
	if (btree_init(&global->tree, pool))
		goto free_global;
	if (latch->init(&global->latch))
		goto free_global;
	return &global->head;

free_global:
	free(global);
	return NULL;
}

static __inline_always void destroy(struct index *index, const struct latch_ops *latch)
{
	latch->destroy(&global_of(index)->latch);
	free(global_of(index));
}

static bool load(struct index *index, struct node_pool *pool, uint64_t key, uint64_t value)
{
	return btree_insert(&global_of(index)->tree, pool, key, value);
}

static __inline_always bool search(struct index *index, const struct latch_ops *latch,
				   uint64_t key, uint64_t *value)
{
	struct global *global = global_of(index);
	bool found;

	latch->read(&global->latch);
	found = btree_search(&global->tree, key, value);
	latch->release(&global->latch);
	return found;
}

static __inline_always bool insert(struct index *index, const struct latch_ops *latch,
				   struct node_pool *pool, uint64_t key, uint64_t value)
{
	struct global *global = global_of(index);
	bool inserted;

	latch->write(&global->latch);
	inserted = btree_insert(&global->tree, pool, key, value);
	latch->release(&global->latch);
	return inserted;
}

static __inline_always bool remove_key(struct index *index, const struct latch_ops *latch,
				       struct node_pool *pool, uint64_t key, uint64_t *value)
{
	struct global *global = global_of(index);
	bool removed;

	latch->write(&global->latch);
	removed = btree_remove(&global->tree, pool, key, value);
	latch->release(&global->latch);
	return removed;
}

static __inline_always void scan(struct index *index, const struct latch_ops *latch,
				 uint64_t from, unsigned long limit, struct scan_result *res)
{
	struct global *global = global_of(index);

	latch->read(&global->latch);
	btree_scan(&global->tree, from, limit, res);
	latch->release(&global->latch);
}

static bool check(const struct index *index, char *why, size_t len)
{
	return btree_check(&global_of(index)->tree, why, len);
}

static int walk(const struct index *index, visit_fn visit, void *ctx)
{
	return btree_walk(&global_of(index)->tree, visit, ctx);
}

/* The functions above with a constant latch, under the names that profiles will show. */
#define VARIANT(tree, scheme)                                                                      \
	extern const struct index_ops tree##_##scheme##_ops;                                       \
	static struct index *tree##_##scheme##_create(struct node_pool *pool)                      \
	{                                                                                          \
		return create(&tree##_##scheme##_ops, &latch_##scheme, pool);                      \
	}                                                                                          \
	static void tree##_##scheme##_destroy(struct index *ix)                                    \
	{                                                                                          \
		destroy(ix, &latch_##scheme);                                                      \
	}                                                                                          \
	static bool tree##_##scheme##_search(struct index *ix, uint64_t key, uint64_t *value)      \
	{                                                                                          \
		return search(ix, &latch_##scheme, key, value);                                    \
	}                                                                                          \
	static bool tree##_##scheme##_insert(struct index *ix, struct node_pool *pool,             \
					      uint64_t key, uint64_t value)                        \
	{                                                                                          \
		return insert(ix, &latch_##scheme, pool, key, value);                              \
	}                                                                                          \
	static bool tree##_##scheme##_remove(struct index *ix, struct node_pool *pool,             \
					      uint64_t key, uint64_t *value)                       \
	{                                                                                          \
		return remove_key(ix, &latch_##scheme, pool, key, value);                          \
	}                                                                                          \
	static void tree##_##scheme##_scan(struct index *ix, uint64_t from, unsigned long limit,   \
					    struct scan_result *res)                               \
	{                                                                                          \
		scan(ix, &latch_##scheme, from, limit, res);                                       \
	}                                                                                          \
	const struct index_ops tree##_##scheme##_ops = {                                           \
		.node_size = sizeof(struct btree_node),                                            \
		.node_keys_min = BTREE_KEYS_MIN,                                                   \
		.nodes_per_insert = BTREE_NODES_PER_INSERT,                                        \
		.create = tree##_##scheme##_create,                                                \
		.destroy = tree##_##scheme##_destroy,                                              \
		.load = load,                                                                      \
		.search = tree##_##scheme##_search,                                                \
		.insert = tree##_##scheme##_insert,                                                \
		.remove = tree##_##scheme##_remove,                                                \
		.scan = tree##_##scheme##_scan,                                                    \
		.check = check,                                                                    \
		.walk = walk,                                                                      \
	};
#include "variants.def"
