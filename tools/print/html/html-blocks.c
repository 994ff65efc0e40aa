// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * html-blocks.c - two graphs. Who blocks whom: on the left the calls that waited for locks, on the right
 * those that held them meanwhile, and between them lines as wide as the time waited. Which threads wait for
 * which: the same with groups of threads, and all that they wait for.
 *
 * A call, or a group, may be on both sides. Must never be the only place of an information: the list below
 * has it, too.
 */
#include <math.h>
#include <string.h>

#include "../../../lib/compiler.h"
#include "../../base/text.h"
#include "html.h"

/* Calls on each side, and lines below the graph, at most. */
#define SIDE_MAX 6
#define LIST_MAX 12
/* Pixels: a call, the gap between two, the widest line, and the heads. */
#define NODE_HEIGHT 36
#define NODE_GAP    10
#define LINE_MAX    18.0
#define HEAD        22

enum side { WAITS, HOLDS, NR_SIDES };

/* The calls that are drawn, and the time of their lines. */
struct graph {
	struct node {
		const char *name;
		double ns;
	} nodes[NR_SIDES][SIDE_MAX];
	size_t nr[NR_SIDES];
};

static const char *const keys[NR_SIDES] = {"waiter", "holder"};

static double ns_of(const json_t *edge)
{
	return json_number_value(json_object_get(edge, "ns"));
}

/*
 * The number of an edge's call on a side; that of a new one, if it is not there yet; -1 if the side is full.
 */
static int find(const struct graph *g, enum side side, const json_t *edge)
{
	const char *name = text_of(edge, keys[side]);
	size_t i = 0;

	while (i < g->nr[side] && strcmp(g->nodes[side][i].name, name))
		i++;
	return i < SIDE_MAX ? (int)i : -1;
}

/* Adds an edge, if there is room for its calls. Return: 1 if it is drawn. */
static int add(struct graph *g, const json_t *edge)
{
	int at[NR_SIDES];

	for (int side = 0; side < NR_SIDES; side++) {
		at[side] = find(g, side, edge);
		if (at[side] < 0)
			return 0;
	}
	for (int side = 0; side < NR_SIDES; side++) {
		struct node *n = &g->nodes[side][at[side]];

		n->name = text_of(edge, keys[side]);
		n->ns += ns_of(edge);
		g->nr[side] += (size_t)at[side] == g->nr[side];
	}
	return 1;
}

static int middle(int at)
{
	return HEAD + at * (NODE_HEIGHT + NODE_GAP) + NODE_HEIGHT / 2;
}

/* "1.20s: PLACE waits for LOCK, held by PLACE" */
static void sentence(struct page *p, const json_t *edge)
{
	html_ns(p->out, json_object_get(edge, "ns"));
	html_print(p->out, ": <code>%s</code> waits for ", text_of(edge, "waiter"));
	html_lock_name(p, edge, text_of(edge, "lock"));
	html_print(p->out, ", held by <code>%s</code>", text_of(edge, "holder"));
}

static void draw_edge(struct page *p, const struct graph *g, const json_t *edge, double most)
{
	int from = find(g, WAITS, edge), to = find(g, HOLDS, edge);

	html_print(p->out, "<path class=edge stroke-width=\"%.1f\" d=\"M0 %dC50 %d 50 %d 100 %d\"/>",
		   1 + LINE_MAX * ns_of(edge) / most, middle(from), middle(from), middle(to), middle(to));
}

static void draw_side(struct page *p, const struct graph *g, enum side side, const char *head)
{
	const char *x = side == WAITS ? "0" : "60%";

	html_print(p->out, "<text x=\"%s\" y=12>%s</text>\n", x, side == WAITS ? "waits" : head);
	for (size_t i = 0; i < g->nr[side]; i++) {
		const struct node *n = &g->nodes[side][i];
		char time[32];

		scale_ns(time, sizeof(time), n->ns);
		html_print(p->out, "<svg class=node x=\"%s\" y=%d width=\"40%%\" height=%d><title>%s: %s</title>"
			   "<rect width=\"100%%\" height=%d rx=4 /><text class=name x=6 y=15>%s</text>"
			   "<text x=6 y=30>%s</text></svg>\n",
			   x, middle((int)i) - NODE_HEIGHT / 2, NODE_HEIGHT, n->name, time, NODE_HEIGHT, n->name, time);
	}
}

/* @edges: objects with waiter, holder and ns; @head: of the right side */
static void draw(struct page *p, const json_t *edges, const char *label, const char *head)
{
	struct graph g = {.nr = {0}};
	double most = 1;
	const json_t *e;
	size_t i, rows;
	int height;

	json_array_foreach(edges, i, e) {
		add(&g, e);
		most = fmax(most, ns_of(e));
	}
	rows = g.nr[WAITS] > g.nr[HOLDS] ? g.nr[WAITS] : g.nr[HOLDS];
	height = middle((int)rows - 1) + NODE_HEIGHT / 2 + 1;
	html_print(p->out, "<svg class=graph height=%d role=img aria-label=\"%s; the list below has the same\">\n"
		   "<svg x=\"40%%\" width=\"20%%\" height=%d viewBox=\"0 0 100 %d\" preserveAspectRatio=none>",
		   height, label, height, height);
	json_array_foreach(edges, i, e)
		if (find(&g, WAITS, e) >= 0 && find(&g, HOLDS, e) >= 0)
			draw_edge(p, &g, e, most);
	fputs("</svg>\n", p->out);
	draw_side(p, &g, WAITS, head);
	draw_side(p, &g, HOLDS, head);
	fputs("</svg>\n<ol class=edges>\n", p->out);
}

