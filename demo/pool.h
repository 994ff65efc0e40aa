/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pool.h - nodes ready for use, one pool per thread.
 *
 * An operation on an index runs inside a critical section that may be a
 * hardware transaction, which a system call or a page fault would abort. So a
 * thread fills its pool before the operation, and inside it taking or giving
 * back a node is two stores to memory that only this thread writes.
 * pool_get() and pool_put() must never allocate, fault or lock.
 */
#ifndef DEMO_POOL_H
#define DEMO_POOL_H

#include "base.h"

struct pool_chunk;

/* A free node; its first bytes are the link, the rest is as it was left. */
struct pool_free {
	struct pool_free *next;
};

/**
 * struct node_pool - one thread's free nodes
 * @free: list of free nodes, every page of which has been written
 * @nr_free: length of @free
 * @node_size: bytes of a node, a multiple of the cache line
 * @nr_chunks: how often memory was taken
 * @chunks: memory taken from the heap, given back by pool_destroy()
 *
 * A node may end up in another thread's pool than it came from, so pools are
 * destroyed only after the index whose nodes they hold.
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
 * pool_reserve() - have at least @nr nodes ready, outside the critical section
 * @pool: the calling thread's pool
 * @nr: nodes that the next operation may take
 *
 * Return: 0, or -ENOMEM with the pool as it was.
 */
static inline int pool_reserve(struct node_pool *pool, unsigned long nr)
{
	return likely(pool->nr_free >= nr) ? 0 : pool_grow(pool, nr - pool->nr_free);
}

/**
 * pool_get() - take a node that pool_reserve() made ready
 * @pool: the calling thread's pool
 *
 * Return: a node, its content undefined.
 */
static inline void *pool_get(struct node_pool *pool)
{
	struct pool_free *node = pool->free;

	pool->free = node->next;
	pool->nr_free--;
	return node;
}

/**
 * pool_put() - keep a node for the next pool_get()
 * @pool: the calling thread's pool
 * @node: a node that is no longer reachable
 */
static inline void pool_put(struct node_pool *pool, void *node)
{
	struct pool_free *link = node;

	link->next = pool->free;
	pool->free = link;
	pool->nr_free++;
}

#endif
