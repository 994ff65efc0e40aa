// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * output-dot.c - elide report --dot: which threads wait for which, as a graph for dot(1).
 *
 * Must never print a name that ends its string.
 */
#include <errno.h>

#include "../base/text.h"
#include "../model/answer/groups.h"
#include "../model/sums.h"
#include "output.h"

/* A label or a name, in quotes. */
static void quote(FILE *out, const char *text)
{
	for (; *text; text++) {
		if (*text == '"' || *text == '\\')
			fputc('\\', out);
		fputc((unsigned char)*text < ' ' ? '?' : *text, out);
	}
}

static void print_node(FILE *out, const struct group *g, size_t nr)
{
	fprintf(out, "\tg%zu [label=\"", nr);
	quote(out, g->name);
	if (g->nr > 1)
		fprintf(out, " x%u", g->nr);
	if (g->known)
		fprintf(out, "\\nrunning %.0f%%, waiting %.0f%%", 100 * g->ran / g->lived,
			100 * (g->locks + g->others) / g->lived);
	fputs("\"];\n", out);
}

static int print_edge(FILE *out, const struct report *r, const struct group_edge *e)
{
	char time[32];
	struct line l;
	int rc;

	scale_ns(time, sizeof(time), e->ns);
	fprintf(out, "\tg%u -> ", e->from);
	fprintf(out, e->to == GROUP_NONE ? "unknown" : "g%u", e->to);
	fprintf(out, " [label=\"%s ", time);
	if (e->sum == GROUP_NONE) {
		fputs("pthread_join\"];\n", out);
		return 0;
	}
	sum_line(r, &r->sums->sum[e->sum], &l);
	rc = line_name(r, &l);
	if (!rc)
		quote(out, l.short_lock);
	fputs("\"];\n", out);
	line_free_names(&l);
	return rc;
}

/* Edges shorter than this part of the longest one are left out. */
#define LEAST_PART 0.01

static int rows(struct output *o, const struct report *r)
{
	double most = 0;
	struct groups g;
	int rc = groups_build(r, &g);

	if (rc)
		return rc;
	fputs("digraph waits {\n\tnode [shape=box];\n", o->out);
	for (size_t i = 0; i < g.nr; i++)
		print_node(o->out, &g.group[i], i);
	for (size_t i = 0; i < g.nr_edges; i++)
		most = g.edge[i].ns > most ? g.edge[i].ns : most;
	for (size_t i = 0; !rc && i < g.nr_edges; i++)
		if (g.edge[i].ns >= LEAST_PART * most)
			rc = print_edge(o->out, r, &g.edge[i]);
	fputs("}\n", o->out);
	groups_free(&g);
	return rc;
}

const struct report_output output_dot = {
	.option = {.name = "dot", .help = "which threads wait for which, a graph for dot(1)"},
	.by_row_only = true,
	.rows = rows,
};
