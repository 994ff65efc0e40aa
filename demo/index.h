/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * index.h - what the driver knows of an index: a table of operations.
 *
 * Every index under every synchronisation scheme fills in one table. Node
 * layouts and latches stay behind it.
 */
#ifndef DEMO_INDEX_H
#define DEMO_INDEX_H

#include "pool.h"

#include <stdbool.h>

/**
 * struct scan_result - what a scan saw
 * @nr: entries visited
 * @first: key of the first of them
 * @last: key of the last of them
 * @sum: sum of their values, modulo 2^64
 */
struct scan_result {
	unsigned long nr;
	uint64_t first;
	uint64_t last;
	uint64_t sum;
};

/* Called for each entry in ascending order; anything but 0 ends the walk. */
typedef int (*visit_fn)(void *ctx, uint64_t key, uint64_t value);

/* The head of every index; the rest belongs to its scheme. */
struct index {
	const struct index_ops *ops;
};

/**
 * struct index_ops - an index under one synchronisation scheme
 * @node_size: bytes of a node, for the pools
 * @node_keys_min: fewest keys of a node that is not the root
 * @nodes_per_insert: nodes the caller has ready before each insert
 * @create: an empty index, its first node from @pool, or NULL without memory
 * @destroy: give back what @create took; nodes belong to the pools
 * @load: insert before any other thread knows the index, without the latch
 * @search: true and the value if @key is present
 * @insert: true if @key was absent and is now present; no write otherwise
 * @remove: true and the value it had if @key was present
 * @scan: visit up to @limit entries from the first key not below @from
 * @check: true, or false and a description, if the structure is broken;
 *	   no other thread may use the index
 * @walk: visit all entries, under the same condition; returns what the visitor did
 *
 * @search, @insert, @remove and @scan may be called by all threads at once,
 * each with its own pool.
 */
struct index_ops {
	size_t node_size;
	unsigned int node_keys_min;
	unsigned int nodes_per_insert;
	struct index *(*create)(struct node_pool *pool);
	void (*destroy)(struct index *index);
	bool (*load)(struct index *index, struct node_pool *pool, uint64_t key, uint64_t value);
	bool (*search)(struct index *index, uint64_t key, uint64_t *value);
	bool (*insert)(struct index *index, struct node_pool *pool, uint64_t key, uint64_t value);
	bool (*remove)(struct index *index, struct node_pool *pool, uint64_t key, uint64_t *value);
	void (*scan)(struct index *index, uint64_t from, unsigned long limit,
		     struct scan_result *res);
	bool (*check)(const struct index *index, char *why, size_t len);
	int (*walk)(const struct index *index, visit_fn visit, void *ctx);
};

#endif
