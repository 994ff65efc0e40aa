/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * serial.h - is a history of transactions strictly serializable?
 *
 * Every write makes a version with a number of its own, so that a read names the write that it
 * saw. The versions of an item are in the order of their commits. The transactions are the nodes
 * of a graph (Adya, Liskov, O'Neil, "Generalized isolation level definitions", ICDE 2000,
 * section 4):
 *
 *	ww	the next version of an item, from its writer to the next one
 *	wr	from the writer of a version to a reader of it
 *	rw	from a reader of a version to the writer of the next one
 *	rt	from a transaction that had ended to one that began later
 *
 * A cycle shows that no serial order gives these answers in real time. Whatever is absent has
 * versions, too: what is there before an insert and after a delete. So the reader of a range that
 * records a read of each key that the range may have is in the graph with those that insert into
 * it, and a phantom is a cycle.
 *
 * It must never accuse a history of transactions that hold their locks until they have ended.
 */
#ifndef TESTS_DEMO_SERIAL_H
#define TESTS_DEMO_SERIAL_H

#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Versions below are those that were there before the first transaction. */
#define SERIAL_LOADED 2

/* Version before a write that does not know what it overwrites. */
#define SERIAL_UNKNOWN UINT64_MAX

/**
 * struct serial_op - an access of a transaction
 * @xact: number of the transaction
 * @write: a write, else a read
 * @item: what was accessed
 * @version: version that was read, or that the write made
 * @before: of a write: the version that it replaced
 */
struct serial_op {
	uint32_t xact;
	bool write;
	uint64_t item;
	uint64_t version;
	uint64_t before;
};

/**
 * struct serial_xact - a transaction
 * @begin: time before its first access
 * @end: time after its end
 * @order: of one that wrote: position of its commit among all
 * @committed: it was not rolled back
 */
struct serial_xact {
	uint64_t begin, end;
	uint64_t order;
	bool committed;
};

/**
 * struct serial_history - what all threads did
 * @xacts: the transactions
 * @nr_xacts: their number
 * @ops: their accesses, those of one transaction in their order
 * @nr_ops: number of accesses
 */
struct serial_history {
	struct serial_xact *xacts;
	uint32_t nr_xacts;
	struct serial_op *ops;
	size_t nr_ops;
};

enum serial_edge_kind { SERIAL_ww, SERIAL_wr, SERIAL_rw, SERIAL_rt };

struct serial_edge {
	uint32_t from, to;
	enum serial_edge_kind kind;
	uint64_t item;
};

/*
 * struct serial - the graph
 * @h: the history
 * @edges: by their @from once all are added. Node nr_xacts + i is the moment of the i-th end
 * @nr: number of edges
 * @first: first edge of each node
 * @why: receives what is wrong
 * @len: size of @why
 */
struct serial {
	const struct serial_history *h;
	struct serial_edge *edges;
	size_t nr, max;
	size_t *first;
	char *why;
	size_t len;
};

static inline void *serial_memory(size_t nr, size_t size)
{
	void *p = calloc(nr + 1, size);

	if (!p) {
		fprintf(stderr, "serial: out of memory\n");
		exit(2);
	}
	return p;
}

static inline void serial_edge(struct serial *s, uint32_t from, uint32_t to,
			       enum serial_edge_kind kind, uint64_t item)
{
	if (from == to)
		return;
	if (s->nr == s->max) {
		struct serial_edge *edges = serial_memory(2 * s->max + 1024, sizeof(*edges));

		if (s->nr)
			memcpy(edges, s->edges, s->nr * sizeof(*edges));
		free(s->edges);
		s->edges = edges;
		s->max = 2 * s->max + 1024;
	}
	s->edges[s->nr++] = (struct serial_edge){ from, to, kind, item };
}

/* struct serial_version - a write, for the orders of the versions; @final: the last of its item */
struct serial_version {
	const struct serial_op *op;
	uint64_t order;
	bool committed;
	bool final;
};

static inline int serial_by_item(const void *a, const void *b)
{
	const struct serial_version *x = a, *y = b;

	if (x->op->item != y->op->item)
		return x->op->item < y->op->item ? -1 : 1;
	/* Those that were rolled back come behind the versions. */
	if (x->committed != y->committed)
		return x->committed ? -1 : 1;
	if (x->order != y->order)
		return x->order < y->order ? -1 : 1;
	return (x->op > y->op) - (x->op < y->op);
}

static inline bool serial_fault(struct serial *s, const struct serial_op *op, const char *what)
{
	snprintf(s->why, s->len, "transaction %" PRIu32 ", item %" PRIx64 ", version %" PRIx64
		 ": %s", op->xact, op->item, op->version, what);
	return false;
}

