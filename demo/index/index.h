/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * index.h - an index: a tree under a synchronisation scheme, as the driver uses it.
 *
 * Each pair of tree and scheme has a table of operations. The driver includes no node
 * and no latch.
 */
#ifndef DEMO_INDEX_H
#define DEMO_INDEX_H

#include "tree.h"

/* One thread's share of an index: the memory that @attach of its tree has reserved. */
struct index_thread;

/**
 * struct index - the head of each index; the rest belongs to its scheme
 * @ops: its operations
 * @tree: its tree, for the operations of @ops->tree that take no latch
 */
struct index {
	const struct index_ops *ops;
	void *tree;
};

/**
 * struct index_ops - a tree under a synchronisation scheme
 * @tree: the operations of the tree: memory, loading and checks take no latch
 * @create: make an empty index; NULL if out of memory
 * @destroy: free what @create allocated, before any @detach
 * @reserve: as in struct tree_ops
 * @search: as in struct tree_ops
 * @search_counted: as in struct tree_ops; only if the tree has it
 * @insert: as in struct tree_ops
 * @remove: as in struct tree_ops
 * @scan: as in struct tree_ops
 *
 * As many threads as the scheme allows may call @search, @search_counted, @insert,
 * @remove and @scan at the same time, each with its own share.
 */
struct index_ops {
	const struct tree_ops *tree;
	struct index *(*create)(const struct index_config *config);
	void (*destroy)(struct index *index);
	int (*reserve)(struct index *index, struct index_thread *thread);
	bool (*search)(struct index *index, uint64_t key, uint64_t *value);
	bool (*search_counted)(struct index *index, uint64_t key, uint64_t *value,
			       struct footprint *fp);
	bool (*insert)(struct index *index, struct index_thread *thread, uint64_t key,
		       uint64_t value);
	bool (*remove)(struct index *index, struct index_thread *thread, uint64_t key,
		       uint64_t *value);
	void (*scan)(struct index *index, uint64_t from, unsigned long limit,
		     struct scan_result *res);
};

#endif
