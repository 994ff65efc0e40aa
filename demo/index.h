/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * index.h - what the driver knows of an index: a table of operations.
 *
 * Every index under every synchronisation scheme fills in one table. Node
 * layouts and latches stay behind it.
 */
#ifndef DEMO_INDEX_H
#define DEMO_INDEX_H

#include "base.h"

#include <stdbool.h>

struct footprint;

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

/**
 * struct merge_result - column data merged into a sorted dictionary and packed rows
 * @rows: rows that were not deleted
 * @values: distinct values they have
 * @bits: of a packed row
 * @wrong: rows whose value is not what it was
 *
 * All 0 where no column data is kept.
 */
struct merge_result {
	uint64_t rows;
	uint64_t values;
	unsigned int bits;
	uint64_t wrong;
};

/* Called for each entry in ascending order; anything but 0 ends the walk. */
typedef int (*visit_fn)(void *ctx, uint64_t key, uint64_t value);

/**
 * struct index_config - what an index is made for
 * @threads: threads that will use it
 * @entries: most entries it will ever have
 * @binary_search: halve the nodes of a delta storage, rather than search from the left
 * @core_dictionaries: a dictionary for each core, rather than one
 * @core_allocators: an allocator of nodes for each core, rather than one
 * @texts: its values are texts, rather than numbers
 * @rows: keep the column data
 *
 * All but the first two are for the delta storage alone.
 */
struct index_config {
	unsigned int threads;
	uint64_t entries;
	bool binary_search;
	bool core_dictionaries;
	bool core_allocators;
	bool texts;
	bool rows;
};

/* One thread's share of an index: the memory it has ready. */
struct index_thread;

/* The head of every index; the rest belongs to its scheme. */
struct index {
	const struct index_ops *ops;
};

/**
 * struct index_ops - an index under one synchronisation scheme
 * @bytes: most memory that an index will take
 * @entries_max: most entries that one thread can insert
 * @create: an empty index, or NULL without memory
 * @destroy: give back what @create took, before any @detach
 * @attach: memory for a thread that will probably insert so often, or NULL;
 *	    its number from 0 is taken for the number of its core
 * @detach: give it back; entries may have moved to memory of other threads
 * @reserve: have memory for one insert ready: 0, or -ENOMEM with the index whole
 * @load: insert before any other thread knows the index, without the latch
 * @search: true and the value if @key is present
 * @search_counted: the same, noting the cache lines it reads
 * @insert: true if @key was absent and is now present; otherwise no write to the index
 * @remove: true and the value it had if @key was present
 * @scan: visit up to @limit entries from the first key not below @from
 * @check: true, or false and a description, if the structure is broken;
 *	   no other thread may use the index
 * @walk: visit all entries, under the same condition; returns what the visitor did
 * @merge: merge the column data, under the same condition: 0 or -ENOMEM; the
 *	   index stays as it is
 *
 * @search, @insert, @remove and @scan may be called by all threads at once,
 * each with its own share; @insert only after @reserve.
 */
struct index_ops {
	double (*bytes)(const struct index_config *config);
	uint64_t (*entries_max)(const struct index_config *config);
	struct index *(*create)(const struct index_config *config);
	void (*destroy)(struct index *index);
	struct index_thread *(*attach)(struct index *index, unsigned int nr, uint64_t inserts);
	void (*detach)(struct index_thread *thread);
	int (*reserve)(struct index *index, struct index_thread *thread);
	bool (*load)(struct index *index, struct index_thread *thread, uint64_t key,
		     uint64_t value);
	bool (*search)(struct index *index, uint64_t key, uint64_t *value);
	bool (*search_counted)(struct index *index, uint64_t key, uint64_t *value,
			       struct footprint *fp);
	bool (*insert)(struct index *index, struct index_thread *thread, uint64_t key,
		       uint64_t value);
	bool (*remove)(struct index *index, struct index_thread *thread, uint64_t key,
		       uint64_t *value);
	void (*scan)(struct index *index, uint64_t from, unsigned long limit,
		     struct scan_result *res);
	bool (*check)(const struct index *index, char *why, size_t len);
	int (*walk)(const struct index *index, visit_fn visit, void *ctx);
	int (*merge)(const struct index *index, struct merge_result *res);
};

#endif
