// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * csv.c - the report as comma-separated values (RFC 4180), one line per row.
 *
 * A value that is unknown, or means nothing without elision, is empty.
 * Must never round.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../../lib/compiler.h"
#include "../base/text.h"
#include "../model/attribute.h"
#include "../names/names.h"
#include "csv.h"

void csv_text(FILE *out, const char *s)
{
	char *text = strdup(s ? s : "");

	fputs(",\"", out);
	if (text)
		text_clean(text);
	/* A spreadsheet would take these for formulas. */
	if (text && *text && strchr("=+-@", *text))
		fputc('\'', out);
	for (const char *c = text; c && *c; c++) {
		if (*c == '"')
			fputc('"', out);
		fputc(*c, out);
	}
	fputc('"', out);
	free(text);
}

static void number(FILE *out, uint64_t v, int known)
{
	if (known)
		fprintf(out, ",%llu", (unsigned long long)v);
	else
		fputc(',', out);
}

void csv_place(FILE *out, const struct place *p)
{
	csv_text(out, p->object);
	csv_text(out, p->symbol);
	csv_text(out, p->inlined_into);
	csv_text(out, p->file);
	number(out, p->line, p->line);
}

static void times_head(FILE *out, const char *name)
{
	fprintf(out, ",%s_count,%s_ns_min,%s_ns_mean,%s_ns_max,%s_ns_total", name, name, name, name,
		name);
}

static void times(FILE *out, const struct report *r, const struct elide_times *t, double mean)
{
	const uint64_t cycles[] = {t->min, (uint64_t)mean, t->max, t->total};

	number(out, t->count, 1);
	for (size_t i = 0; i < ARRAY_SIZE(cycles); i++) {
		uint64_t ns = 0;
		int known = !to_ns(r, cycles[i], &ns) && t->count;

		number(out, ns, known);
	}
}

void csv_head(FILE *out)
{
	fputs("schema,pid,lock,class,kind,site_object,site_symbol,site_inlined_into,site_file,site_"
	      "line,locks",
	      out);
#define ELIDE_FIELD(id, value, known, help) fputs("," #id, out);
#include "../model/columns.def"
#undef ELIDE_FIELD
#define ELIDE_CAUSE(id, code, column, help, advice) fputs(",cause_" #id, out);
#include "../../lib/aborts.def"
#undef ELIDE_CAUSE
	times_head(out, "wait");
	times_head(out, "hold");
	fputs(",held_percent,blocker,state,verdict\r\n", out);
}

static void row(const struct report *r, const struct line *l, FILE *out)
{
	const struct elide_times hold = line_hold_times(l);
	double held = line_held(r, l);

	fprintf(out, "%d,%u", REPORT_SCHEMA, r->file->header.pid);
	csv_text(out, l->lock);
	csv_text(out, l->class);
	csv_text(out, kind_id(l->kind));
	csv_place(out, &l->site_place);
	number(out, l->nr_locks, 1);
#define ELIDE_FIELD(id, value, known, help) number(out, value, FIELD_##known(r, l));
#include "../model/columns.def"
#undef ELIDE_FIELD
	for (int i = 0; i < ELIDE_NR_CAUSES; i++)
		number(out, l->sum.causes[i], r->elides);
	times(out, r, &l->sum.wait, l->sum.wait.count ? line_avg_wait(l) : 0);
	times(out, r, &hold, hold.count ? line_avg_hold(l) : 0);
	if (isnan(held))
		fputc(',', out);
	else
		fprintf(out, ",%.15g", held);
	csv_text(out, l->blocker ? l->short_blocker : NULL);
	csv_text(out, state_name(l->state));
	csv_text(out, verdict_name(l->verdict));
	fputs("\r\n", out);
}

void csv_print(const struct report *r, FILE *out, size_t top)
{
	for (size_t i = 0; i < r->nr_lines && (!top || i < top); i++)
		row(r, &r->lines[i], out);
}
