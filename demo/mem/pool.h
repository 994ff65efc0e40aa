/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pool.h - free nodes in present pages, one pool for each thread.
 *
 * An operation on an index runs inside a critical section, which may be a
 * hardware transaction. A system call or a page fault would abort it. So a
 * thread fills its pool before the operation. Inside the operation, to take a
 * node or to give one back is two stores to memory that only this thread writes.
 * pool_get() and pool_put() must never allocate, fault or lock.
 *
 * AddressSanitizer reports each access to a free node: its bytes other than the link
 * are poisoned.
 */
#ifndef DEMO_POOL_H
#define DEMO_POOL_H

#include "../base/base.h"

#include "poison.h"

struct pool_chunk;

/*
 * The link of a free node, at the offset @link; its other bytes keep their content. It lies
 * where a node in use has a field of another type.
 */
struct pool_free {
	struct pool_free *next;
} __attribute__((may_alias));

/**
 * struct pool_nodes - what the nodes of a pool are
 * @size: size of a node in bytes, a multiple of the cache line
 * @link: offset of the 8 bytes that link free nodes, a multiple of 8
 * @parts: number of parts of a node, of @size / @parts bytes each; 0 is 1
 * @init: called once for each part of each node that the pool takes from the heap, so that
 *	  a free node has latches that are ready; NULL for nothing
 * @fini: called once for each part before its memory goes back to the heap; NULL for nothing
 */
struct pool_nodes {
	size_t size;
	size_t link;
	unsigned int parts;
	void (*init)(void *part);
	void (*fini)(void *part);
};

/**
 * struct node_pool - the free nodes of one thread
 * @free: list of the free nodes; all their pages have been written
 * @nr_free: number of nodes in @free
 * @of: what the nodes are
 * @nr_nodes: number of nodes that the pool took from the heap
 * @nr_chunks: number of chunks in @chunks
 * @chunks: list of the memory that pool_grow() took from the heap
 *
 * The thread that removes a node puts it into its own pool, whichever pool the
 * node came from. So a pool is destroyed only after the index that holds its nodes.
 */
struct node_pool {
	struct pool_free *free;
	unsigned long nr_free;
	struct pool_nodes of;
	unsigned long nr_nodes;
	unsigned long nr_chunks;
	struct pool_chunk *chunks;
} __cacheline_aligned;

void pool_init(struct node_pool *pool, size_t node_size);
void pool_init_nodes(struct node_pool *pool, const struct pool_nodes *of);
int pool_grow(struct node_pool *pool, unsigned long nr);
void pool_destroy(struct node_pool *pool);

/**
 * pool_reserve() - have at least @nr free nodes; called outside critical sections
 * @pool: the calling thread's pool
 * @nr: maximum number of nodes that the next operation takes
 *
 * Return: 0, or -ENOMEM with the pool unchanged.
 */
static inline int pool_reserve(struct node_pool *pool, unsigned long nr)
{
	return likely(pool->nr_free >= nr) ? 0 : pool_grow(pool, nr - pool->nr_free);
}

/**
 * pool_get() - take a node that pool_reserve() provided
 * @pool: the calling thread's pool
 *
 * Return: a node with undefined content.
 */
static inline void *pool_get(struct node_pool *pool)
{
	struct pool_free *link = pool->free;
	void *node = (char *)link - pool->of.link;

	pool->free = link->next;
	pool->nr_free--;
	unpoison(node, pool->of.size);
	return node;
}

/**
 * pool_put() - add a node to the free nodes
 * @pool: the calling thread's pool
 * @node: a node that no thread can reach any more
 */
static inline void pool_put(struct node_pool *pool, void *node)
{
	struct pool_free *link = (void *)((char *)node + pool->of.link);

	link->next = pool->free;
	pool->free = link;
	pool->nr_free++;
	poison(node, pool->of.link);
	poison(link + 1, pool->of.size - pool->of.link - sizeof(*link));
}

#endif
