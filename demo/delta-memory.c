// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * delta-memory.c - what a delta storage and its threads take from the system.
 *
 * Nothing here may be called inside a critical section.
 */
#include "delta.h"

#include <errno.h>
#include <stdlib.h>

struct node_allocator delta_allocator;
struct node_allocator delta_core_allocators[DELTA_CORES];
struct column delta_column;

/*
 * Entries and lines that threads may have ready without using them: what
 * area_promise() hands out at once, twice, for each thread.
 */
#define SPARE 2048

/* Most cache lines of nodes: leaves with the fewest IDs, inner nodes with the fewest children. */
static uint64_t lines_for(uint64_t entries)
{
	uint64_t leaves = entries / DELTA_IDS_MIN + 1;

	return leaves * DELTA_LEAF_LINES + leaves / DELTA_IDS_MIN * DELTA_INNER_LINES +
	       DELTA_LINES_PER_INSERT;
}

static unsigned int cores_of(const struct index_config *config)
{
	return config->threads < DELTA_CORES ? config->threads : DELTA_CORES;
}

/* The root of an empty index: a leaf, without taking it from any thread's share. */
static int root_init(struct delta *delta, const struct index_config *config)
{
	struct delta_thread *thread = delta_attach(delta, 0, 1);
	struct delta_leaf *leaf;

	if (!thread)
		return -ENOMEM;
	leaf = area_at(&delta->lines, delta->allocators[0].used);
	delta->allocators[0].used += DELTA_LEAF_LINES;
	leaf->node.nr = 0;
	leaf->node.level = 0;
	leaf->next = NULL;
	delta->root = &leaf->node;
	delta_detach(thread);
	return 0;
}

/**
 * delta_init() - an empty delta storage
 * @delta: the storage; the only one in use
 * @config: what it is made for
 *
 * Return: 0, or -ENOMEM with nothing taken.
 */
int delta_init(struct delta *delta, const struct index_config *config)
{
	unsigned int cores = cores_of(config);
	uint64_t spare = (uint64_t)SPARE * (config->threads + 1);
	uint64_t lines_spare = spare + DELTA_LINES_PER_INSERT * (config->threads + 1ull);
	uint64_t entries;

	if (__builtin_add_overflow(config->entries, spare, &entries))
		return -ENOMEM;
	*delta = (struct delta){
		.binary = config->binary_search,
		.keep_rows = config->rows,
		.nr_allocators = (uint16_t)(config->core_allocators ? cores : 1),
		.allocators = config->core_allocators ? delta_core_allocators : &delta_allocator,
		.lines_max = lines_for(config->entries) + lines_spare,
	};
	delta_column = (struct column){ 0 };
	memset(delta->allocators, 0, delta->nr_allocators * sizeof(delta->allocators[0]));
	if (dictionaries_init(&delta->dicts, config->core_dictionaries ? cores : 0, config->texts,
			      entries))
		return -ENOMEM;
	if (area_init(&delta->lines, CACHE_LINE, delta->lines_max * delta->nr_allocators))
		goto free_dictionaries;
	if (config->rows && area_init(&delta->rows, sizeof(struct delta_row), entries))
		goto free_lines;
	if (root_init(delta, config))
		goto free_rows;
	return 0;

free_rows:
	area_destroy(&delta->rows);
free_lines:
	area_destroy(&delta->lines);
free_dictionaries:
	dictionaries_destroy(&delta->dicts);
	return -ENOMEM;
}

/**
 * delta_destroy() - give all memory back
 * @delta: the storage
 */
void delta_destroy(struct delta *delta)
{
	area_destroy(&delta->rows);
	area_destroy(&delta->lines);
	dictionaries_destroy(&delta->dicts);
}

/**
 * delta_bytes() - the most memory a delta storage will take
 * @config: what it is made for
 */
double delta_bytes(const struct index_config *config)
{
	double entry = config->texts ? sizeof(struct delta_entry) : 2 * sizeof(uint64_t);

	if (config->rows)
		entry += sizeof(struct delta_row);
	return (double)config->entries * entry + (double)lines_for(config->entries) * CACHE_LINE;
}

/**
 * delta_entries_max() - how many entries one thread can insert: as an ID can number
 * @config: what the storage is made for
 */
uint64_t delta_entries_max(const struct index_config *config)
{
	return (1ull << (config->core_dictionaries ? DELTA_POSITION_BITS : DELTA_ID_BITS)) -
	       (uint64_t)SPARE * (config->threads + 1);
}

/**
 * delta_attach() - a thread that will insert
 * @delta: the storage
 * @core: number of its core
 * @inserts: how often it will probably insert
 *
 * Return: the thread, or NULL without memory.
 */
struct delta_thread *delta_attach(const struct delta *delta, unsigned int core, uint64_t inserts)
{
	struct delta_thread *thread = aligned_alloc(CACHE_LINE, sizeof(*thread));

	if (!thread)
		return NULL;
	*thread = (struct delta_thread){ .core = core };
	if (delta_refill(delta, thread, inserts)) {
		free(thread);
		return NULL;
	}
	return thread;
}

/**
 * delta_detach() - the thread inserts no more
 * @thread: the thread
 */
void delta_detach(struct delta_thread *thread)
{
	free(thread);
}

/**
 * delta_refill() - the part of delta_reserve() that takes memory
 * @delta: the storage
 * @thread: the calling thread
 * @inserts: how many it must be enough for; for nodes that is an estimate
 *
 * Return: 0 or -ENOMEM.
 */
int delta_refill(const struct delta *delta, struct delta_thread *thread, uint64_t inserts)
{
	unsigned int which = thread->core % delta->nr_allocators;
	uint64_t lines = inserts > 1 ? lines_for(inserts) : DELTA_LINES_PER_INSERT;
	int err;

	err = dictionary_reserve(&delta->dicts, thread->core, &thread->entries, inserts);
	if (!err)
		err = area_promise(&delta->lines, which * delta->lines_max, delta->lines_max,
				   &delta->allocators[which].promised, &thread->lines, lines);
	if (err)
		return err;
	if (delta->keep_rows)
		return area_promise(&delta->rows, 0, delta->rows.max, &delta_column.promised,
				    &thread->rows, inserts);
	/* Always one, so that who looks whether all is ready need not ask if rows are kept. */
	thread->rows = 1;
	return 0;
}
