/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tree.h - the operations of a tree as a table.
 *
 * A tree NAME has a type struct NAME, functions NAME_operation() and, at the end of its
 * header, TREE_FUNCTIONS(NAME) and a static const table NAME_tree. The table is a
 * constant where a synchronisation scheme uses it, so the compiler makes the calls
 * direct. A tree acquires no latch and must never include one.
 */
#ifndef DEMO_INDEX_TREE_H
#define DEMO_INDEX_TREE_H

#include "../base/base.h"

#include <stdbool.h>

struct footprint;
struct option_row;

/* Maximum number of options of a tree, to bound the array of their values. */
#define TREE_OPTIONS_MAX 32

/**
 * struct index_config - what an index is created for
 * @threads: number of threads that will use it
 * @entries: maximum number of entries
 * @options: values of the rows of the tree's options, NULL for the defaults
 */
struct index_config {
	unsigned int threads;
	uint64_t entries;
	const uint64_t *options;
};

/**
 * struct scan_result - result of a scan
 * @nr: number of entries visited
 * @first: key of the first entry
 * @last: key of the last entry
 * @sum: sum of the values modulo 2^64
 */
struct scan_result {
	unsigned long nr;
	uint64_t first;
	uint64_t last;
	uint64_t sum;
};

/**
 * struct merge_result - result of merging column data into a main storage
 * @kept: the index keeps column data; if not, the rest is 0
 * @rows: number of rows that are not deleted
 * @values: number of distinct values of these rows
 * @bits: number of bits of a packed row
 * @wrong: number of rows whose value differs after the merge
 */
struct merge_result {
	bool kept;
	uint64_t rows;
	uint64_t values;
	unsigned int bits;
	uint64_t wrong;
};

/**
 * struct bulk_source - sorted entries from which an empty tree is built
 * @nr: number of entries
 * @fill: mean fill of the nodes in per cent, 1 to 100
 * @entry: entry @i, below @nr; keys ascend strictly with @i
 * @ctx: first argument of @entry
 */
struct bulk_source {
	uint64_t nr;
	unsigned int fill;
	void (*entry)(void *ctx, uint64_t i, uint64_t *key, uint64_t *value);
	void *ctx;
};

/**
 * struct tree_shape - the size of a tree
 * @entries: number of entries
 * @height: number of levels
 * @leaves: number of leaves
 * @inner: number of inner nodes
 * @bytes: memory of the nodes in the tree, without free and retired ones
 */
struct tree_shape {
	uint64_t entries;
	unsigned int height;
	uint64_t leaves, inner;
	uint64_t bytes;
};

/* Called for each entry in ascending order of keys; a result other than 0 ends the walk. */
typedef int (*visit_fn)(void *ctx, uint64_t key, uint64_t value);

/**
 * struct tree_ops - a tree of 8-byte keys and values
 * @bytes: maximum memory in bytes
 * @init: initialise an empty tree: 0 or -ENOMEM
 * @destroy: free its memory, before any @detach
 * @attach: reserve memory for the expected inserts of a thread, whose number from 0 is
 *	    also the number of its core; NULL if out of memory
 * @detach: free that memory; nodes may have moved from and to other threads' memory
 * @reserve: reserve the memory of one insert: 0, or, with the tree unchanged, -ENOMEM, or
 *	     -ENOSPC if the tree may have no more IDs of nodes; called outside critical sections
 * @search: true and the value if @key is present
 * @insert: true if @key was absent and was inserted; after @reserve
 * @remove: true and the value if @key was present and was deleted
 * @scan: visit up to @limit entries from the first key that is not below @from
 * @check: true, or false and a description of the first fault of the structure
 * @walk: visit all entries; returns the result of the last @visit
 *
 * @search, @insert, @remove and @scan are for schemes that hold one latch around them. A
 * tree whose latches lie in its nodes has none of the four: its schemes contain them.
 *
 * Optional, NULL if the tree has no such operation:
 * @options: the table of its options
 * @search_counted: search and record the cache lines that are read
 * @entries_max: maximum number of entries that one thread can insert
 * @no_deletes: message if this configuration has no deletes, else NULL
 * @merge: merge the column data and compare it: 0 or -ENOMEM, with the tree unchanged
 * @unfit: message if the values of the options do not fit together, else NULL; @why has
 *	   room for it
 * @bulk: build an empty tree from sorted entries: 0, or -ENOMEM or -ENOSPC with the tree
 *	  empty; takes the nodes from @thread
 * @shape: the size of the tree; no other thread may use it
 *
 * One thread at a time may call @search, @insert, @remove and @scan, or a scheme allows
 * more. No other thread may use the tree during @check, @walk and @merge.
 */
