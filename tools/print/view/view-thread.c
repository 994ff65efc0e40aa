// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * view-thread.c - what each thread acquired, waited and held: report --by thread.
 *
 * Must never round in JSON or CSV.
 */
#include "view-thread.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "../../../lib/compiler.h"
#include "../../base/colour.h"
#include "../../base/text.h"
#include "../../model/columns.h"
#include "../../model/threads.h"
#include "../csv.h"

static const struct column {
	const char *head;
	enum unit unit;
	enum column_view view;
} columns[] = {
#define ELIDE_THREAD_COLUMN(id, head, unit, value, view, help) {head, unit, view},
#include "../../model/threads.def"
#undef ELIDE_THREAD_COLUMN
};

#define FILL_TEXT(v, unit)    fit(cells[i++], (v), CELL_MAX)
#define FILL_COUNT(v, unit)   number_cell(r, unit, (double)(v), cells[i++], CELL_MAX + 1)
#define FILL_PERCENT(v, unit) FILL_COUNT(v, unit)
#define FILL_TIME(v, unit)    FILL_COUNT(v, unit)

static void fill_cells(const struct report *r, const struct thread_line *t,
		       char (*cells)[CELL_MAX + 1])
{
	int i = 0;

#define ELIDE_THREAD_COLUMN(id, head, unit, value, view, help) FILL_##unit(value, unit);
#include "../../model/threads.def"
#undef ELIDE_THREAD_COLUMN
}

/* @cells: NULL for the line of column names */
static void print_row(FILE *out, const struct report *r, const int *widths,
		      char (*cells)[CELL_MAX + 1])
{
	const char *gap = "";

	fputs(cells ? "" : colour_on(COLOUR_HEAD), out);
	for (size_t i = 0; i < ARRAY_SIZE(columns); i++) {
		const char *text = cells ? cells[i] : columns[i].head;

		if (!column_shown(columns[i].view, r->elides))
			continue;
		fputs(gap, out);
		if (columns[i].unit == TEXT) {
			print_clean(out, text);
			fprintf(out, "%*s", widths[i] - (int)strlen(text), "");
		} else {
			fprintf(out, "%*s", widths[i], text);
		}
		gap = " ";
	}
	fputs(cells ? "" : colour_off(COLOUR_HEAD), out);
	fputc('\n', out);
}

int threads_table(const struct report *r, FILE *out, size_t top)
{
	char cells[ARRAY_SIZE(columns)][CELL_MAX + 1];
	int widths[ARRAY_SIZE(columns)], rc;
	struct threads threads;
	size_t nr;

	rc = threads_build(r, &threads);
	if (rc)
		return rc;
	if (!threads.known)
		fputs("no thread is in the data file\n", out);
	nr = top && top < threads.nr ? top : threads.nr;
	for (size_t i = 0; i < ARRAY_SIZE(columns); i++)
		widths[i] = (int)strlen(columns[i].head);
	for (size_t i = 0; i < nr; i++) {
		fill_cells(r, &threads.lines[i], cells);
		for (size_t j = 0; j < ARRAY_SIZE(columns); j++)
			if ((int)strlen(cells[j]) > widths[j])
				widths[j] = (int)strlen(cells[j]);
	}
	if (threads.known)
		print_row(out, r, widths, NULL);
	for (size_t i = 0; i < nr; i++) {
		fill_cells(r, &threads.lines[i], cells);
		print_row(out, r, widths, cells);
	}
	if (nr < threads.nr)
		fprintf(out, "(%zu more thread%s: --top 0)\n", threads.nr - nr,
			plural(threads.nr - nr));
	threads_free(&threads);
	return 0;
}

/* Whole numbers of nanoseconds, or null. */
static json_t *ns_json(const struct report *r, double cycles)
{
	uint64_t ns;

	return to_ns(r, (uint64_t)cycles, &ns) ? json_null() : json_number(ns);
}

json_t *threads_json(const struct report *r)
{
	struct threads threads;
	json_t *list;

	if (threads_build(r, &threads))
		return json_null();
	list = threads.known ? json_array() : json_null();
	for (size_t i = 0; threads.known && i < threads.nr; i++) {
		const struct thread_line *t = &threads.lines[i];
		json_t *o = json_object();

		json_object_set_new(o, "name", json_text(t->name));
		json_object_set_new(o, "tid", t->tid ? json_number(t->tid) : json_null());
		json_object_set_new(o, "threads", json_number(t->nr));
		json_object_set_new(o, "acquired", json_number(t->acquired));
		json_object_set_new(o, "elided", r->elides ? json_number(t->elided) : json_null());
		json_object_set_new(o, "contended", json_number(t->contended));
		json_object_set_new(o, "wait_cycles", json_number((uint64_t)t->wait));
		json_object_set_new(o, "wait_ns", ns_json(r, t->wait));
		json_object_set_new(o, "hold_ns", ns_json(r, t->held));
		json_object_set_new(o, "total_ns", known_real(t->lived > 0 ? t->lived : NAN));
		json_object_set_new(o, "running_ns", known_real(t->lived > 0 ? t->ran : NAN));
		json_object_set_new(o, "late_ns", known_real(t->lived > 0 ? t->late : NAN));
		json_array_append_new(list, o);
	}
	threads_free(&threads);
	return list;
}

void threads_csv_head(FILE *out)
{
	fputs("schema,pid,name,tid,threads,acquired,elided,contended,wait_cycles,wait_ns,hold_ns,total_ns,running_ns,late_ns\r\n",
	      out);
}

/* A comma, and a whole number of nanoseconds if it is known. */
static void ns_csv(const struct report *r, FILE *out, double cycles)
{
	uint64_t ns;

	fputc(',', out);
	if (!to_ns(r, (uint64_t)cycles, &ns))
		fprintf(out, "%llu", (unsigned long long)ns);
}

int threads_csv(const struct report *r, FILE *out)
{
	struct threads threads;
	int rc = threads_build(r, &threads);

	if (rc)
		return rc;
	for (size_t i = 0; threads.known && i < threads.nr; i++) {
		const struct thread_line *t = &threads.lines[i];

		fprintf(out, "%d,%u", REPORT_SCHEMA, r->file->header.pid);
		csv_text(out, t->name);
		fputc(',', out);
		if (t->tid)
			fprintf(out, "%u", t->tid);
		fprintf(out, ",%u,%llu,", t->nr, (unsigned long long)t->acquired);
		if (r->elides)
			fprintf(out, "%llu", (unsigned long long)t->elided);
		fprintf(out, ",%llu,%.0f", (unsigned long long)t->contended, t->wait);
		ns_csv(r, out, t->wait);
		ns_csv(r, out, t->held);
		if (t->lived > 0)
			fprintf(out, ",%.0f,%.0f,%.0f\r\n", t->lived, t->ran, t->late);
		else
			fputs(",,,\r\n", out);
	}
	threads_free(&threads);
	return 0;
}
