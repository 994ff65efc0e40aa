/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * index.h - an index: a tree under a synchronisation scheme, as the driver uses it.
 *
 * Each pair of tree and scheme has a table of operations. The driver includes no node
 * and no latch.
 */
#ifndef DEMO_INDEX_H
#define DEMO_INDEX_H

#include "counts.h"
#include "tree.h"

/* One thread's share of an index: what @attach of its tree returned. */
struct index_thread;

/**
 * struct index - the head of each index; the rest belongs to its scheme
 * @ops: its operations
 * @tree: its tree, for the operations of @ops->tree, which acquire no latch
 */
struct index {
	const struct index_ops *ops;
	void *tree;
};

/**
 * struct index_ops - a tree under a synchronisation scheme
 * @tree: the operations of the tree: memory, bulk loading and checks acquire no latch
 * @create: make an empty index; NULL if out of memory
 * @destroy: free what @create allocated, before any @detach
 * @reserve: as in struct tree_ops
 * @load: insert without a latch while no other thread uses the index; after @reserve
 * @search: true and the value if @key is present
 * @search_counted: search and record the cache lines; only if the tree has it
 * @insert: true if @key was absent and was inserted; after @reserve
 * @remove: true and the value if @key was present and was deleted; after @reserve_remove
 * @scan: visit up to @limit entries from the first key that is not below @from
 *
 * Optional, NULL if the scheme has no such operation:
 * @reserve_remove: reserve the memory of one delete, as @reserve for an insert
 * @idle: the thread begins no operation until further notice, so that memory which other
 *	  threads retire need not wait for it
 * @counts: what the thread counted
 * @unfit: message if the scheme does not run with these options or on this machine, else
 *	   NULL; @why has room for it
 *
 * As many threads as the scheme allows may call @search, @search_counted, @insert,
 * @remove and @scan at the same time, each with its own share.
 */
struct index_ops {
	const struct tree_ops *tree;
	struct index *(*create)(const struct index_config *config);
	void (*destroy)(struct index *index);
	int (*reserve)(struct index *index, struct index_thread *thread);
	bool (*load)(struct index *index, struct index_thread *thread, uint64_t key,
		     uint64_t value);
	bool (*search)(struct index *index, struct index_thread *thread, uint64_t key,
		       uint64_t *value);
	bool (*search_counted)(struct index *index, struct index_thread *thread, uint64_t key,
			       uint64_t *value, struct footprint *fp);
	bool (*insert)(struct index *index, struct index_thread *thread, uint64_t key,
		       uint64_t value);
	bool (*remove)(struct index *index, struct index_thread *thread, uint64_t key,
		       uint64_t *value);
	void (*scan)(struct index *index, struct index_thread *thread, uint64_t from,
		     unsigned long limit, struct scan_result *res);

	int (*reserve_remove)(struct index *index, struct index_thread *thread);
	void (*idle)(struct index *index, struct index_thread *thread);
	const struct counts *(*counts)(const struct index_thread *thread);
	const char *(*unfit)(const struct index_config *config, char *why, size_t len);
};

/**
 * index_reserve_remove() - reserve the memory of one delete, if deletes need any
 * @index: the index
 * @thread: the calling thread's share
 *
 * Return: 0, or, with the index unchanged, -ENOMEM, or -ENOSPC if there are no more IDs.
 */
static inline int index_reserve_remove(struct index *index, struct index_thread *thread)
{
	const struct index_ops *ops = index->ops;

	return ops->reserve_remove ? ops->reserve_remove(index, thread) : 0;
}

#endif
