// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * view-chain.c - which threads wait for which: report --by chain.
 *
 * Must never round in JSON or CSV.
 */
#include <math.h>
#include <string.h>

#include "../../base/text.h"
#include "../../model/sums.h"
#include "../../names/names.h"
#include "../answer-print.h"
#include "../csv.h"
#include "../json-evidence.h"
#include "view-chain.h"

/* What an edge says: in which call, for which lock, until which call. */
static void edge_text(const struct report *r, const struct group_edge *e, char *to, size_t size)
{
	struct line l;

	*to = '\0';
	if (e->sum == GROUP_NONE) {
		answer_add(to, size, "in pthread_join() until they end");
		return;
	}
	sum_line(r, &r->sums->sum[e->sum], &l);
	if (line_name(r, &l)) {
		line_free_names(&l);
		return;
	}
	answer_add(to, size, "in ");
	answer_add_place(to, size, &l.site_place);
	answer_add(to, size, " for %s", l.short_lock);
	if (e->blame && elide_kind_waits_for_lock(l.kind)) {
		answer_add(to, size, ", held in ");
		answer_add_call(to, size, r, e->blame->held_site);
	} else if (e->blame) {
		answer_add(to, size, ", until ");
		answer_add_call(to, size, r, e->blame->held_site);
	}
	line_free_names(&l);
}

/* Edges of a group to print, at most, and the least part of its waiting. */
#define EDGES_SHOWN 5
#define LEAST_SHARE 0.01

static void print_edges(const struct report *r, const struct groups *g, uint32_t from, FILE *out, int width)
{
	const struct group *group = &g->group[from];
	size_t shown = 0;

	/* A group's edges follow its longest one. */
	for (size_t i = group->edge; i < g->nr_edges && g->edge[i].from == from && shown < EDGES_SHOWN; i++) {
		const struct group_edge *e = &g->edge[i];
		char text[1024], time[32];

		if (e->ns < LEAST_SHARE * (group->locks + group->others))
			break;
		shown++;
		scale_ns(time, sizeof(time), e->ns);
		fprintf(out, "    %7s  waits for ", time);
		edge_text(r, e, text, sizeof(text));
		print_clean(out, e->to == GROUP_NONE ? "(not known)" : g->group[e->to].name);
		fputs(", ", out);
		print_wrapped(out, text, width, 13);
	}
}

/* Edges of a chain, at most. */
#define CHAIN_MAX 16

static void print_chain(const struct report *r, const struct groups *g, FILE *out, int width)
{
	uint32_t edges[CHAIN_MAX];
	const struct group *last;
	char text[1024];
	size_t loop, nr = groups_chain(g, edges, CHAIN_MAX, &loop);

	if (!nr)
		return;
	fputs("\nchain: ", out);
	for (size_t i = 0; i < nr; i++) {
		const struct group_edge *e = &g->edge[edges[i]];

		print_clean(out, g->group[e->from].name);
		/* Threads of a group that wait for each other: for what is the end of the chain. */
		if (e->to == e->from && e->sum != GROUP_NONE) {
			edge_text(r, e, text, sizeof(text));
			fputs(", which wait ", out);
			print_wrapped(out, text, width, 7);
			return;
		}
		fputs(" <- ", out);
	}
	last = &g->group[g->edge[edges[nr - 1]].to];
	print_clean(out, last->name);
	if (loop < nr)
		fputs(": they wait for each other", out);
	else if (last->known && last->lived > 0)
		fprintf(out, ", running %.0f%% of its time", 100 * last->ran / last->lived);
	fputc('\n', out);
}

static void print_group(const struct group *g, FILE *out)
{
	print_clean(out, g->name);
	if (g->nr > 1)
		fprintf(out, ", %u threads", g->nr);
	if (g->known)
		fprintf(out, ": running %.0f%%, waiting for locks %.0f%%, for others %.0f%%, for a processor %.0f%% "
			"of their time", 100 * g->ran / g->lived, 100 * g->locks / g->lived,
			100 * g->others / g->lived, 100 * g->late / g->lived);
	fputc('\n', out);
}

int chain_table(const struct report *r, FILE *out, int width)
{
	struct groups g;
	int rc = groups_build(r, &g);

	if (rc)
		return rc;
	if (!g.nr)
		fputs("The file has no records of threads.\n", out);
	for (uint32_t i = 0; i < g.nr; i++) {
		print_group(&g.group[i], out);
		print_edges(r, &g, i, out, width);
	}
	print_chain(r, &g, out, width);
	groups_free(&g);
	return 0;
}