/* Edges between writers. Each committed write must replace the version before it. */
static inline bool serial_writes(struct serial *s, struct serial_version *v, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		const struct serial_version *last = i ? &v[i - 1] : NULL;
		bool first = !last || last->op->item != v[i].op->item;

		if (!v[i].committed)
			continue;
		v[i].final = i + 1 == nr || v[i + 1].op->xact != v[i].op->xact ||
			     v[i + 1].op->item != v[i].op->item;
		if (!first)
			serial_edge(s, last->op->xact, v[i].op->xact, SERIAL_ww, v[i].op->item);
		if (v[i].op->before == SERIAL_UNKNOWN)
			continue;
		if (first ? v[i].op->before >= SERIAL_LOADED :
			    v[i].op->before != last->op->version)
			return serial_fault(s, v[i].op, "does not replace the version before it");
	}
	return true;
}

static inline int serial_by_version(const void *a, const void *b)
{
	const struct serial_version *x = *(struct serial_version *const *)a;
	const struct serial_version *y = *(struct serial_version *const *)b;

	return (x->op->version > y->op->version) - (x->op->version < y->op->version);
}

/* The write that made a version. */
static inline struct serial_version *serial_find(struct serial_version **by, size_t nr,
						 uint64_t version)
{
	size_t low = 0;

	while (nr) {
		size_t half = nr / 2;

		if (by[low + half]->op->version < version) {
			low += half + 1;
			nr -= half + 1;
		} else {
			nr = half;
		}
	}
	return by[low] && by[low]->op->version == version ? by[low] : NULL;
}

/* First version of an item, in the order of commits; NULL if nobody wrote it. */
static inline struct serial_version *serial_first(struct serial_version *v, size_t nr,
						  uint64_t item)
{
	struct serial_version *end = v + nr;
	size_t low = 0;

	while (nr) {
		size_t half = nr / 2;

		if (v[low + half].op->item < item) {
			low += half + 1;
			nr -= half + 1;
		} else {
			nr = half;
		}
	}
	v += low;
	return v < end && v->op->item == item && v->committed ? v : NULL;
}

/* The edges of a read of a committed transaction. */
static inline bool serial_read(struct serial *s, const struct serial_op *op,
			       struct serial_version *v, struct serial_version **by, size_t nr)
{
	struct serial_version *next = serial_first(v, nr, op->item), *seen;

	if (op->version >= SERIAL_LOADED) {
		seen = serial_find(by, nr, op->version);
		if (!seen || seen->op->item != op->item)
			return serial_fault(s, op, "is a version that nobody wrote");
		if (seen->op->xact == op->xact)
			return true;
		if (!seen->committed)
			return serial_fault(s, op, "is a version that was rolled back");
		if (!seen->final)
			return serial_fault(s, op, "is a version that its writer replaced");
		serial_edge(s, seen->op->xact, op->xact, SERIAL_wr, op->item);
		next = seen + 1 < v + nr && seen[1].op->item == op->item && seen[1].committed ?
			       seen + 1 :
			       NULL;
	}
	if (next)
		serial_edge(s, op->xact, next->op->xact, SERIAL_rw, op->item);
	return true;
}

/* Edges of all accesses. */
static inline bool serial_accesses(struct serial *s)
{
	const struct serial_history *h = s->h;
	struct serial_version *v = serial_memory(h->nr_ops, sizeof(*v));
	struct serial_version **by = serial_memory(h->nr_ops, sizeof(struct serial_version *));
	size_t nr = 0;
	bool ok;

	for (size_t i = 0; i < h->nr_ops; i++) {
		const struct serial_xact *x = &h->xacts[h->ops[i].xact];

		if (h->ops[i].write)
			v[nr++] = (struct serial_version){ &h->ops[i], x->order, x->committed,
							   false };
	}
	qsort(v, nr, sizeof(*v), serial_by_item);
	for (size_t i = 0; i < nr; i++)
		by[i] = &v[i];
	qsort(by, nr, sizeof(struct serial_version *), serial_by_version);
	ok = serial_writes(s, v, nr);
	for (size_t i = 0; i < h->nr_ops && ok; i++)
		if (!h->ops[i].write && h->xacts[h->ops[i].xact].committed)
			ok = serial_read(s, &h->ops[i], v, by, nr);
	free(by);
	free(v);
	return ok;
}

static inline int serial_by_time(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (x[0] > y[0]) - (x[0] < y[0]);
}

/*
 * Real time: each end is a moment, with an edge to the next one. A transaction has an edge to
 * its end, and from the last end before its begin.
 */