struct tree_ops {
	double (*bytes)(const struct index_config *config);
	int (*init)(void *tree, const struct index_config *config);
	void (*destroy)(void *tree);
	void *(*attach)(void *tree, unsigned int core, uint64_t inserts);
	void (*detach)(void *thread);
	int (*reserve)(void *tree, void *thread);
	bool (*search)(void *tree, uint64_t key, uint64_t *value);
	bool (*insert)(void *tree, void *thread, uint64_t key, uint64_t value);
	bool (*remove)(void *tree, void *thread, uint64_t key, uint64_t *value);
	void (*scan)(void *tree, uint64_t from, unsigned long limit, struct scan_result *res);
	bool (*check)(const void *tree, char *why, size_t len);
	int (*walk)(const void *tree, visit_fn visit, void *ctx);

	const struct option_row *options;
	bool (*search_counted)(void *tree, uint64_t key, uint64_t *value, struct footprint *fp);
	uint64_t (*entries_max)(const struct index_config *config);
	const char *(*no_deletes)(const struct index_config *config);
	int (*merge)(const void *tree, struct merge_result *res);
	const char *(*unfit)(const struct index_config *config, char *why, size_t len);
	int (*bulk)(void *tree, void *thread, const struct bulk_source *source);
	void (*shape)(const void *tree, struct tree_shape *shape);
};

/* Wrap the functions of a tree in functions that take pointers to void. */
#define TREE_FUNCTIONS(id)                                                                         \
	static inline int id##_do_init(void *tree, const struct index_config *config)              \
	{                                                                                          \
		return id##_init(tree, config);                                                    \
	}                                                                                          \
	static inline void id##_do_destroy(void *tree)                                             \
	{                                                                                          \
		id##_destroy(tree);                                                                \
	}                                                                                          \
	static inline void *id##_do_attach(void *tree, unsigned int core, uint64_t inserts)        \
	{                                                                                          \
		return id##_attach(tree, core, inserts);                                           \
	}                                                                                          \
	static inline void id##_do_detach(void *thread)                                            \
	{                                                                                          \
		id##_detach(thread);                                                               \
	}                                                                                          \
	static inline int id##_do_reserve(void *tree, void *thread)                                \
	{                                                                                          \
		return id##_reserve(tree, thread);                                                 \
	}                                                                                          \
	static inline bool id##_do_search(void *tree, uint64_t key, uint64_t *value)               \
	{                                                                                          \
		return id##_search(tree, key, value);                                              \
	}                                                                                          \
	static inline bool id##_do_insert(void *tree, void *thread, uint64_t key, uint64_t value)  \
	{                                                                                          \
		return id##_insert(tree, thread, key, value);                                      \
	}                                                                                          \
	static inline bool id##_do_remove(void *tree, void *thread, uint64_t key, uint64_t *value) \
	{                                                                                          \
		return id##_remove(tree, thread, key, value);                                      \
	}                                                                                          \
	static inline void id##_do_scan(void *tree, uint64_t from, unsigned long limit,            \
					struct scan_result *res)                                   \
	{                                                                                          \
		id##_scan(tree, from, limit, res);                                                 \
	}                                                                                          \
	static inline bool id##_do_check(const void *tree, char *why, size_t len)                  \
	{                                                                                          \
		return id##_check(tree, why, len);                                                 \
	}                                                                                          \
	static inline int id##_do_walk(const void *tree, visit_fn visit, void *ctx)                \
	{                                                                                          \
		return id##_walk(tree, visit, ctx);                                                \
	}

/* The same for the optional functions. */
#define TREE_SEARCH_COUNTED(id)                                                                    \
	static inline bool id##_do_search_counted(void *tree, uint64_t key, uint64_t *value,       \
						  struct footprint *fp)                            \
	{                                                                                          \
		return id##_search_counted(tree, key, value, fp);                                  \
	}

#define TREE_MERGE(id)                                                                             \
	static inline int id##_do_merge(const void *tree, struct merge_result *res)                \
	{                                                                                          \
		return id##_merge(tree, res);                                                      \
	}

/* The members of the table of a tree that are not optional. */
#define TREE_OPS(id)                                                                               \
	.bytes = id##_bytes, .init = id##_do_init, .destroy = id##_do_destroy,                     \
	.attach = id##_do_attach, .detach = id##_do_detach, .reserve = id##_do_reserve,            \
	.search = id##_do_search, .insert = id##_do_insert, .remove = id##_do_remove,              \
	.scan = id##_do_scan, .check = id##_do_check, .walk = id##_do_walk

#endif
