// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * html-draw.c - the drawings of the page: bars of causes, bytes of cache
 * lines, the policy's decisions over time.
 *
 * They are SVG in per cent of their width, so they fit any window. Must never be the only place of
 * an information: the text beside them has it, too.
 */
#include <stdbool.h>
#include <string.h>

#include "../../base/text.h"
#include "../../model/attribute.h"
#include "html.h"

/* Rows that get a bar. */
#define BARS_MAX 24
/* Cache lines drawn, and accesses of each. */
#define LINES_MAX 12
#define ACCESSES_MAX 8
/* Bytes of a cache line. */
#define LINE_SIZE 64

/* A single abort is not drawn. */
static bool is_drawn(const json_t *row)
{
	return count_of(row, "aborts") > 1;
}

size_t html_nr_bars(const struct page *p)
{
	const json_t *row;
	size_t i, nr = 0;

	json_array_foreach(json_object_get(p->r, "rows"), i, row)
		nr += is_drawn(row);
	return nr;
}

/* The colours of the causes that occur, by the column into which they are summed. */
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
	html_lock(p, row);
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
	size_t i, nr = html_nr_bars(p), drawn = 0;
	uint64_t most = 0;
	const json_t *row;

	json_array_foreach(json_object_get(p->r, "rows"), i, row)
		if (count_of(row, "aborts") > most)
			most = count_of(row, "aborts");
	legend(p);
	fputs("<ol class=bars>\n", p->out);
	json_array_foreach(json_object_get(p->r, "rows"), i, row)
		if (is_drawn(row) && drawn++ < BARS_MAX)
			bar(p, row, i + 1, most);
	fputs("</ol>\n", p->out);
	if (nr > BARS_MAX)
		html_print(p->out, "<p class=more>%zu more rows had aborts: see the table.</p>\n",
			   nr - BARS_MAX);
}

/* Lines with more than one abort come first, and only these are drawn. */
size_t html_nr_lines(const struct page *p)
{
	const json_t *line;
	size_t i, nr = 0;

	json_array_foreach(json_object_get(p->r, "lines"), i, line)
		nr += count_of(line, "count") > 1;
	return nr;
}

/* [first, last] of a line's bytes. Return: 1 if they are known. */
static int bytes_of(const json_t *access, unsigned int *first, unsigned int *last)
{
	const json_t *range = json_object_get(access, "bytes");
	json_int_t from = json_integer_value(json_array_get(range, 0));
	json_int_t to = json_integer_value(json_array_get(range, 1));

	if (json_array_size(range) != 2 || from < 0 || to < from || from >= LINE_SIZE)
		return 0;
	*first = from;
	*last = to < LINE_SIZE ? to : LINE_SIZE - 1;
	return 1;
}

/* Draws the bytes of a line, those that an access touched in the colour of @who. */
static void draw_bytes(FILE *out, const json_t *access, const char *who)
{
	unsigned int first, last;

	fputs("<svg class=bytes aria-hidden=true><use href=\"#line\"/>", out);
	if (bytes_of(access, &first, &last))
		for (unsigned int i = first; i <= last; i++)
			html_print(out, "<use href=\"#byte\" class=%s x=\"%.4f%%\"/>", who,
				   100.0 * i / LINE_SIZE);
	fputs("</svg>\n", out);
}

static void draw_ruler(FILE *out)
{
	fputs("<svg class=ruler aria-hidden=true>", out);
	for (int i = 0; i < LINE_SIZE; i += 8)
		html_print(out, "<text x=\"%.1f%%\" y=11>%d</text>", 100.0 * i / LINE_SIZE, i);
	fputs("</svg>\n", out);
}

/* "aborted, bytes 0 to 7 (write) of NAME at PLACE, in the section of LOCK", and the bytes. */
static void access_of(struct page *p, const json_t *a)
{
	const char *data = text_of(a, "data"), *how = text_of(a, "access");
	const char *who = text_of(a, "who") ? text_of(a, "who") : "";
	int hint = !strcmp(who, "hint"), own = hint || !strcmp(who, "own");
	const json_t *section = json_object_get(a, "section");
	unsigned int first, last;

	html_print(p->out, "<li>\n<p><svg class=key aria-hidden=true><rect class=%s width=\"100%%\" "
		   "height=\"100%%\"/></svg> %s", own ? "own" : "other",
		   hint ? "hint" : own ? "aborted" : "made it abort");
	if (bytes_of(a, &first, &last)) {
		html_print(p->out, first == last ? ", byte %u" : ", bytes %u", first);
		if (first != last)
			html_print(p->out, " to %u", last);
	}
	if (how && strcmp(how, "unknown"))
		html_print(p->out, " (%s)", how);
	if (data)
		html_print(p->out, " of <code>%s</code>", data);
	fputs(" at ", p->out);
	html_place(p->out, json_object_get(a, "code"));
	if (json_is_object(section)) {
		fputs(", in the section of ", p->out);
		html_lock(p, section);
	}
	fputs(hint ? "; HITM loads: " : "; aborts: ", p->out);
	html_count(p->out, json_object_get(a, hint ? "samples" : "count"));
	fputs("</p>\n", p->out);
	draw_bytes(p->out, a, own ? "own" : "other");
	fputs("</li>\n", p->out);
}

static void sharing(FILE *out, const char *kind)
{
	if (kind && !strcmp(kind, "false"))
		fputs("<b>False sharing:</b> they touch different bytes, only the line is "
		      "shared.", out);
	else if (kind && !strcmp(kind, "true"))
		fputs("<b>True sharing:</b> they touch the same bytes.", out);
	else if (kind && strcmp(kind, "unknown"))
		html_print(out, "<b>Sharing: %s.</b>", kind);
	else
		fputs("Whether the same bytes are touched is not known.", out);
}

static void cache_line(struct page *p, const json_t *line)
{
	const json_t *data = json_object_get(line, "data"), *a;
	const char *name = text_of(data, "name"), *object = text_of(data, "object");
	size_t i;

	html_print(p->out, "<li>\n<h4><code>%s</code> <span class=at>%s data%s%s</span></h4>\n<p>",
		   name ? name : "unknown", text_of(data, "type"), object ? " of " : "", object);
	html_count(p->out, json_object_get(line, "count"));
	fputs(" aborts. ", p->out);
	sharing(p->out, text_of(line, "sharing"));
	fputs("</p>\n<ul class=accesses>\n", p->out);
	json_array_foreach(json_object_get(line, "accesses"), i, a)
		if (i < ACCESSES_MAX)
			access_of(p, a);
	fputs("</ul>\n", p->out);
	draw_ruler(p->out);
	if (i > ACCESSES_MAX)
		html_print(p->out, "<p class=more>%zu more accesses: --by line has them.</p>\n",
			   i - ACCESSES_MAX);
	fputs("</li>\n", p->out);
}

void html_lines(struct page *p)
{
	size_t i, nr = html_nr_lines(p), drawn = 0;
	const json_t *line;

	fputs("<ol class=lines>\n", p->out);
	json_array_foreach(json_object_get(p->r, "lines"), i, line)
		if (count_of(line, "count") > 1 && drawn++ < LINES_MAX)
			cache_line(p, line);
	fputs("</ol>\n", p->out);
	if (nr > LINES_MAX)
		html_print(p->out, "<p class=more>%zu more lines: --by line has them.</p>\n",
			   nr - LINES_MAX);
}
