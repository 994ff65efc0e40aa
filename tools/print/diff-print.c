// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * diff-print.c - two reports beside each other: as text, as JSON and as CSV.
 *
 * Must never round more than a double does in JSON and CSV.
 */
#include <math.h>
#include <string.h>

#include "../../lib/compiler.h"
#include "../base/text.h"
#include "../model/attribute.h"
#include "../model/file/faults.h"
#include "../names/names.h"
#include "csv.h"
#include "diff-print.h"
#include "json-evidence.h"
#include "view/views.h"

/* Columns of a value in the table. */
#define VALUE_WIDTH 10
/* Lengths of runs that differ by less count as equal. */
#define LENGTH_PERCENT 1.0

/* A row's values in a column, before and after. */
struct pair {
	double v[2];
	bool known[2];
};

static struct pair pair_of(const struct diff *d, const struct diff_row *row, size_t column)
{
	struct pair p = {{0, 0}, {false, false}};

	for (int i = 0; i < 2; i++)
		p.known[i] = !diff_value(d, row, i, column, &p.v[i]);
	return p;
}

static bool both_known(const struct pair *p)
{
	return p->known[0] && p->known[1];
}

static void value_text(char *to, size_t size, enum condition_unit unit, double v)
{
	if (unit == IN_PERCENT)
		snprintf(to, size, "%.1f%%", v);
	else if (unit == IN_TIME)
		scale_ns(to, size, v);
	else
		scale(to, size, v, "");
}

static void change_text(char *to, size_t size, enum condition_unit unit, const struct pair *p)
{
	double by = p->v[1] - p->v[0];

	if (!both_known(p))
		snprintf(to, size, "-");
	else if (by == 0)
		snprintf(to, size, "=");
	else if (unit == IN_PERCENT)
		snprintf(to, size, "%+.1f", by);
	else if (p->v[0] == 0)
		snprintf(to, size, "from 0");
	else
		snprintf(to, size, "%+.1f%%", 100 * by / p->v[0]);
}

static void print_pair(FILE *out, const struct condition_column *c, const struct pair *p)
{
	char text[2][32], change[32];

	for (int i = 0; i < 2; i++)
		if (p->known[i])
			value_text(text[i], sizeof(text[i]), c->unit, p->v[i]);
		else
			strcpy(text[i], "-");
	change_text(change, sizeof(change), c->unit, p);
	fprintf(out, "  %-14s %*s %*s %*s\n", c->name, VALUE_WIDTH, text[0], VALUE_WIDTH, text[1],
		VALUE_WIDTH, change);
}

/* Prints a column of words if these differ. */
static void print_words(FILE *out, const char *column, const char *before, const char *after)
{
	if (!strcmp(before, after))
		return;
	fprintf(out, "  %-14s ", column);
	print_clean(out, before);
	fputs(" -> ", out);
	print_clean(out, after);
	fputc('\n', out);
}

/* Prints all columns, and the causes that occurred. */
static void print_values(const struct diff *d, const struct diff_row *row, FILE *out)
{
	size_t nr;
	const struct condition_column *columns = diff_columns(&nr);

	for (size_t i = 0; i < nr; i++) {
		struct pair p = pair_of(d, row, i);

		if (diff_shows(d, i) && (p.known[0] || p.known[1]) && (!diff_is_cause(i) || p.v[0] || p.v[1]))
			print_pair(out, &columns[i], &p);
	}
	if (row->line[0] && row->line[1] && row != &d->total) {
		print_words(out, "blocker", row->line[0]->short_blocker,
			    row->line[1]->short_blocker);
		print_words(out, "verdict", verdict_name(row->line[0]->verdict),
			    verdict_name(row->line[1]->verdict));
	}
}

static void print_name(const struct diff_row *row, FILE *out)
{
	const struct line *l = diff_line(row);

	fputc('\n', out);
	if (row->status == DIFF_NEW || row->status == DIFF_GONE)
		fprintf(out, "%s: ", diff_status_name(row->status));
	line_print(out, l);
	fputc('\n', out);
}

static void print_run(const struct report *r, const char *which, FILE *out)
{
	const struct elide_header *h = &r->file->header;
	char length[32];

	fprintf(out, "%s%s: ", faults_any(&r->file->notes) ? "DAMAGED, of what is left: " : "", which);
	print_clean(out, r->file->path);
	fputs(": ", out);
	print_clean(out, program_title(h));
	if (r->cycles) {
		scale_ns(length, sizeof(length), r->ns);
		fprintf(out, ", ran %s", length);
	} else {
		fputs(", length unknown", out);
	}
	fprintf(out, ", mode %s, RTM %s\n", mode_name(h->mode), rtm_name(h->rtm));
}

