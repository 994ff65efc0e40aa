/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * order-graph.c - see order-graph.h.
 *
 * In a child that a signal handler forks, the memory turns to zeroes at any moment: then, too, every loop
 * ends.
 */
#include <errno.h>
#include <string.h>

#include "../compiler.h"
#include "../datafile.h"
#include "order-graph.h"

/* Multiplicative hashing (Knuth, TAOCP vol. 3, 6.4) with 2^64 / phi. */
static uint32_t list_of(uint64_t key)
{
	return (key * 0x9e3779b97f4a7c15ull) >> 32 & (ORDER_NR_LISTS - 1);
}

static uint32_t pair_list(const struct order_edge *edge)
{
	return list_of(edge->from * 31 + edge->to);
}

static bool reads(uint16_t kind)
{
	return kind == ELIDE_KIND_RWLOCK_READ;
}

static bool same(const struct order_edge *a, const struct order_edge *b)
{
	return a->from == b->from && a->to == b->to && reads(a->from_kind) == reads(b->from_kind) &&
	       reads(a->to_kind) == reads(b->to_kind);
}

bool order_graph_has(const struct order_graph *g, const struct order_edge *edge)
{
	/* Pairs with the release in link_edge(): an edge that is found is complete. */
	uint16_t i = __atomic_load_n(&g->by_pair[pair_list(edge)], __ATOMIC_ACQUIRE);

	for (; i; i = g->next_pair[i - 1])
		if (same(&g->edges[i - 1], edge))
			return true;
	return false;
}

static void link_edge(uint16_t *head, uint16_t *next, uint32_t index)
{
	next[index] = *head;
	/* Pairs with order_graph_has(). */
	__atomic_store_n(head, index + 1, __ATOMIC_RELEASE);
}

int order_graph_add(struct order_graph *g, const struct order_edge *edge)
{
	uint32_t index = g->nr;

	if (index >= ORDER_MAX_EDGES)
		return -ENOSPC;
	g->edges[index] = *edge;
	/* Before the lists have it: after a fork in between no edge is used twice. */
	WRITE_ONCE(g->nr, index + 1);
	link_edge(&g->by_from[list_of(edge->from)], g->next_from, index);
	link_edge(&g->by_pair[pair_list(edge)], g->next_pair, index);
	return index;
}

int order_graph_move(struct order_graph *g, uint64_t from, uint64_t to)
{
	uint32_t nr = g->nr;
	int rc = 0;

	for (uint32_t i = 0; i < nr; i++) {
		struct order_edge copy = g->edges[i];

		if (copy.moved || (copy.from != from && copy.to != from))
			continue;
		g->edges[i].moved = true;
		copy.from = copy.from == from ? to : copy.from;
		copy.to = copy.to == from ? to : copy.to;
		if (copy.from != copy.to && !order_graph_has(g, &copy) && order_graph_add(g, &copy) < 0)
			rc = -ENOSPC;
	}
	return rc;
}

/* Can a thread of the first edge wait for a thread of the second? Two readers do not wait. */
static bool follows(const struct order_edge *first, const struct order_edge *second)
{
	return second->from == first->to && !(reads(first->to_kind) && reads(second->from_kind));
}

/* Write the path from @start to @last, from its end, because the parents lead back. */
static int way(const struct order_graph *g, uint32_t start, uint32_t last,
	       const struct order_edge **cycle, int max)
{
	int nr = 1;

	for (uint32_t i = last; i != start && nr <= max; i = g->parent[i])
		nr++;
	if (nr > max)
		return -E2BIG;
	for (int at = nr - 1; at > 0; at--, last = g->parent[last])
		cycle[at] = &g->edges[last];
	cycle[0] = &g->edges[start];
	return nr;
}

int order_graph_cycle(struct order_graph *g, uint32_t edge, const struct order_edge **cycle,
		       int max)
{
	const struct order_edge *start = &g->edges[edge];
	uint32_t head = 0, tail = 0;

	/* A search over edges, not nodes: how a node may be left depends on how it was reached. */
	memset(g->seen, 0, g->nr * sizeof(*g->seen));
	g->queue[tail++] = edge;
	g->seen[edge] = true;
	while (head < tail) {
		uint32_t at = g->queue[head++];
		const struct order_edge *e = &g->edges[at];

		if (at != edge && follows(e, start))
			return way(g, edge, at, cycle, max);
		for (uint16_t i = g->by_from[list_of(e->to)]; i; i = g->next_from[i - 1]) {
			if (g->seen[i - 1] || g->edges[i - 1].moved ||
			    !follows(e, &g->edges[i - 1]) || tail == ORDER_MAX_EDGES)
				continue;
			g->seen[i - 1] = true;
			g->parent[i - 1] = at;
			g->queue[tail++] = i - 1;
		}
	}
	return 0;
}
