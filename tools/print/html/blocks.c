// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * blocks.c - who blocks whom: calls that waited for locks, and the calls that held them meanwhile.
 *
 * Must never show an address.
 */
#include "blocks.h"

#include <stdlib.h>

#include "../../base/sort.h"

/* Edges, at most. */
#define EDGES_MAX 64

struct edge {
	size_t row;
	const struct elide_blame *held;
	uint64_t ns;
};

static int is_known(const struct elide_blame *b)
{
	return b->type == ELIDE_BLAME_WAIT && b->held_kind && b->held_site;
}

static int compare_edges(const void *x, const void *y)
{
	const struct edge *a = x, *b = y;
	int c = by_number(b->ns, a->ns);

	return c ? c : by_number(a->row, b->row);
}

/* Adds the edges of a row: one for each call that held its locks. Return: their number. */
static size_t add_row(const struct report *r, size_t row, struct edge *to)
{
	const struct line *l = &r->lines[row];
	double all = 0;
	size_t nr = 0;

	for (size_t i = 0; i < l->nr_blames; i++)
		all += l->blames[i]->type == ELIDE_BLAME_WAIT ? (double)l->blames[i]->cycles : 0;
	for (size_t i = 0; i < l->nr_blames && all > 0; i++) {
		const struct elide_blame *b = l->blames[i];
		size_t at = 0;
		uint64_t ns;

		if (!is_known(b) || to_ns(r, (uint64_t)((double)l->sum.wait.total * (double)b->cycles / all), &ns))
			continue;
		while (at < nr && to[at].held->held_site != b->held_site)
			at++;
		if (at == nr)
			to[nr++] = (struct edge){row, b, 0};
		to[at].ns += ns;
	}
	return nr;
}

/* The name in the table of the call that held the lock, or its place if it has no row there. */
static json_t *holder(const struct report *r, const struct elide_blame *b)
{
	const struct line *l = report_line(r, b->held_class, b->held_site, b->held_kind);
	char name[SHORT_NAME];
	struct place place;

	if (l && l->nr_sites == 1)
		return json_text(l->short_site);
	symbolize_call(r->symbols, b->held_site, &place);
	short_place(name, sizeof(name), &place);
	return json_text(name);
}

static json_t *edge_json(const struct report *r, const struct edge *e)
{
	const struct line *l = &r->lines[e->row];
	json_t *o = json_object();

	json_object_set_new(o, "row", json_number(e->row + 1));
	json_object_set_new(o, "waiter", json_text(l->short_site));
	json_object_set_new(o, "holder", holder(r, e->held));
	json_object_set_new(o, "lock", json_text(l->lock));
	json_object_set_new(o, "class", json_text(l->class));
	json_object_set_new(o, "ns", json_number(e->ns));
	return o;
}

json_t *blocks_json(const struct report *r)
{
	struct edge *edges;
	size_t nr = 0, room = 1;
	json_t *list;

	for (size_t i = 0; i < r->nr_lines; i++)
		room += r->lines[i].nr_blames;
	edges = calloc(room, sizeof(*edges));
	for (size_t i = 0; edges && i < r->nr_lines; i++)
		if (elide_kind_waits_for_lock(r->lines[i].kind))
			nr += add_row(r, i, edges + nr);
	if (nr)
		qsort(edges, nr, sizeof(*edges), compare_edges);
	list = nr ? json_array() : json_null();
	for (size_t i = 0; i < nr && i < EDGES_MAX && edges[i].ns; i++)
		json_array_append_new(list, edge_json(r, &edges[i]));
	free(edges);
	return list;
}