static void print_length(const struct diff *d, FILE *out)
{
	const struct report *a = d->report[0], *b = d->report[1];
	double ratio;

	if (d->rate) {
		fputs("counts, cycles and times are per second of each run\n", out);
		return;
	}
	if (!a->cycles || !b->cycles)
		return;
	ratio = (double)b->ns / (double)a->ns;
	if (fabs(ratio - 1) * 100 > LENGTH_PERCENT)
		fprintf(out, "B ran %.3g times as long as A: counts may have grown with that, "
			     "--rate compares them per second\n", ratio);
}

void diff_print_table(const struct diff *d, const struct failure *failures, size_t nr_failures,
		      FILE *out, size_t top)
{
	size_t same = 0, noise = 0, left = 0, printed = 0;
	bool any = diff_is_beyond_noise(d, &d->total);

	print_run(d->report[0], "A", out);
	print_run(d->report[1], "B", out);
	print_length(d, out);
	for (size_t i = 0; i < d->nr && !any; i++)
		any = diff_is_beyond_noise(d, &d->rows[i]);
	if (!any) {
		fputs("\nno change beyond the noise (--csv has all numbers)\n", out);
		return;
	}
	fprintf(out, "\n  %-14s %*s %*s %*s\n", "", VALUE_WIDTH, "A", VALUE_WIDTH, "B", VALUE_WIDTH,
		"CHANGE");
	fputs("total\n", out);
	print_values(d, &d->total, out);
	for (size_t i = 0; i < d->nr; i++) {
		if (d->rows[i].status == DIFF_SAME) {
			same++;
		} else if (!diff_is_beyond_noise(d, &d->rows[i])) {
			noise++;
		} else if (top && printed == top) {
			left++;
		} else {
			print_name(&d->rows[i], out);
			print_values(d, &d->rows[i], out);
			printed++;
		}
	}
	if (same || noise || left)
		fputc('\n', out);
	if (left)
		fprintf(out, "(%zu more row%s: --top 0)\n", left,
			left == 1 ? " differs" : "s differ");
	if (same)
		fprintf(out, "%zu row%s the same in both\n", same, same == 1 ? " is" : "s are");
	if (noise)
		fprintf(out, "%zu row%s within the noise\n", noise, noise == 1 ? " differs" : "s differ");
}

void diff_describe(const struct diff *d, const struct failure *f, char *to, size_t size)
{
	const struct condition *c = f->condition;
	size_t nr;
	const struct condition_column *column = &diff_columns(&nr)[c->column];
	char text[2][32], change[32], name[512] = "total";
	struct pair p;

	if (!f->row) {
		snprintf(to, size, "failed: %s: B does not tell it", c->text);
		return;
	}
	p = pair_of(d, f->row, c->column);
	for (int i = 0; i < 2; i++)
		value_text(text[i], sizeof(text[i]), column->unit, p.v[i]);
	change_text(change, sizeof(change), column->unit, &p);
	if (f->row != &d->total)
		snprintf(name, sizeof(name), "%s (%s) at %s", diff_line(f->row)->lock,
			 kind_name(diff_line(f->row)->kind), diff_line(f->row)->site);
	snprintf(to, size, "failed: %s: %s: %s -> %s (%s)", c->text, name, text[0], text[1],
		 change);
}

static void csv_number(FILE *out, double v, bool known)
{
	if (known)
		fprintf(out, ",%.15g", v);
	else
		fputc(',', out);
}

static void csv_row(const struct diff *d, const struct diff_row *row, FILE *out)
{
	const struct line *l = diff_line(row);
	bool total = row == &d->total;
	size_t nr;
	const struct condition_column *columns = diff_columns(&nr);

	for (size_t i = 0; i < nr; i++) {
		struct pair p = pair_of(d, row, i);

		fprintf(out, "%d", DIFF_SCHEMA);
		csv_text(out, total ? "total" : diff_status_name(row->status));
		csv_text(out, total ? NULL : l->lock);
		csv_text(out, total ? NULL : l->class);
		csv_text(out, total ? NULL : kind_id(l->kind));
		csv_text(out, total ? NULL : l->site);
		csv_text(out, columns[i].name);
		csv_number(out, p.v[0], p.known[0]);
		csv_number(out, p.v[1], p.known[1]);
		csv_number(out, p.v[1] - p.v[0], both_known(&p));
		csv_number(out, 100 * (p.v[1] - p.v[0]) / p.v[0], both_known(&p) && p.v[0] != 0);
		fputs("\r\n", out);
	}
}

