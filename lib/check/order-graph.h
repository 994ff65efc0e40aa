/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * order-graph.h - a graph of the orders in which locks are acquired, and its cycles.
 *
 * A node is a number for a lock or for a class of locks; an edge says that @to was acquired while
 * @from was held. The idea that a cycle of edges can deadlock is that of the kernel's lockdep
 * (Documentation/locking/lockdep-design.rst).
 *
 * Must never allocate, lock or call the system: the caller serialises
 * order_graph_add(), order_graph_move() and order_graph_cycle(); order_graph_has() may run beside them.
 * Memory that is all zeroes is an empty graph.
 */
#ifndef ELIDE_ORDER_GRAPH_H
#define ELIDE_ORDER_GRAPH_H

#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

/* Edges of a graph: 58 bytes each with their lists, of which only used pages take memory. */
#define ORDER_MAX_EDGES 8192
/* Lists of edges; a power of two. */
#define ORDER_NR_LISTS 2048

/**
 * struct order_edge - a thread acquired a lock while it held another one.
 * @from, @to: nodes
 * @from_site: return address of the call that acquired @from
 * @to_site:   return address of the call that acquired @to
 * @tid:       id of the first thread that did so
 * @from_class: index of the class of @from
 * @from_kind, @to_kind: enum elide_kind
 * @moved: another edge replaces it, see order_graph_move(); only the caller that serialises changes it
 */
struct order_edge {
	uint64_t from;
	uint64_t to;
	uint64_t from_site;
	uint64_t to_site;
	uint32_t tid;
	uint32_t from_class;
	uint16_t from_kind;
	uint16_t to_kind;
	bool moved;
};

/**
 * struct order_graph - edges, in lists by both nodes and by the first node.
 * @nr: edges
 * @by_pair, @by_from: heads of the lists: index of the first edge + 1
 * @next_pair, @next_from: index of the next edge + 1, by edge
 * @edges: the edges
 * @queue, @parent, @seen: state of order_graph_cycle()
 */
struct order_graph {
	uint32_t nr;
	uint16_t by_pair[ORDER_NR_LISTS];
	uint16_t by_from[ORDER_NR_LISTS];
	uint16_t next_pair[ORDER_MAX_EDGES];
	uint16_t next_from[ORDER_MAX_EDGES];
	struct order_edge edges[ORDER_MAX_EDGES];
	uint16_t queue[ORDER_MAX_EDGES];
	uint16_t parent[ORDER_MAX_EDGES];
	bool seen[ORDER_MAX_EDGES];
};

/**
 * order_graph_has() - is there an edge between these nodes, of these kinds?
 *
 * Lock-free. Edges that differ only in their call sites are the same.
 */
bool order_graph_has(const struct order_graph *g, const struct order_edge *edge);

/**
 * order_graph_add() - add an edge that the graph does not have.
 *
 * Return: its index; -ENOSPC if the graph is full.
 */
int order_graph_add(struct order_graph *g, const struct order_edge *edge);

/**
 * order_graph_move() - a node becomes a part of another one.
 * @g: the graph
 * @from, @to: the nodes
 *
 * Each edge of @from gets a copy of @to instead, which is added to the edges, and counts no more; one between
 * the two gets none.
 *
 * Return: 0; -ENOSPC if the graph is full.
 */
int order_graph_move(struct order_graph *g, uint64_t from, uint64_t to);

/**
 * order_graph_cycle() - the shortest cycle that an edge closes.
 * @g: the graph
 * @edge: index of the edge
 * @cycle: set to the edges, @edge first
 * @max: room in @cycle
 *
 * A reader does not wait for a reader: a cycle in which a rwlock is both acquired and held by
 * readers is none.
 *
 * Return: number of edges; 0 if there is no cycle; -E2BIG if it is longer than @max.
 */
int order_graph_cycle(struct order_graph *g, uint32_t edge, const struct order_edge **cycle,
		       int max);

#pragma GCC visibility pop

#endif
