/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * family.h - one source for all schemes of a tree whose latches lie in its nodes.
 *
 * A file NAME.c of this folder defines the four operations once, as inline functions that
 * take what differs between the schemes as their first argument:
 *
 *	static __inline_always bool FAMILY_search(HOW, struct KIND_tree *,
 *						  struct KIND_thread *, uint64_t key,
 *						  uint64_t *value);
 *	static __inline_always bool FAMILY_insert(HOW, ..., uint64_t key, uint64_t value);
 *	static __inline_always bool FAMILY_remove(HOW, ..., uint64_t key, uint64_t *value);
 *	static __inline_always void FAMILY_scan(HOW, ..., uint64_t from, unsigned long limit,
 *						struct scan_result *res);
 *
 * and instantiates them for each scheme. HOW is a constant, so the compiler makes all calls
 * direct. The functions have the names that profiles show: blink_latch_insert().
 *
 * The prefix KIND names the functions for the tree and a thread's share of it:
 *
 *	KIND_index_tree(index), KIND_index_thread(share)
 *	KIND_index_create(ops, config, latching, root), KIND_index_destroy(index, root)
 *	KIND_index_reserve(index, share)
 */
#ifndef DEMO_SYNC_FAMILY_H
#define DEMO_SYNC_FAMILY_H

#include "../index/index.h"
#include "../node/search.h"

/*
 * The operations of a tree under a scheme. @id and @scheme are those of variants.def, and
 * the loading uses @family with @plain, the argument of the scheme none. @root and @latching
 * are arguments of KIND_index_create(). What follows are further members of struct index_ops,
 * such as .counts = node_index_counts.
 */
#define FAMILY_INDEX(kind, id, scheme, family, how, plain, root, latching, ...)                    \
	extern const struct index_ops id##_##scheme##_ops;                                         \
	static struct index *id##_##scheme##_create(const struct index_config *config)             \
	{                                                                                          \
		return kind##_index_create(&id##_##scheme##_ops, config, &latching, root);         \
	}                                                                                          \
	static void id##_##scheme##_destroy(struct index *index)                                   \
	{                                                                                          \
		kind##_index_destroy(index, root);                                                 \
	}                                                                                          \
	static bool id##_##scheme##_load(struct index *index, struct index_thread *thread,         \
					 uint64_t key, uint64_t value)                             \
	{                                                                                          \
		return family##_insert(plain, kind##_index_tree(index),                            \
				       kind##_index_thread(thread), key, value);                   \
	}                                                                                          \
	static bool id##_##scheme##_search(struct index *index, struct index_thread *thread,       \
					   uint64_t key, uint64_t *value)                          \
	{                                                                                          \
		return family##_search(how, kind##_index_tree(index), kind##_index_thread(thread), \
				       key, value);                                                \
	}                                                                                          \
	static bool id##_##scheme##_insert(struct index *index, struct index_thread *thread,       \
					   uint64_t key, uint64_t value)                           \
	{                                                                                          \
		return family##_insert(how, kind##_index_tree(index), kind##_index_thread(thread), \
				       key, value);                                                \
	}                                                                                          \
	static bool id##_##scheme##_remove(struct index *index, struct index_thread *thread,       \
					   uint64_t key, uint64_t *value)                          \
	{                                                                                          \
		return family##_remove(how, kind##_index_tree(index), kind##_index_thread(thread), \
				       key, value);                                                \
	}                                                                                          \
	static void id##_##scheme##_scan(struct index *index, struct index_thread *thread,         \
					 uint64_t from, unsigned long limit,                       \
					 struct scan_result *res)                                  \
	{                                                                                          \
		family##_scan(how, kind##_index_tree(index), kind##_index_thread(thread), from,    \
			      limit, res);                                                         \
	}                                                                                          \
	const struct index_ops id##_##scheme##_ops = {                                             \
		.tree = &id##_tree,                                                                \
		.create = id##_##scheme##_create,                                                  \
		.destroy = id##_##scheme##_destroy,                                                \
		.reserve = kind##_index_reserve,                                                   \
		.load = id##_##scheme##_load,                                                      \
		.search = id##_##scheme##_search,                                                  \
		.insert = id##_##scheme##_insert,                                                  \
		.remove = id##_##scheme##_remove,                                                  \
		.scan = id##_##scheme##_scan,                                                      \
		__VA_ARGS__                                                                        \
	};

/* Add @nr entries of a leaf, from the first one that is not below @from on, to a scan. */
static __inline_always void scan_entries(const uint64_t *keys, const uint64_t *values,
					 unsigned int nr, uint64_t from, unsigned long limit,
					 struct scan_result *res)
{
	for (unsigned int at = keys_below(keys, nr, from); at < nr && res->nr < limit; at++) {
		uint64_t key = node_get(keys[at]);

		if (!res->nr++)
			res->first = key;
		res->last = key;
		res->sum += node_get(values[at]);
	}
}

#endif
