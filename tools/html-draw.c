// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * html-draw.c - the drawings of the page: bars of causes, bytes of cache
 * lines, the policy's decisions over time.
 *
 * They are SVG in per cent of their width, so they fit any window, and are
 * never the only place that says something: the text beside them does, too.
 */
#include <stdlib.h>
#include <string.h>

#include "../lib/compiler.h"
#include "html.h"
#include "report.h"

/* Rows that get a bar. */
#define BARS_MAX 24
/* Cache lines drawn, and of each the pairs of sections that met there. */
#define LINES_MAX 12
#define PAIRS_MAX 4
/* Bytes of a cache line. */
#define LINE_SIZE 64

static int compare_groups(const void *x, const void *y)
{
	const json_t *a = *(const json_t *const *)x, *b = *(const json_t *const *)y;
	uint64_t m = count_of(a, "count"), n = count_of(b, "count");

	if (m != n)
		return m < n ? 1 : -1;
	/* As they were found. */
	m = count_of(a, "number");
	n = count_of(b, "number");
	return m < n ? -1 : m > n;
}

/* Puts a member into the group named @key, whose count grows by @count. */
static void group_add(json_t *groups, const char *key, const json_t *member, uint64_t count)
{
	json_t *g = json_object_get(groups, key);

	if (!g) {
		g = json_pack("{s:I, s:I, s:[]}", "count", (json_int_t)0, "number",
			      (json_int_t)json_object_size(groups), "members");
		json_object_set_new(groups, key, g);
	}
	json_object_set_new(g, "count", json_integer(count_of(g, "count") + count));
	json_array_append(json_object_get(g, "members"), (json_t *)member);
}

/* The groups by their counts, to be freed; NULL without memory. */
static const json_t **group_sort(json_t *groups)
{
	const json_t **sorted = calloc(json_object_size(groups) + 1, sizeof(*sorted));
	const char *key;
	json_t *g;
	size_t n = 0;

	if (!sorted)
		return NULL;
	json_object_foreach(groups, key, g)
		sorted[n++] = g;
	qsort(sorted, n, sizeof(*sorted), compare_groups);
	return sorted;
}

size_t html_nr_bars(const struct page *p)
{
	const json_t *row;
	size_t i, nr = 0;

	json_array_foreach(json_object_get(p->r, "rows"), i, row)
		nr += count_of(row, "aborts") > 0;
	return nr;
}

/* Which colour is which: causes that occur, by the column they are summed into. */
static void legend(struct page *p)
{
	const json_t *causes = json_object_get(json_object_get(p->r, "totals"), "causes");

	fputs("<ul class=legend>\n", p->out);
	for (int column = 0; column < NR_CAUSE_COLUMNS; column++) {
		size_t nr = 0;

		for (int i = 0; i < ELIDE_NR_CAUSES; i++) {
			if ((int)cause_texts[i].column != column ||
			    !count_of(causes, cause_texts[i].id))
				continue;
			if (!nr++)
				html_print(p->out, "<li><svg class=key aria-hidden=true><rect class=k%d "
					   "width=\"100%%\" height=\"100%%\"/></svg> ", column);
			html_print(p->out, "%s%s", nr > 1 ? ", " : "", cause_texts[i].id);
		}
		if (nr)
			fputs("</li>\n", p->out);
	}
	fputs("</ul>\n", p->out);
}

