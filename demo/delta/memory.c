// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * memory.c - memory of a delta storage and of the threads that use it.
 *
 * All functions of this file may make system calls, so none may be called inside a
 * critical section.
 */
#include "delta.h"

#include <errno.h>
#include <stdlib.h>

struct node_allocator delta_allocator;
struct node_allocator delta_core_allocators[DELTA_CORES];
struct column delta_column;

/*
 * Entries and lines that a thread may have reserved without using them: twice the
 * 1024 elements that area_promise() hands out at once.
 */
#define SPARE 2048

/* Maximum number of cache lines of nodes: all leaves and inner nodes have minimum fill. */
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

static bool has_core_dictionaries(const struct index_config *config)
{
	return delta_option(config, DELTA_OPTION_dictionary) == DELTA_SHARING_per_core;
}

static bool has_core_allocators(const struct index_config *config)
{
	return delta_option(config, DELTA_OPTION_allocator) == DELTA_SHARING_per_core;
}

static bool has_texts(const struct index_config *config)
{
	return delta_option(config, DELTA_OPTION_values) == DELTA_VALUES_string;
}

/* Make the root of an empty index, a leaf, with memory that no thread has reserved. */
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
 * delta_init() - initialise an empty delta storage
 * @delta: the storage, the only one of the process
 * @config: number of threads and of entries, and the options
 *
 * Return: 0, or -ENOMEM with no memory allocated.
 */
int delta_init(struct delta *delta, const struct index_config *config)
{
	unsigned int cores = cores_of(config);
	uint64_t spare = (uint64_t)SPARE * (config->threads + 1);
	uint64_t lines_spare = spare + DELTA_LINES_PER_INSERT * (config->threads + 1ull);
	bool core_allocators = has_core_allocators(config);
	uint64_t entries;

	if (__builtin_add_overflow(config->entries, spare, &entries))
		return -ENOMEM;
	*delta = (struct delta){
		.binary = delta_option(config, DELTA_OPTION_search) == DELTA_SEARCH_binary,
		.keep_rows = delta_option(config, DELTA_OPTION_rows),
		.nr_allocators = (uint16_t)(core_allocators ? cores : 1),
		.allocators = core_allocators ? delta_core_allocators : &delta_allocator,
		.lines_max = lines_for(config->entries) + lines_spare,
	};
	delta_column = (struct column){ 0 };
	memset(delta->allocators, 0, delta->nr_allocators * sizeof(delta->allocators[0]));
	if (dictionaries_init(&delta->dicts, has_core_dictionaries(config) ? cores : 0,
			      has_texts(config), entries))
		return -ENOMEM;
	if (area_init(&delta->lines, CACHE_LINE, delta->lines_max * delta->nr_allocators))
		goto free_dictionaries;
	if (delta->keep_rows && area_init(&delta->rows, sizeof(struct delta_row), entries))
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
 * delta_destroy() - free all memory of a storage
 * @delta: the storage
 */
void delta_destroy(struct delta *delta)
{
	area_destroy(&delta->rows);
	area_destroy(&delta->lines);
	dictionaries_destroy(&delta->dicts);
}

/**
 * delta_bytes() - maximum memory of a delta storage in bytes
 * @config: number of entries, and the options
 */
double delta_bytes(const struct index_config *config)
{
	double entry = has_texts(config) ? sizeof(struct delta_entry) : 2 * sizeof(uint64_t);

	if (delta_option(config, DELTA_OPTION_rows))
		entry += sizeof(struct delta_row);
	return (double)config->entries * entry + (double)lines_for(config->entries) * CACHE_LINE;
}

/**
 * delta_entries_max() - maximum number of entries that one thread can insert
 * @config: number of threads, and the options
 *
 * The bits of an ID that are the position in a dictionary limit the number.
 */
uint64_t delta_entries_max(const struct index_config *config)
{
	return (1ull << (has_core_dictionaries(config) ? DELTA_POSITION_BITS : DELTA_ID_BITS)) -
	       (uint64_t)SPARE * (config->threads + 1);
}

/**
 * delta_attach() - reserve memory for a thread that inserts
 * @delta: the storage
 * @core: number of the thread's core
 * @inserts: expected number of the thread's inserts
 *
 * Return: the thread, or NULL if out of memory.
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
 * delta_detach() - free a thread, which inserts no more
 * @thread: the thread
 */
void delta_detach(struct delta_thread *thread)
{
	free(thread);
}

/**
 * delta_refill() - take memory for inserts; the slow path of delta_reserve()
 * @delta: the storage
 * @thread: the calling thread
 * @inserts: number of inserts; the number of nodes that they need is an estimate
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
	/* Without column data one row stays reserved, so delta_reserve() has one condition. */
	thread->rows = 1;
	return 0;
}
