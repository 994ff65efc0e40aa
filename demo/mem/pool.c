// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * pool.c - takes the memory of node pools from the heap and gives it back.
 *
 * All functions of this file may make system calls, so none may be called inside a
 * critical section.
 */
#include "pool.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>

/* Minimum number of nodes of a chunk: 32 KiB of 512-byte nodes. */
#define CHUNK_NODES_MIN 64

/*
 * Bytes of a large page of x86-64. A pool that grows takes whole large pages: with
 * small pages a descent spends as much time on TLB misses as on the nodes.
 */
#define LARGE_PAGE (2u << 20)

/* Chunks of CHUNK_NODES_MIN nodes that a pool takes before its first large page. */
#define SMALL_CHUNKS 8

/*
 * struct pool_chunk - memory from the heap, the nodes behind this header
 * @next: chunk that the pool took before
 * @nr: number of nodes
 */
struct pool_chunk {
	struct pool_chunk *next;
	unsigned long nr;
} __cacheline_aligned;

/**
 * pool_init() - initialise an empty pool
 * @pool: the pool
 * @node_size: size of a node in bytes, a multiple of the cache line
 */
void pool_init(struct node_pool *pool, size_t node_size)
{
	*pool = (struct node_pool){ .of = { .size = node_size } };
}

/**
 * pool_init_nodes() - initialise an empty pool of nodes that need preparation
 * @pool: the pool
 * @of: what the nodes are
 */
void pool_init_nodes(struct node_pool *pool, const struct pool_nodes *of)
{
	*pool = (struct node_pool){ .of = *of };
}

/* Where the kernel provides no large pages, the chunk has small ones and is slower. */
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

/* Call a function for each part of a node. */
static void each_part(const struct node_pool *pool, void *node, void (*call)(void *part))
{
	unsigned int parts = pool->of.parts ? pool->of.parts : 1;

	for (unsigned int i = 0; call && i < parts; i++)
		call((char *)node + i * (pool->of.size / parts));
}

/*
 * The number of nodes of a chunk that @nr or more are taken for. Large nodes are not taken
 * in advance beyond a large page.
 */
static unsigned long chunk_nodes(const struct node_pool *pool, unsigned long nr)
{
	unsigned long page = LARGE_PAGE / pool->of.size;
	unsigned long least = page < CHUNK_NODES_MIN ? page : CHUNK_NODES_MIN;

	/* The header of the chunk takes the place of a node. */
	if (pool->nr_chunks >= SMALL_CHUNKS && page > 1)
		least = page - 1;
	return nr > least ? nr : least;
}

/**
 * pool_grow() - add nodes from the heap
 * @pool: the calling thread's pool
 * @nr: minimum number of nodes to add
 *
 * Each node is written once, to link it, so all pages of the chunk are present
 * before a critical section uses them.
 *
 * Return: 0, or -ENOMEM with the pool unchanged.
 */
int pool_grow(struct node_pool *pool, unsigned long nr)
{
	struct pool_chunk *chunk;
	size_t bytes;
	char *nodes;

	nr = chunk_nodes(pool, nr);
	if (__builtin_mul_overflow(nr, pool->of.size, &bytes) ||
	    __builtin_add_overflow(bytes, sizeof(*chunk), &bytes))
		return -ENOMEM;
	chunk = chunk_alloc(bytes);
	if (!chunk)
		return -ENOMEM;
	*chunk = (struct pool_chunk){ .next = pool->chunks, .nr = nr };
	pool->chunks = chunk;
	pool->nr_chunks++;
	pool->nr_nodes += nr;
	nodes = (char *)(chunk + 1);
	/* The last node is put first, so pool_get() returns nodes in ascending address order. */
	while (nr--) {
		each_part(pool, nodes + nr * pool->of.size, pool->of.init);
		pool_put(pool, nodes + nr * pool->of.size);
	}
	return 0;
}

/* End the nodes of a chunk, free ones and those that were in use. */
static void chunk_end(const struct node_pool *pool, struct pool_chunk *chunk)
{
	char *nodes = (char *)(chunk + 1);

	unpoison(nodes, chunk->nr * pool->of.size);
	for (unsigned long i = 0; i < chunk->nr; i++)
		each_part(pool, nodes + i * pool->of.size, pool->of.fini);
}

/**
 * pool_destroy() - free all memory of a pool
 * @pool: the pool; no node of its chunks may be in use any more
 */
void pool_destroy(struct node_pool *pool)
{
	struct pool_chunk *chunk;

	while ((chunk = pool->chunks)) {
		pool->chunks = chunk->next;
		chunk_end(pool, chunk);
		free(chunk);
	}
	*pool = (struct node_pool){ .of = pool->of };
}
