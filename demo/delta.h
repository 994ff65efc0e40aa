/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * delta.h - a delta storage: column data of IDs, dictionary, and index of IDs.
 *
 * After Karnagel et al., "Improving in-memory database index performance with
 * Intel Transactional Synchronization Extensions", HPCA 2014: section 2, and
 * the transformations of section 5, each a switch. The operations know no
 * latch: a synchronisation scheme calls them inside its critical sections.
 * They make no system call and take only memory that delta_reserve() made ready.
 *
 * One a process, because the words that conflict have global names.
 */
#ifndef DEMO_DELTA_H
#define DEMO_DELTA_H

#include "delta-node.h"
#include "dictionary.h"
#include "footprint.h"
#include "index.h"

/* Cache lines one insert may take: a split on every level and a new root. */
#define DELTA_LINES_PER_INSERT (DELTA_LEAF_LINES + DELTA_LEVELS_MAX * DELTA_INNER_LINES)

/**
 * struct node_allocator - the words of an allocator of nodes that are written
 * @used: cache lines of nodes; every split counts it up
 * @promised: lines that are present, see area_promise()
 */
struct node_allocator {
	uint64_t used __cacheline_aligned;
	uint64_t promised __cacheline_aligned;
};

/**
 * struct column - the words of the column data that are written
 * @nr_rows: rows; every insert counts it up where rows are kept
 * @promised: rows that are present, see area_promise()
 */
struct column {
	uint64_t nr_rows __cacheline_aligned;
	uint64_t promised __cacheline_aligned;
};

/* Under names that a report of conflicts can give. */
extern struct node_allocator delta_allocator;
extern struct node_allocator delta_core_allocators[DELTA_CORES];
extern struct column delta_column;

/* A row of the column; a deleted one stays where it is. */
struct delta_row {
	uint32_t id;
	uint32_t visible;
};

/**
 * struct delta - a delta storage
 * @root: of the index, never NULL
 * @dicts: the values
 * @binary: search nodes by halving (5.1.2), not from the left
 * @keep_rows: whether an insert appends to the column data
 * @nr_allocators: 1, or one for each core (5.2.2)
 * @allocators: of nodes
 * @lines: where nodes are: each allocator has @lines_max cache lines in a row
 * @rows: the column data
 *
 * The first line, which every operation reads, is written only when the height
 * of the tree changes.
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
 * struct delta_thread - a thread that inserts
 * @core: which dictionary and allocator are its own, if there is one for each core
 * @entries: of a dictionary, ready for it
 * @lines: of an allocator
 * @rows: of the column
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
 * delta_reserve() - have memory for an insert ready, outside the critical section
 * @delta: the storage
 * @thread: the calling thread
 *
 * Return: 0, or -ENOMEM with the storage whole and usable.
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
 * Reading the IDs of all leaves from there on gives them in the order of their
 * values.
 */
static inline const struct delta_leaf *delta_first_leaf(const struct delta *delta)
{
	const struct delta_node *node = delta->root;

	while (node->level)
		node = ((const struct delta_inner *)node)->children[0];
	return (const struct delta_leaf *)node;
}

#endif
