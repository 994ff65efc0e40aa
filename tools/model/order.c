// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * order.c - cycles of locks, named.
 *
 * Must never say more than the data file: the reader judges whether a cycle can deadlock.
 */
#include <errno.h>
#include <stdlib.h>

#include "../../lib/compiler.h"
#include "../names/names.h"
#include "order.h"

static int name_edge(struct report *r, struct order_edge *to, const struct elide_order_edge *e)
{
	const struct elide_class *class = &r->file->classes[e->class_index];
	struct place place = {0};

	to->lock = class_name(r->symbols, class, &place);
	to->class = class_id(class, &place);
	symbolize_call(r->symbols, e->held_site, &to->held);
	symbolize_call(r->symbols, e->taken_site, &to->next);
	return to->lock && to->class ? 0 : -ENOMEM;
}

int order_build(struct report *r)
{
	int rc = 0;

	r->orders = calloc(r->file->nr_orders + 1, sizeof(*r->orders));
	if (!r->orders)
		return -ENOMEM;
	while (!rc && r->nr_orders < r->file->nr_orders) {
		struct order_line *o = &r->orders[r->nr_orders];

		o->record = &r->file->orders[r->nr_orders++];
		for (uint32_t i = 0; !rc && i < o->record->nr_edges; i++)
			rc = name_edge(r, &o->edges[i], &o->record->edges[i]);
	}
	return rc;
}

void order_free(struct report *r)
{
	for (size_t i = 0; i < r->nr_orders; i++) {
		for (uint32_t j = 0; j < r->orders[i].record->nr_edges; j++) {
			free(r->orders[i].edges[j].lock);
			free(r->orders[i].edges[j].class);
		}
	}
	free(r->orders);
}