void diff_print_csv(const struct diff *d, const struct failure *failures, size_t nr_failures,
		    FILE *out, size_t top)
{
	fputs("schema,status,lock,class,kind,site,column,before,after,change,change_percent\r\n",
	      out);
	csv_row(d, &d->total, out);
	for (size_t i = 0; i < d->nr && (!top || i < top); i++)
		csv_row(d, &d->rows[i], out);
}

/* An integer if the value is whole, as counts are and rates are not. */
static json_t *json_value(double v, bool known)
{
	if (!known)
		return json_null();
	if (v == floor(v) && fabs(v) < 0x1p53)
		return json_integer((json_int_t)v);
	return json_real(v);
}

static json_t *json_values(const struct diff *d, const struct diff_row *row)
{
	json_t *o = json_object(), *values;
	size_t nr;
	const struct condition_column *columns = diff_columns(&nr);

	for (size_t i = 0; i < nr; i++) {
		struct pair p = pair_of(d, row, i);

		values = json_object();
		json_object_set_new(values, "before", json_value(p.v[0], p.known[0]));
		json_object_set_new(values, "after", json_value(p.v[1], p.known[1]));
		json_object_set_new(values, "change", json_value(p.v[1] - p.v[0], both_known(&p)));
		json_object_set_new(values, "change_percent",
				    json_value(100 * (p.v[1] - p.v[0]) / p.v[0],
					       both_known(&p) && p.v[0] != 0));
		json_object_set_new(o, columns[i].name, values);
	}
	return o;
}

static json_t *json_row(const struct diff *d, const struct diff_row *row)
{
	const struct line *l = diff_line(row);
	json_t *o = json_object();

	json_object_set_new(o, "status", json_text(diff_status_name(row->status)));
	json_object_set_new(o, "class", l->nr_classes == 1 ? json_text(l->class) : json_null());
	json_object_set_new(o, "lock", l->nr_classes == 1 ? json_text(l->lock) : json_null());
	json_object_set_new(o, "kind", json_text(kind_id(l->kind)));
	json_object_set_new(o, "site", l->nr_sites == 1 ? json_place(&l->site_place) : json_null());
	json_object_set_new(o, "beyond_noise", json_boolean(diff_is_beyond_noise(d, row)));
	json_object_set_new(o, "values", json_values(d, row));
	return o;
}

static json_t *json_run(const struct report *r)
{
	const struct elide_header *h = &r->file->header;
	char faults[FAULTS_TEXT];
	json_t *o = json_object();

	json_object_set_new(o, "file", json_text(r->file->path));
	json_object_set_new(o, "exe", json_text(h->exe));
	json_object_set_new(o, "pid", json_number(h->pid));
	json_object_set_new(o, "elapsed_s", r->cycles ? json_real(r->ns / 1e9) : json_null());
	json_object_set_new(o, "mode", json_text(mode_name(h->mode)));
	json_object_set_new(o, "rtm", json_text(rtm_name(h->rtm)));
	if (faults_any(&r->file->notes))
		json_object_set_new(o, "damaged", json_text(faults_text(&r->file->notes, faults)));
	return o;
}

void diff_print_json(const struct diff *d, const struct failure *failures, size_t nr_failures,
		     FILE *out, size_t top)
{
	json_t *o = json_object(), *rows = json_array(), *failed = json_array();

	json_object_set_new(o, "schema", json_integer(DIFF_SCHEMA));
	json_object_set_new(o, "before", json_run(d->report[0]));
	json_object_set_new(o, "after", json_run(d->report[1]));
	json_object_set_new(o, "rate", json_boolean(d->rate));
	json_object_set_new(o, "totals", json_values(d, &d->total));
	for (size_t i = 0; i < d->nr && (!top || i < top); i++)
		json_array_append_new(rows, json_row(d, &d->rows[i]));
	json_object_set_new(o, "rows", rows);
	for (size_t i = 0; i < nr_failures; i++) {
		const struct failure *f = &failures[i];
		json_t *one = json_object();

		json_object_set_new(one, "condition", json_text(f->condition->text));
		json_object_set_new(one, "row",
				    !f->row || f->row == &d->total ?
					    json_null() :
					    json_integer(f->row - d->rows));
		json_object_set_new(one, "known", json_boolean(f->row != NULL));
		json_array_append_new(failed, one);
	}
	json_object_set_new(o, "failed", failed);
	json_print(o, out);
}