static void bar(struct page *p, const json_t *row, size_t number, uint64_t most)
{
	const json_t *causes = json_object_get(row, "causes");
	uint64_t aborts = count_of(row, "aborts"), before = 0;
	const char *gap = "";

	html_print(p->out, "<li><p class=who><a href=\"#p%u-r%zu\">", p->part, number);
	html_lock(p->out, row);
	fputs("</a></p>\n<svg class=bar aria-hidden=true>", p->out);
	for (int column = 0; column < NR_CAUSE_COLUMNS; column++) {
		for (int i = 0; i < ELIDE_NR_CAUSES; i++) {
			uint64_t n = count_of(causes, cause_texts[i].id);

			if ((int)cause_texts[i].column != column || !n)
				continue;
			html_print(p->out, "<rect class=k%d x=\"%.3f%%\" width=\"%.3f%%\" "
				   "height=\"100%%\"/>", column, percent(before, most),
				   percent(n, most));
			before += n;
		}
	}
	fputs("</svg>\n<p class=parts>", p->out);
	html_count(p->out, json_object_get(row, "aborts"));
	fputs(" aborts: ", p->out);
	for (int i = 0; i < ELIDE_NR_CAUSES; i++) {
		uint64_t n = count_of(causes, cause_texts[i].id);

		if (!n)
			continue;
		html_print(p->out, "%s%s %.1f%%", gap, cause_texts[i].id, percent(n, aborts));
		gap = ", ";
	}
	fputs("</p></li>\n", p->out);
}

void html_bars(struct page *p)
{
	size_t i, nr = html_nr_bars(p), told = 0;
	uint64_t most = 0;
	const json_t *row;

	json_array_foreach(json_object_get(p->r, "rows"), i, row)
		if (count_of(row, "aborts") > most)
			most = count_of(row, "aborts");
	legend(p);
	fputs("<ol class=bars>\n", p->out);
	json_array_foreach(json_object_get(p->r, "rows"), i, row)
		if (count_of(row, "aborts") && told++ < BARS_MAX)
			bar(p, row, i + 1, most);
	fputs("</ol>\n", p->out);
	if (nr > BARS_MAX)
		html_print(p->out, "<p class=more>%zu more rows had aborts: see the table.</p>\n",
			   nr - BARS_MAX);
}

/* Details of conflicts by the data they are about; to be released. */
static json_t *lines_of(const struct page *p)
{
	json_t *groups = json_object(), *row, *d;
	size_t i, j;

	json_array_foreach(json_object_get(p->r, "rows"), i, row) {
		json_array_foreach(json_object_get(row, "details"), j, d) {
			const json_t *data = json_object_get(d, "data");
			const char *name = text_of(data, "name"), *object = text_of(data, "object");
			const char *cause = text_of(d, "cause");
			char *key;

			if (!json_is_object(data) || !cause || strcmp(cause, "conflict") ||
			    asprintf(&key, "%s|%s|%s", text_of(data, "type"), name ? name : "",
				     object ? object : "") < 0)
				continue;
			group_add(groups, key, d, count_of(d, "count"));
			free(key);
		}
	}
	return groups;
}

size_t html_nr_lines(const struct page *p)
{
	json_t *lines = lines_of(p);
	size_t nr = json_object_size(lines);

	json_decref(lines);
	return nr;
}

/* [first, last] of a line's bytes. Return: 1 if they are known. */
static int bytes_of(const json_t *data, const char *key, unsigned int *first, unsigned int *last)
{
	const json_t *range = json_object_get(data, key);
	json_int_t from = json_integer_value(json_array_get(range, 0));
	json_int_t to = json_integer_value(json_array_get(range, 1));

	if (json_array_size(range) != 2 || from < 0 || to < from || from >= LINE_SIZE)
		return 0;
	*first = from;
	*last = to < LINE_SIZE ? to : LINE_SIZE - 1;
	return 1;
}

static void touched(FILE *out, const char *who, unsigned int first, unsigned int last)
{
	for (unsigned int i = first; i <= last; i++)
		html_print(out, "<use href=\"#byte\" class=%s x=\"%.4f%%\"/>", who,
			   100.0 * i / LINE_SIZE);
}

/* The bytes of a line: above what the aborted section touched, below the other. */
static void draw_bytes(FILE *out, const json_t *data)
{
	unsigned int a, b, c, d;
	int own = bytes_of(data, "own_bytes", &a, &b), other = bytes_of(data, "other_bytes", &c, &d);

	if (!own && !other)
		return;
	fputs("<svg class=bytes role=img aria-label=\"Of the 64 bytes of the line: ", out);
	if (own)
		html_print(out, "%u to %u by the section that aborted%s", a, b, other ? ", " : "");
	if (other)
		html_print(out, "%u to %u by the other", c, d);
	fputs("\"><use href=\"#line\"/><use href=\"#line\" y=18 />", out);
	if (own)
		touched(out, "own", a, b);
	fputs("<svg y=18 overflow=visible>", out);
	if (other)
		touched(out, "other", c, d);
	fputs("</svg>", out);
	for (int i = 0; i < LINE_SIZE; i += 8)
		html_print(out, "<text x=\"%.1f%%\" y=48>%d</text>", 100.0 * i / LINE_SIZE, i);
	fputs("</svg>\n", out);
}