size_t html_has_blocks(const struct page *p)
{
	return list_size(p->r, "blocks");
}

void html_blocks(struct page *p)
{
	const json_t *edges = json_object_get(p->r, "blocks"), *e;
	const json_t *wait = json_object_get(json_object_get(p->r, "totals"), "wait_ns");
	double known = 0;
	size_t i;

	json_array_foreach(edges, i, e)
		known += ns_of(e);
	html_print(p->out, "<p class=note>Who held the lock is known for %.1f%% of the time waiting for locks."
		   "</p>\n",
		   fmin(100 * known / fmax(json_number_value(json_object_get(wait, "total")), 1), 100));
	draw(p, edges, "Who blocks whom", "held by");
	json_array_foreach(edges, i, e) {
		if (i == LIST_MAX)
			break;
		html_print(p->out, "<li><a href=\"#p%u-r%llu\">", p->part, (unsigned long long)count_of(e, "row"));
		sentence(p, e);
		fputs("</a></li>\n", p->out);
	}
	fputs("</ol>\n", p->out);
	if (json_array_size(edges) > LIST_MAX)
		html_print(p->out, "<p class=more>%zu more: see the rows.</p>\n", json_array_size(edges) - LIST_MAX);
}

static const json_t *chain_edges(const struct page *p)
{
	return json_object_get(json_object_get(p->r, "chain"), "edges");
}

size_t html_has_chain(const struct page *p)
{
	return json_array_size(chain_edges(p));
}

/*
 * The edge between two groups, if it is there yet: those from one group follow each other, and are the last.
 */
static json_t *find_edge(const json_t *edges, const char *from, const char *to)
{
	for (size_t i = json_array_size(edges); i--;) {
		json_t *e = json_array_get(edges, i);

		if (strcmp(text_of(e, "waiter"), from))
			return NULL;
		if (!strcmp(text_of(e, "holder"), to))
			return e;
	}
	return NULL;
}

/* One edge for each two groups, for draw(); NULL without memory. */
static json_t *between_groups(const json_t *edges)
{
	json_t *list = json_array(), *known;
	const json_t *e;
	size_t i;

	json_array_foreach(edges, i, e) {
		const char *to = text_of(e, "to") ?: "(not known)";
		double ns = json_number_value(json_object_get(e, "ns"));

		known = find_edge(list, text_of(e, "from"), to);
		if (known)
			json_real_set(json_object_get(known, "ns"), ns_of(known) + ns);
		else
			json_array_append_new(list, json_pack("{s:s, s:s, s:f}", "waiter", text_of(e, "from"),
							      "holder", to, "ns", ns));
	}
	return list;
}

/* "910ms: main waits for Pool::run in PLACE for LOCK, until PLACE" */
static void wait_sentence(struct page *p, const json_t *e)
{
	const json_t *in = json_object_get(e, "waits_in"), *until = json_object_get(e, "until");
	char time[32];

	scale_ns(time, sizeof(time), ns_of(e));
	html_print(p->out, "<li>%s: <code>%s</code> waits for <code>%s</code> in ", time, text_of(e, "from"),
		   text_of(e, "to") ?: "(not known)");
	if (json_is_object(in)) {
		html_place(p->out, json_object_get(in, "site"));
		fputs(" for ", p->out);
		html_lock_name(p, in, text_of(in, "lock"));
	} else {
		fputs("<code>pthread_join()</code>", p->out);
	}
	if (json_is_object(until)) {
		fputs(", until ", p->out);
		html_place(p->out, until);
	}
	fputs("</li>\n", p->out);
}

void html_chain(struct page *p)
{
	const json_t *edges = chain_edges(p), *e, *name;
	json_t *drawn = between_groups(edges);
	size_t i;

	if (json_array_size(json_object_get(json_object_get(p->r, "chain"), "chain"))) {
		fputs("<p class=note>The chain: ", p->out);
		json_array_foreach(json_object_get(json_object_get(p->r, "chain"), "chain"), i, name)
			html_print(p->out, "%s<code>%s</code>", i ? " waits for " : "", json_string_value(name));
		fputs("</p>\n", p->out);
	}
	draw(p, drawn, "Which threads wait for which", "waited for");
	json_decref(drawn);
	json_array_foreach(edges, i, e)
		if (i < LIST_MAX)
			wait_sentence(p, e);
	fputs("</ol>\n", p->out);
	if (json_array_size(edges) > LIST_MAX)
		html_print(p->out, "<p class=more>%zu more: elide report --by chain.</p>\n",
			   json_array_size(edges) - LIST_MAX);
}
