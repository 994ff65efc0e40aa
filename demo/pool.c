// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * pool.c - the part of a node pool that talks to the heap.
 *
 * Nothing here may be called inside a critical section.
 */
#include "pool.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>

/* Fewest nodes taken from the heap at once: 32 KiB of 512-byte nodes. */
#define CHUNK_NODES_MIN 64

/*
 * Bytes of a large page on x86-64. A pool that grows takes whole ones, because
 * with small ones a descent waits for translations as long as for nodes.
 */
#define LARGE_PAGE (2u << 20)

/* Chunks of the smallest size before that: pools of threads that insert little stay small. */
#define SMALL_CHUNKS 8

struct pool_chunk {
	struct pool_chunk *next;
} __cacheline_aligned;

/**
 * pool_init() - an empty pool
 * @pool: the pool
 * @node_size: bytes of a node, a multiple of the cache line
 */
void pool_init(struct node_pool *pool, size_t node_size)
{
	*pool = (struct node_pool){ .node_size = node_size };
}

/* A kernel that gives no large pages is as right, only slower. */
static struct pool_chunk *chunk_alloc(size_t bytes)
{
	struct pool_chunk *chunk;

	if (bytes < LARGE_PAGE / 2)
		return aligned_alloc(CACHE_LINE, bytes);
	bytes = (bytes + LARGE_PAGE - 1) / LARGE_PAGE * LARGE_PAGE;
	chunk = aligned_alloc(LARGE_PAGE, bytes);
	if (chunk)
		madvise(chunk, bytes, MADV_HUGEPAGE);
	return chunk;
}

/**
 * pool_grow() - add nodes from the heap
 * @pool: the calling thread's pool
 * @nr: nodes to add at least
 *
 * Every node is written once, to link it, so that all pages of the chunk are
 * present before a critical section sees them.
 *
 * Return: 0, or -ENOMEM with the pool as it was.
 */
int pool_grow(struct node_pool *pool, unsigned long nr)
{
	struct pool_chunk *chunk;
	size_t bytes;
	char *nodes;

	if (nr < CHUNK_NODES_MIN)
		nr = CHUNK_NODES_MIN;
	if (pool->nr_chunks >= SMALL_CHUNKS && nr < LARGE_PAGE / pool->node_size - 1)
		nr = LARGE_PAGE / pool->node_size - 1;
	if (__builtin_mul_overflow(nr, pool->node_size, &bytes) ||
	    __builtin_add_overflow(bytes, sizeof(*chunk), &bytes))
		return -ENOMEM;
	chunk = chunk_alloc(bytes);
	if (!chunk)
		return -ENOMEM;
	chunk->next = pool->chunks;
	pool->chunks = chunk;
	pool->nr_chunks++;
	nodes = (char *)(chunk + 1);
	/* From the end, so that nodes are taken in ascending order of address. */
	while (nr--)
		pool_put(pool, nodes + nr * pool->node_size);
	return 0;
}

/**
 * pool_destroy() - give all memory back
 * @pool: the pool; none of its nodes may be in use any more
 */
void pool_destroy(struct node_pool *pool)
{
	struct pool_chunk *chunk;

	while ((chunk = pool->chunks)) {
		pool->chunks = chunk->next;
		free(chunk);
	}
	pool_init(pool, pool->node_size);
}