static void draw_range(FILE *out, const json_t *data, const char *key)
{
	unsigned int first, last;

	if (!bytes_of(data, key, &first, &last))
		return;
	html_print(out, first == last ? ", byte %u" : ", bytes %u", first);
	if (first != last)
		html_print(out, " to %u", last);
}

/* Two sections that met at a line. */
static void pair(struct page *p, const json_t *d)
{
	const json_t *data = json_object_get(d, "data"), *other = json_object_get(d, "other");
	const json_t *section = json_object_get(d, "other_section");

	fputs("<li>\n<p><svg class=key aria-hidden=true><rect class=own width=\"100%\" "
	      "height=\"100%\"/></svg> aborted at ", p->out);
	html_place(p->out, json_object_get(d, "own"));
	draw_range(p->out, data, "own_bytes");
	fputs("</p>\n", p->out);
	draw_bytes(p->out, data);
	html_print(p->out, "<p><svg class=key aria-hidden=true><rect class=other width=\"100%%\" "
		   "height=\"100%%\"/></svg> %s ",
		   json_is_true(json_object_get(d, "other_write")) ? "written at" : "read at");
	html_place(p->out, other);
	draw_range(p->out, data, "other_bytes");
	if (json_is_object(section)) {
		fputs(", in the section of ", p->out);
		html_lock(p->out, section);
	}
	fputs("; aborts: ", p->out);
	html_count(p->out, json_object_get(d, "count"));
	fputs("</p>\n</li>\n", p->out);
}

static void cache_line(struct page *p, const json_t *group)
{
	const json_t *members = json_object_get(group, "members"), *d;
	const json_t *data = json_object_get(json_array_get(members, 0), "data");
	const char *sharing = text_of(data, "sharing"), *name = text_of(data, "name");
	const char *object = text_of(data, "object");
	size_t i;

	html_print(p->out, "<li>\n<h4><code>%s</code> <span class=at>%s data%s%s</span></h4>\n<p>",
		   name ? name : "unknown", text_of(data, "type"), object ? " of " : "", object);
	html_count(p->out, json_object_get(group, "count"));
	fputs(" aborts. ", p->out);
	if (sharing && !strcmp(sharing, "false"))
		fputs("<b>False sharing:</b> the two touch different bytes, only the line is "
		      "shared.", p->out);
	else if (sharing && !strcmp(sharing, "true"))
		fputs("<b>True sharing:</b> the two touch the same bytes.", p->out);
	else
		fputs("Whether the two touch the same bytes is not known.", p->out);
	fputs("</p>\n<ul class=pairs>\n", p->out);
	json_array_foreach(members, i, d)
		if (i < PAIRS_MAX)
			pair(p, d);
	fputs("</ul>\n", p->out);
	if (i > PAIRS_MAX)
		html_print(p->out, "<p class=more>%zu more pairs of sections met here: see the "
			   "rows.</p>\n", i - PAIRS_MAX);
	fputs("</li>\n", p->out);
}

void html_lines(struct page *p)
{
	json_t *lines = lines_of(p);
	const json_t **sorted = group_sort(lines);
	size_t nr = json_object_size(lines);

	fputs("<ol class=lines>\n", p->out);
	for (size_t i = 0; sorted && i < nr && i < LINES_MAX; i++)
		cache_line(p, sorted[i]);
	fputs("</ol>\n", p->out);
	if (nr > LINES_MAX)
		html_print(p->out, "<p class=more>%zu more lines had conflicts: see the rows.</p>\n",
			   nr - LINES_MAX);
	free(sorted);
	json_decref(lines);
}
