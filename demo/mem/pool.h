/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pool.h - free nodes in present pages, one pool for each thread.
 *
 * An operation on an index runs inside a critical section, which may be a
 * hardware transaction. A system call or a page fault would abort it. So a
 * thread fills its pool before the operation. Inside the operation, to take a
 * node or to give one back is two stores to memory that only this thread writes.
 * pool_get() and pool_put() must never allocate, fault or lock.
 */
#ifndef DEMO_POOL_H
#define DEMO_POOL_H

#include "../base/base.h"

struct pool_chunk;

/* A free node. Its first 8 bytes link the list; the other bytes keep their content. */
struct pool_free {
	struct pool_free *next;
};

/**
 * struct node_pool - the free nodes of one thread
 * @free: list of the free nodes; all their pages have been written
 * @nr_free: number of nodes in @free
 * @node_size: size of a node in bytes, a multiple of the cache line
 * @nr_chunks: number of chunks in @chunks
 * @chunks: list of the memory that pool_grow() took from the heap
 *
 * The thread that removes a node puts it into its own pool, whichever pool the
 * node came from. So a pool is destroyed only after the index that holds its nodes.
 */
struct node_pool {
	struct pool_free *free;
	unsigned long nr_free;
	size_t node_size;
	unsigned long nr_chunks;
	struct pool_chunk *chunks;
} __cacheline_aligned;

void pool_init(struct node_pool *pool, size_t node_size);
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
	struct pool_free *node = pool->free;

	pool->free = node->next;
	pool->nr_free--;
	return node;
}

/**
 * pool_put() - add a node to the free nodes
 * @pool: the calling thread's pool
 * @node: a node that no thread can reach any more
 */
static inline void pool_put(struct node_pool *pool, void *node)
{
	struct pool_free *link = node;

	link->next = pool->free;
	pool->free = link;
	pool->nr_free++;
}

#endif
