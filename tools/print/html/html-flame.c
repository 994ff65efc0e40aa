// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * html-flame.c - a flame graph of the stacks that waited (B. Gregg, "The Flame Graph", CACM 2016):
 * each function as wide as the time that it and its callees waited, its callees below it.
 *
 * The whole graph is in the page; the script searches in it, and widens a part of it.
 */
#include "../../base/text.h"
#include "html.h"

/* Height of a function, and the narrowest that is drawn, in per cent. */
#define ROW_HEIGHT 18
#define WIDTH_MIN 0.1
/* Depth of the graph, at most, and number of functions. */
#define DEPTH_MAX 64
#define FRAMES_DRAWN 3000

/* What is drawn. */
struct drawing {
	struct page *p;
	double all;
	size_t nr;
};

size_t html_has_flame(const struct page *p)
{
	return list_size(json_object_get(p->r, "flame"), "children") > 0;
}

static double ns_of(const json_t *node)
{
	return json_number_value(json_object_get(node, "ns"));
}

/* Depth of the nodes below a node that are wide enough to be drawn. */
static int depth_of(const json_t *node, double all, int depth)
{
	const json_t *child;
	int most = depth;
	size_t i;

	json_array_foreach(json_object_get(node, "children"), i, child) {
		int deep;

		if (100 * ns_of(child) / all < WIDTH_MIN || depth >= DEPTH_MAX)
			continue;
		deep = depth_of(child, all, depth + 1);
		most = deep > most ? deep : most;
	}
	return most;
}

static void draw(struct drawing *d, const json_t *node, double x, int depth)
{
	const json_t *child;
	size_t i;

	json_array_foreach(json_object_get(node, "children"), i, child) {
		double width = 100 * ns_of(child) / d->all;
		char time[32];

		if (width < WIDTH_MIN || depth >= DEPTH_MAX || d->nr++ >= FRAMES_DRAWN)
			continue;
		scale_ns(time, sizeof(time), ns_of(child));
		html_print(d->p->out, "<svg class=\"frame f%d\" x=\"%.3f%%\" y=%d width=\"%.3f%%\" "
			   "height=%d><title>%s: %s, %.1f%%</title><rect width=\"100%%\" height=%d />"
			   "<text x=4 y=13>%s</text></svg>\n",
			   depth ? 1 + depth % 2 : 0, x, depth * ROW_HEIGHT, width, ROW_HEIGHT,
			   text_of(child, "full"), time, width, ROW_HEIGHT - 1,
			   text_of(child, "name"));
		draw(d, child, x, depth + 1);
		x += width;
	}
}

void html_flame(struct page *p)
{
	const json_t *root = json_object_get(p->r, "flame");
	struct drawing d = {p, ns_of(root), 0};

	fputs("<p class=note>As wide as the time waiting for locks, of which stacks are known for ", p->out);
	html_ns(p->out, json_object_get(root, "ns"));
	html_print(p->out, ": the lock, and below it the calls that waited for it, the outermost first.</p>\n"
		   "<p class=tools hidden><label for=p%u-search>Search</label> "
		   "<input type=search id=p%u-search class=search> "
		   "<button type=button class=whole>Whole</button> "
		   "<span class=found role=status></span></p>\n"
		   "<svg class=flame height=%d role=img aria-label=\"Flame graph of the waits; the stacks "
		   "of each row are in the list of rows\">\n", p->part, p->part,
		   depth_of(root, d.all, 0) * ROW_HEIGHT);
	draw(&d, root, 0, 0);
	fputs("</svg>\n", p->out);
	if (d.nr > FRAMES_DRAWN)
		html_print(p->out, "<p class=more>%zu more: --folded=wait has all of them.</p>\n",
			   d.nr - FRAMES_DRAWN);
}