static json_t *json_edge(const struct report *r, const struct groups *g, const struct group_edge *e)
{
	const struct sum *s = e->sum == GROUP_NONE ? NULL : &r->sums->sum[e->sum];
	json_t *o = json_object();

	json_object_set_new(o, "from", json_text(g->group[e->from].name));
	json_object_set_new(o, "to", json_text(e->to == GROUP_NONE ? NULL : g->group[e->to].name));
	json_object_set_new(o, "ns", json_real(e->ns));
	json_object_set_new(o, "waits_in", s ? json_section(r, s->class_index, s->kind, s->site) : json_null());
	json_object_set_new(o, "until", e->blame ? json_call(r, e->blame->held_site) : json_null());
	return o;
}

int chain_json(const struct report *r, json_t **chain)
{
	json_t *groups, *edges, *list;
	uint32_t chained[CHAIN_MAX];
	struct groups g;
	size_t loop, nr;
	int rc = groups_build(r, &g);

	if (rc)
		return rc;
	groups = json_array();
	edges = json_array();
	list = json_array();
	for (size_t i = 0; i < g.nr; i++) {
		const struct group *group = &g.group[i];
		json_t *o = json_object();

		json_object_set_new(o, "name", json_text(group->name));
		json_object_set_new(o, "threads", json_number(group->nr));
		json_object_set_new(o, "total_ns", known_real(group->known ? group->lived : NAN));
		json_object_set_new(o, "running_ns", known_real(group->known ? group->ran : NAN));
		json_object_set_new(o, "waiting_for_locks_ns", json_real(group->locks));
		json_object_set_new(o, "waiting_for_others_ns", json_real(group->others));
		json_object_set_new(o, "late_ns", known_real(group->known ? group->late : NAN));
		json_array_append_new(groups, o);
	}
	for (size_t i = 0; i < g.nr_edges; i++)
		json_array_append_new(edges, json_edge(r, &g, &g.edge[i]));
	nr = groups_chain(&g, chained, CHAIN_MAX, &loop);
	for (size_t i = 0; i < nr; i++)
		json_array_append_new(list, json_text(g.group[g.edge[chained[i]].from].name));
	if (nr && g.edge[chained[nr - 1]].to != g.edge[chained[nr - 1]].from)
		json_array_append_new(list, json_text(g.group[g.edge[chained[nr - 1]].to].name));
	*chain = json_object();
	json_object_set_new(*chain, "groups", groups);
	json_object_set_new(*chain, "edges", edges);
	json_object_set_new(*chain, "chain", list);
	groups_free(&g);
	return 0;
}

void chain_csv_head(FILE *out)
{
	fputs("schema,pid,from,threads,to,wait_ns,lock,kind,site_object,site_symbol,site_inlined_into,site_file,"
	      "site_line,until_object,until_symbol,until_inlined_into,until_file,until_line\r\n", out);
}

int chain_csv(const struct report *r, FILE *out)
{
	struct groups g;
	int rc = groups_build(r, &g);

	for (size_t i = 0; !rc && i < g.nr_edges; i++) {
		const struct group_edge *e = &g.edge[i];
		struct place until = {0}, none = {0};
		struct line l;

		fprintf(out, "%d,%u", REPORT_SCHEMA, r->file->header.pid);
		csv_text(out, g.group[e->from].name);
		fprintf(out, ",%u", g.group[e->from].nr);
		csv_text(out, e->to == GROUP_NONE ? NULL : g.group[e->to].name);
		fprintf(out, ",%.0f", e->ns);
		if (e->sum == GROUP_NONE) {
			csv_text(out, NULL);
			csv_text(out, "join");
			csv_place(out, &none);
		} else {
			sum_line(r, &r->sums->sum[e->sum], &l);
			rc = line_name(r, &l);
			csv_text(out, l.lock);
			csv_text(out, kind_id(l.kind));
			csv_place(out, &l.site_place);
			line_free_names(&l);
		}
		if (e->blame)
			symbolize_call(r->symbols, e->blame->held_site, &until);
		csv_place(out, &until);
		fputs("\r\n", out);
	}
	if (!rc)
		groups_free(&g);
	return rc;
}
