// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * output-table.c - elide report as text, on a terminal.
 *
 * Must never print a control character of a data file.
 */
#include "../../lib/compiler.h"
#include "output.h"
#include "perf-join.h"
#include "table.h"
#include "view-line.h"
#include "view-stack.h"

struct state {
	size_t nr_printed;
	size_t nr_idle;
};

static int has_acquired(void *arg, const struct elide_row *row)
{
	return elide_row_acquired(row) != 0;
}

/* A process without an acquisition is only counted. */
static bool skip(struct output *o, const struct data_file *f)
{
	struct state *s = o->state;

	if (load_rows(f, has_acquired, NULL) > 0 || f->nr_misuse > 0)
		return false;
	s->nr_idle++;
	return true;
}

static void separate(struct output *o)
{
	struct state *s = o->state;

	if (s->nr_printed++)
		fprintf(o->out, "\n%s\n", "----");
}

static int rows(struct output *o, const struct report *r)
{
	const struct report_options *options = o->options;

	separate(o);
	table_print(r, o->out, options->width, options->top);
	if (options->perf)
		perf_print(r, options->perf, o->out, options->top);
	return 0;
}

static int stacks(struct output *o, const struct report *r)
{
	separate(o);
	table_head(r, o->out);
	stacks_table(r, o->out, o->options->top);
	return 0;
}

static int lines(struct output *o, const struct report *r)
{
	separate(o);
	table_head(r, o->out);
	lines_table(r, o->out, o->options->top);
	return 0;
}

static int end(struct output *o)
{
	const struct state *s = o->state;

	if (s->nr_idle)
		fprintf(o->out, "%s%zu process%s took no lock that elide can see\n",
			s->nr_printed ? "\n" : "", s->nr_idle, s->nr_idle == 1 ? "" : "es");
	if (s->nr_printed)
		fprintf(o->out, "\nNext: elide report --by lock, --by line, --sort wait, --json "
				"(exact); elide-report(1) explains the columns.\n");
	return 0;
}

const struct report_output output_table = {
	.top = REPORT_TOP,
	.state_size = sizeof(struct state),
	.skip = skip,
	.rows = rows,
	.stacks = stacks,
	.lines = lines,
	.end = end,
};
