// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * unite.c - sums up records of the same name from many processes.
 *
 * Must never add records of different names.
 */
#include "unite.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../../lib/compiler.h"
#include "../threads.h"

int unite_end_threads(struct data_file *f)
{
	struct report r = {.file = f};
	struct elide_thread_record *records;
	struct threads threads;
	int rc = threads_build(&r, &threads);

	if (rc)
		return rc;
	records = calloc(threads.nr + 1, sizeof(*records));
	for (size_t i = 0; records && i < threads.nr; i++) {
		const struct thread_line *l = &threads.lines[i];
		bool unnamed = !strcmp(l->name, "(no name)") || !strcmp(l->name, "(further names)");

		records[i] = (struct elide_thread_record){
			.state = ELIDE_THREAD_PAST, .nr = l->nr, .acquired = l->acquired,
			.elided = l->elided, .contended = l->contended,
			.wait = (uint64_t)l->wait, .held = (uint64_t)l->held,
		};
		snprintf(records[i].name, sizeof(records[i].name), "%.15s", unnamed ? "" : l->name);
	}
	free(f->threads);
	f->threads = records;
	f->nr_threads = records ? threads.nr : 0;
	f->nr_waiting = 0;
	threads_free(&threads);
	return records ? 0 : -ENOMEM;
}

static int compare_threads(const void *x, const void *y)
{
	const struct elide_thread_record *a = x, *b = y;

	return memcmp(a->name, b->name, sizeof(a->name));
}

/* Sums up the ended threads of one name. */
static void unite_threads(struct data_file *f)
{
	size_t kept = 0;

	if (f->nr_threads)
		qsort(f->threads, f->nr_threads, sizeof(*f->threads), compare_threads);
	for (size_t i = 0; i < f->nr_threads; i++) {
		const struct elide_thread_record *t = &f->threads[i];
		struct elide_thread_record *to = kept ? &f->threads[kept - 1] : NULL;

		if (!to || compare_threads(to, t)) {
			f->threads[kept++] = *t;
			continue;
		}
		to->nr += t->nr;
		to->acquired += t->acquired;
		to->elided += t->elided;
		to->contended += t->contended;
		to->wait += t->wait;
		to->held += t->held;
	}
	f->nr_threads = kept;
}

static int compare_orders(const void *x, const void *y)
{
	return memcmp(x, y, sizeof(struct elide_order));
}

/* Keeps each cycle once. Ids of threads mean nothing in a file of many processes. */
static void unite_orders(struct data_file *f)
{
	size_t kept = 0;

	for (size_t i = 0; i < f->nr_orders; i++)
		for (int j = 0; j < ELIDE_ORDER_EDGES; j++)
			f->orders[i].edges[j].tid = 0;
	if (f->nr_orders)
		qsort(f->orders, f->nr_orders, sizeof(*f->orders), compare_orders);
	for (size_t i = 0; i < f->nr_orders; i++)
		if (!kept || compare_orders(&f->orders[kept - 1], &f->orders[i]))
			f->orders[kept++] = f->orders[i];
	f->nr_orders = kept;
}

static void unite_counters(struct data_file *f)
{
	size_t kept = 0;

	for (size_t i = 0; i < f->nr_counters; i++) {
		struct elide_counter *c = &f->counters[i], *to = NULL;

		for (size_t j = 0; !to && j < kept; j++)
			if (f->counters[j].source == c->source &&
			    !strcmp(f->counters[j].name, c->name))
				to = &f->counters[j];
		if (!to) {
			f->counters[kept++] = *c;
			continue;
		}
		to->value += c->value;
		to->enabled_ns += c->enabled_ns;
		to->running_ns += c->running_ns;
	}
	f->nr_counters = kept;
}

void unite_records(struct data_file *f)
{
	unite_threads(f);
	unite_orders(f);
	for (size_t i = 0; i < f->nr_misuse; i++)
		f->misuse[i].tid = 0;
	unite_counters(f);
}
