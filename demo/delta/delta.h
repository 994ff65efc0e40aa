/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * delta.h - a delta storage: column data of IDs, dictionary, and index of IDs.
 *
 * The delta storage is that of Karnagel et al., "Improving in-memory database index
 * performance with Intel Transactional Synchronization Extensions", HPCA 2014,
 * section 2. Each transformation of section 5 is an option. The operations acquire no
 * latch: a synchronisation scheme calls them inside its critical sections. They make
 * no system call and take only memory that delta_reserve() has reserved.
 *
 * This header is the interface of the folder: it declares functions of delta.c,
 * memory.c, column.c, check.c and main-store.c.
 *
 * A process has at most one delta storage, because the words that conflict are global
 * variables, whose names a report of conflicts shows.
 */
#ifndef DEMO_DELTA_H
#define DEMO_DELTA_H

#include "node.h"
#include "dictionary.h"
#include "options.h"
#include "../base/footprint.h"
#include "../index/tree.h"

/* Maximum number of cache lines that an insert takes: a split on each level, a new root. */
#define DELTA_LINES_PER_INSERT (DELTA_LEAF_LINES + DELTA_LEVELS_MAX * DELTA_INNER_LINES)

/**
 * struct node_allocator - the words of a node allocator that operations write
 * @used: number of cache lines in use; each split increments it
 * @promised: number of lines promised to threads, see area_promise()
 */
struct node_allocator {
	uint64_t used __cacheline_aligned;
	uint64_t promised __cacheline_aligned;
};

/**
 * struct column - the words of the column data that operations write
 * @nr_rows: number of rows; with the option rows each insert increments it
 * @promised: number of rows promised to threads, see area_promise()
 */
struct column {
	uint64_t nr_rows __cacheline_aligned;
	uint64_t promised __cacheline_aligned;
};

/* These variables are global so that a report of conflicts shows their names. */
extern struct node_allocator delta_allocator;
extern struct node_allocator delta_core_allocators[DELTA_CORES];
extern struct column delta_column;

/* struct delta_row - a row of the column; to delete it clears @visible */
struct delta_row {
	uint32_t id;
	uint32_t visible;
};

/**
 * struct delta - a delta storage
 * @root: root of the index, never NULL
 * @dicts: the dictionaries, which hold the values
 * @binary: nodes are searched by bisection (section 5.1.2), else linearly
 * @keep_rows: inserts append to the column data
 * @nr_allocators: 1, or one for each core (section 5.2.2)
 * @allocators: the node allocators
 * @lines: memory of the nodes; each allocator has @lines_max consecutive cache lines
 * @lines_max: maximum number of cache lines of an allocator
 * @rows: memory of the column data
 *
 * The first cache line, which each operation reads, is written only when the height
 * of the index changes.
 */
struct delta {
	struct delta_node *root;
	struct dictionaries dicts;
	bool binary;
	bool keep_rows;
	uint16_t nr_allocators __cacheline_aligned;
	struct node_allocator *allocators;
	struct area lines;
	uint64_t lines_max;
	struct area rows;
} __cacheline_aligned;

_Static_assert(offsetof(struct delta, nr_allocators) == CACHE_LINE, "a traversal reads one line");

/**
 * struct delta_thread - a thread that inserts, and the memory reserved for it
 * @core: number of the thread's core; selects its dictionary and its allocator
 * @entries: reserved entries of the dictionary
 * @lines: reserved cache lines of the allocator
 * @rows: reserved rows of the column
 */
struct delta_thread {
	unsigned int core;
	uint64_t entries;
	uint64_t lines;
	uint64_t rows;
} __cacheline_aligned;

int delta_init(struct delta *delta, const struct index_config *config);
void delta_destroy(struct delta *delta);
double delta_bytes(const struct index_config *config);
uint64_t delta_entries_max(const struct index_config *config);
struct delta_thread *delta_attach(const struct delta *delta, unsigned int core, uint64_t inserts);
void delta_detach(struct delta_thread *thread);
int delta_refill(const struct delta *delta, struct delta_thread *thread, uint64_t inserts);

bool delta_find(const struct delta *delta, const union delta_value *value, uint32_t *id);
bool delta_add(struct delta *delta, struct delta_thread *thread, const union delta_value *value,
	       uint64_t payload);
bool delta_drop(struct delta *delta, const union delta_value *value, uint64_t *payload);

bool delta_search(const struct delta *delta, uint64_t key, uint64_t *value);
bool delta_search_counted(const struct delta *delta, uint64_t key, uint64_t *value,
			  struct footprint *fp);
bool delta_insert(struct delta *delta, struct delta_thread *thread, uint64_t key, uint64_t value);
bool delta_remove(struct delta *delta, struct delta_thread *thread, uint64_t key,
		  uint64_t *value);
void delta_scan(const struct delta *delta, uint64_t from, unsigned long limit,
		struct scan_result *res);
int delta_walk(const struct delta *delta, visit_fn visit, void *ctx);
bool delta_check(const struct delta *delta, char *why, size_t len);
int delta_merge(const struct delta *delta, struct merge_result *res);
uint64_t delta_rows(const struct delta *delta);
bool delta_delete_row(struct delta *delta, uint64_t row);

/**
 * delta_reserve() - reserve the memory of one insert; called outside critical sections
 * @delta: the storage
 * @thread: the calling thread
 *
 * Return: 0, or -ENOMEM with the storage unchanged.
 */
static inline int delta_reserve(const struct delta *delta, struct delta_thread *thread)
{
	if (likely(thread->entries && thread->lines >= DELTA_LINES_PER_INSERT && thread->rows))
		return 0;
	return delta_refill(delta, thread, 1);
}

/**
 * delta_first_leaf() - the leaf with the lowest values
 * @delta: the storage
 *
 * The leaf list from this leaf on has all IDs in the order of their values.
 */
static inline const struct delta_leaf *delta_first_leaf(const struct delta *delta)
{
	const struct delta_node *node = delta->root;

	while (node->level)
		node = ((const struct delta_inner *)node)->children[0];
	return (const struct delta_leaf *)node;
}

TREE_FUNCTIONS(delta)
TREE_SEARCH_COUNTED(delta)
TREE_MERGE(delta)

static const struct tree_ops delta_tree = {
	TREE_OPS(delta),
	.options = delta_options,
	.search_counted = delta_do_search_counted,
	.entries_max = delta_entries_max,
	.no_deletes = delta_no_deletes,
	.merge = delta_do_merge,
};

#endif
