// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * census.c - checks that each node is in exactly one place (see census.h).
 */
#include "census.h"

#include <stdlib.h>

/**
 * census_begin() - begin with no node
 * @census: the census
 * @max: number of nodes that the pools took from the heap
 *
 * If there is no memory for the addresses of the nodes, a node that is in two places
 * while another one is lost is not found.
 */
void census_begin(struct census *census, uint64_t max)
{
	*census = (struct census){ .max = max, .all = calloc(max, sizeof(census->all[0])) };
}

/**
 * census_end() - free the memory of a census
 * @census: the census
 */
void census_end(struct census *census)
{
	free(census->all);
}

/**
 * census_add() - add a node
 * @census: the census
 * @node: the node
 */
void census_add(struct census *census, const void *node)
{
	if (census->all && census->nr < census->max)
		census->all[census->nr] = node;
	census->nr++;
}

/**
 * census_add_pool() - add the free nodes of a pool
 * @census: the census
 * @pool: the pool
 */
void census_add_pool(struct census *census, const struct node_pool *pool)
{
	const struct pool_free *link = pool->free;

	for (unsigned long i = 0; i < pool->nr_free; i++, link = link->next)
		census_add(census, (const char *)link - pool->of.link);
}

/**
 * census_add_retired() - add the nodes that a thread retired and that are not free yet
 * @census: the census
 * @thread: the thread
 */
void census_add_retired(struct census *census, const struct epoch_thread *thread)
{
	for (unsigned int i = 0; i < EPOCH_LISTS; i++)
		for (size_t at = 0; at < thread->lists[i].nr; at++)
			census_add(census, thread->lists[i].nodes[at].node);
}

static int by_address(const void *a, const void *b)
{
	const char *x = *(const char *const *)a, *y = *(const char *const *)b;

	return (x > y) - (x < y);
}

/**
 * census_check() - check that all nodes were added, and none twice
 * @census: the census, whose addresses are sorted
 * @where: receives the fault
 *
 * Return: 0, or -EINVAL with the fault described.
 */
int census_check(struct census *census, const struct fault *where)
{
	if (census->nr != census->max)
		return fault(where, "%llu nodes in the tree, free or retired, of %llu: %lld lost",
			     (unsigned long long)census->nr, (unsigned long long)census->max,
			     (long long)(census->max - census->nr));
	if (!census->all)
		return 0;
	qsort(census->all, census->nr, sizeof(census->all[0]), by_address);
	for (uint64_t i = 1; i < census->nr; i++)
		if (census->all[i] == census->all[i - 1])
			return fault(where, "a node is in two places");
	return 0;
}