static inline void serial_time(struct serial *s)
{
	const struct serial_history *h = s->h;
	uint64_t(*ends)[2] = serial_memory(h->nr_xacts, sizeof(*ends));
	uint32_t n = h->nr_xacts;

	for (uint32_t i = 0; i < n; i++) {
		ends[i][0] = h->xacts[i].end;
		ends[i][1] = i;
	}
	qsort(ends, n, sizeof(*ends), serial_by_time);
	for (uint32_t i = 0; i < n; i++) {
		serial_edge(s, (uint32_t)ends[i][1], n + i, SERIAL_rt, 0);
		if (i)
			serial_edge(s, n + i - 1, n + i, SERIAL_rt, 0);
	}
	for (uint32_t i = 0; i < n; i++) {
		uint32_t low = 0, left = n;

		while (left) {
			uint32_t half = left / 2;

			if (ends[low + half][0] < h->xacts[i].begin) {
				low += half + 1;
				left -= half + 1;
			} else {
				left = half;
			}
		}
		if (low)
			serial_edge(s, n + low - 1, i, SERIAL_rt, 0);
	}
	free(ends);
}

static inline int serial_by_from(const void *a, const void *b)
{
	const struct serial_edge *x = a, *y = b;

	return (x->from > y->from) - (x->from < y->from);
}

/* Print the shortest cycle through a node, by a search in breadth. */
static inline void serial_show(struct serial *s, uint32_t start, uint32_t nodes)
{
	static const char *const names[] = { "ww", "wr", "rw", "rt" };
	size_t *by = serial_memory(nodes, sizeof(*by)), at = 0;
	uint32_t *queue = serial_memory(nodes, sizeof(*queue)), head = 0, tail = 0, node;
	bool closed = false;

	/* by[node]: 1 + the edge that the search came by. */
	for (queue[tail++] = start; head < tail && !closed;) {
		node = queue[head++];
		for (size_t e = s->first[node]; e < s->first[node + 1] && !closed; e++) {
			uint32_t to = s->edges[e].to;

			if (by[to])
				continue;
			by[to] = e + 1;
			closed = to == start;
			queue[tail++] = to;
		}
	}
	at = (size_t)snprintf(s->why, s->len, "cycle, backwards: %" PRIu32, start);
	for (node = start; closed && at < s->len;) {
		const struct serial_edge *e = &s->edges[by[node] - 1];

		node = e->from;
		/* Moments between two transactions are one edge of real time. */
		if (node < s->h->nr_xacts)
			at += (size_t)snprintf(s->why + at, s->len - at, " <-%s %" PRIx64 "- %"
					       PRIu32, names[e->kind], e->item, node);
		if (node == start)
			break;
	}
	free(queue);
	free(by);
}

/* Find a cycle: nodes without edges to others that are left are taken away until none is. */
static inline bool serial_acyclic(struct serial *s)
{
	uint32_t nodes = 2 * s->h->nr_xacts, tail = 0, left = nodes, node = 0;
	uint32_t *in = serial_memory(nodes, sizeof(*in));
	uint32_t *queue = serial_memory(nodes, sizeof(*queue));
	bool *back;

	qsort(s->edges, s->nr, sizeof(*s->edges), serial_by_from);
	s->first = serial_memory(nodes + 1, sizeof(*s->first));
	for (size_t e = 0; e < s->nr; e++) {
		s->first[s->edges[e].from + 1]++;
		in[s->edges[e].to]++;
	}
	for (uint32_t i = 0; i < nodes; i++) {
		s->first[i + 1] += s->first[i];
		if (!in[i])
			queue[tail++] = i;
	}
	for (uint32_t i = 0; i < tail; i++, left--)
		for (size_t e = s->first[queue[i]]; e < s->first[queue[i] + 1]; e++)
			if (!--in[s->edges[e].to])
				queue[tail++] = s->edges[e].to;
	/* Each node that is left has one before it: going back again and again is in a cycle. */
	back = serial_memory(nodes, sizeof(*back));
	while (left && !in[node])
		node++;
	while (left && !back[node]) {
		uint32_t before = 0;

		back[node] = true;
		for (size_t e = 0; e < s->nr; e++)
			if (s->edges[e].to == node && in[s->edges[e].from])
				before = s->edges[e].from;
		node = before;
	}
	if (left)
		serial_show(s, node, nodes);
	free(back);
	free(queue);
	free(in);
	free(s->first);
	return !left;
}

/**
 * serial_check() - find out whether a history is strictly serializable
 * @h: the history
 * @why: receives what is wrong
 * @len: size of @why in bytes
 *
 * Return: true if it is.
 */
static inline bool serial_check(const struct serial_history *h, char *why, size_t len)
{
	struct serial s = { .h = h, .why = why, .len = len };
	bool ok = serial_accesses(&s);

	if (ok) {
		serial_time(&s);
		ok = serial_acyclic(&s);
	}
	free(s.edges);
	return ok;
}

#endif
