// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * html.c - the report as a page: its frame, findings, table of rows, misuse,
 * lock order, counters, and the run.
 *
 * The page is complete without the script, which only sorts, filters, searches, copies
 * and changes the colours. Must never refer to anything outside the page.
 */
#include <math.h>
#include <string.h>

#include "../../../lib/compiler.h"
#include "../../base/text.h"
#include "../../model/attribute.h"
#include "../../model/columns.h"
#include "../../model/compare.h"
#include "../../names/names.h"
#include "blocks.h"
#include "flame.h"
#include "../json-report.h"
#include "../view/view-chain.h"
#include "../view/view-line.h"
#include "../view/view-thread.h"
#include "../view/view-time.h"
#include "html.h"

/* Rows whose findings are at the top of the page; other findings are only with their row. */
#define FINDING_ROWS_MAX 12

static json_t *number(const struct report *r, enum unit unit, double v)
{
	char text[64];

	number_cell(r, unit, v, text, sizeof(text));
	/* An unknown value comes after all others. */
	return json_pack("[s, f]", text, isnan(v) ? -1.0 : v);
}

#define CELL_TEXT(v, unit)    json_pack("[o]", json_text(v))
#define CELL_COUNT(v, unit)   number(r, unit, (double)(v))
#define CELL_PERCENT(v, unit) CELL_COUNT(v, unit)
#define CELL_CYCLES(v, unit)  CELL_COUNT(v, unit)
#define CELL_TIME(v, unit)    CELL_COUNT(v, unit)
#define CELL_MEAN(v, unit)    CELL_COUNT(v, unit)

/* The cells of a row: [text, value to sort by], of the columns that are shown. */
static json_t *cells_of(const struct report *r, const struct line *l, const bool *shown)
{
	json_t *list = json_array();

#define ELIDE_COLUMN(id, head, unit, value, view, drop)                                         \
	if (shown[CELL_##id])                                                                      \
		json_array_append_new(list, CELL_##unit(value, unit));
#include "../../model/columns.def"
#undef ELIDE_COLUMN
	return list;
}

/* The names of locks in the table, by class and by whole name. */
static json_t *names_of(const struct report *r)
{
	json_t *names = json_object();

	for (size_t i = 0; i < r->nr_built; i++) {
		const struct line *l = &r->lines[i];

		if (l->nr_classes != 1)
			continue;
		json_object_set_new(names, l->class, json_text(l->short_lock));
		json_object_set_new(names, l->lock, json_text(l->short_lock));
	}
	return names;
}

json_t *html_tree(const struct report *r, size_t top)
{
	json_t *tree = json_report(r, top), *columns = json_array(), *row, *chain;
	bool shown[NR_COLUMNS];
	size_t i;

	columns_find(r, r->nr_lines, shown);
#define ELIDE_COLUMN(id, head, unit, value, view, drop)                                         \
	if (shown[CELL_##id])                                                                      \
		json_array_append_new(columns, json_pack("{s:s, s:s, s:b}", "id", #id, "head",     \
							 head, "number", unit != TEXT));
#include "../../model/columns.def"
#undef ELIDE_COLUMN
	json_object_set_new(tree, "columns", columns);
	json_object_set_new(tree, "lines", lines_json(r, 0));
	json_object_set_new(tree, "threads", threads_json(r));
	json_object_set_new(tree, "activity", activity_json(r));
	json_object_set_new(tree, "flame", flame_json(r));
	json_object_set_new(tree, "blocks", blocks_json(r));
	if (!chain_json(r, &chain))
		json_object_set_new(tree, "chain", chain);
	json_object_set_new(tree, "names", names_of(r));
	json_array_foreach(json_object_get(tree, "rows"), i, row)
		json_object_set_new(row, "cells", cells_of(r, &r->lines[i], shown));
	json_object_set_new(tree, "more_rows", json_integer(r->nr_lines - i));
	return tree;
}

static void setting(FILE *out, const char *text)
{
	html_print(out, "<p class=set><code>%s</code> "
		   "<button type=button class=copy hidden>Copy</button></p>\n", text);
}

void html_findings(struct page *p, const json_t *row)
{
	const json_t *f;
	size_t i;

	fputs("<ul>\n", p->out);
	json_array_foreach(json_object_get(row, "findings"), i, f) {
		const char *set = text_of(f, "setting"), *cause = text_of(f, "cause");
		uint64_t n = cause ? count_of(json_object_get(row, "causes"), cause) : 0;

		fputs("<li><p>", p->out);
		/* "none": nothing aborts, and nothing can be gained. */
		if (cause && strcmp(cause, "none"))
			html_print(p->out, "<b class=cause>%s</b> ", cause);
		if (n)
			html_print(p->out, "<span class=at>%.1f%% of the aborts:</span> ",
				   percent(n, count_of(row, "aborts")));
		html_print(p->out, "%s</p>\n", text_of(f, "text"));
		if (set)
			setting(p->out, set);
		fputs("</li>\n", p->out);
	}
	fputs("</ul>\n", p->out);
}

static size_t nr_findings(const struct page *p)
{
	size_t i, nr = list_size(p->r, "findings");
	const json_t *row;

	json_array_foreach(json_object_get(p->r, "rows"), i, row)
		nr += list_size(row, "findings") > 0;
	return nr;
}

/* What the report says first: of what the threads wait for, and what to do. */
static void answers(struct page *p)
{
	static const char *const parts[][2] = {{"callers", "called"}, {"held_by", "held by"}, {"text", "do"}};
	const json_t *f;
	size_t i;

	json_array_foreach(json_object_get(p->r, "findings"), i, f) {
		char time[32];

		scale_ns(time, sizeof(time), json_real_value(json_object_get(f, "ns")));
		html_print(p->out, "<li><h4>%s</h4>\n<p>%s</p>\n", time, text_of(f, "where"));
		if (text_of(f, "held_by") || text_of(f, "text"))
			fputs("<ul>\n", p->out);
		for (size_t j = 0; j < ARRAY_SIZE(parts); j++)
			if (text_of(f, parts[j][0]))
				html_print(p->out, "<li><p><b class=cause>%s</b> %s</p></li>\n", parts[j][1],
					   text_of(f, parts[j][0]));
		fputs(text_of(f, "held_by") || text_of(f, "text") ? "</ul>\n</li>\n" : "</li>\n", p->out);
	}
}

static void findings(struct page *p)
{
	size_t i, nr = nr_findings(p) - list_size(p->r, "findings"), told = 0;
	const json_t *row;

	fputs("<ol class=findings>\n", p->out);
	answers(p);
	json_array_foreach(json_object_get(p->r, "rows"), i, row) {
		if (!list_size(row, "findings") || told++ >= FINDING_ROWS_MAX)
			continue;
		html_print(p->out, "<li><h4><a href=\"#p%u-r%zu\">", p->part, i + 1);
		html_lock(p, row);
		fputs("</a></h4>\n", p->out);
		html_findings(p, row);
		fputs("</li>\n", p->out);
	}
	fputs("</ol>\n", p->out);
	if (nr > FINDING_ROWS_MAX)
		html_print(p->out, "<p class=more>%zu more rows have findings: they are shown with "
			   "the row.</p>\n", nr - FINDING_ROWS_MAX);
}

static size_t nr_rows(const struct page *p)
{
	return list_size(p->r, "rows");
}

/* The text of the column of sites, which narrow windows show below the lock. */
static const char *site_cell(const json_t *columns, const json_t *row)
{
	const json_t *column;
	size_t i;

	json_array_foreach(columns, i, column)
		if (!strcmp(text_of(column, "id"), "site"))
			return json_string_value(
				json_array_get(json_array_get(json_object_get(row, "cells"), i), 0));
	return "";
}

static void table_row(struct page *p, const json_t *columns, const json_t *row, size_t number)
{
	const json_t *column;
	size_t i;

	fputs("<tr>", p->out);
	json_array_foreach(columns, i, column) {
		const char *whole = i ? NULL : text_of(row, "lock");
		const json_t *cell = json_array_get(json_object_get(row, "cells"), i);
		const char *text = json_string_value(json_array_get(cell, 0));

		if (!i)
			html_print(p->out, "<th scope=row title=\"%s\"><a href=\"#p%u-r%zu\">%s</a>"
				   "<span class=under>%s</span></th>", whole ? whole : "", p->part, number,
				   text && *text ? text : "unknown", site_cell(columns, row));
		else if (json_is_true(json_object_get(column, "number")))
			html_print(p->out, "<td class=\"num c-%s\" data-v=\"%.6f\">%s</td>",
				   text_of(column, "id"), json_number_value(json_array_get(cell, 1)), text);
		else
			html_print(p->out, "<td class=\"c-%s\" data-word=\"%s\">%s</td>",
				   text_of(column, "id"), text, text);
	}
	fputs("</tr>\n", p->out);
}

static void table(struct page *p)
{
	const json_t *columns = json_object_get(p->r, "columns"), *row, *column;
	uint64_t more = count_of(p->r, "more_rows");
	size_t i;

	html_print(p->out, "<p class=note id=p%u-columns>One row for each lock class, call site and "
		   "kind of acquisition; elide-report(1) explains the columns.</p>\n"
		   "<p class=tools hidden><label for=p%u-filter>Show rows with</label> "
		   "<input type=search id=p%u-filter class=filter> "
		   "<span class=found role=status></span></p>\n"
		   "<div class=scroll tabindex=0 role=region "
		   "aria-label=\"Table of locks and call sites\">\n"
		   "<table class=rows aria-describedby=p%u-columns>\n<thead><tr>",
		   p->part, p->part, p->part, p->part);
	json_array_foreach(columns, i, column)
		html_print(p->out, "<th scope=col class=\"%sc-%s\">%s</th>",
			   json_is_true(json_object_get(column, "number")) ? "num " : "",
			   text_of(column, "id"), text_of(column, "head"));
	fputs("</tr></thead>\n<tbody>\n", p->out);
	json_array_foreach(json_object_get(p->r, "rows"), i, row)
		table_row(p, columns, row, i + 1);
	fputs("</tbody>\n</table>\n</div>\n", p->out);
	if (more)
		html_print(p->out, "<p class=more>%llu more rows: --top 0</p>\n",
			   (unsigned long long)more);
}

static size_t nr_misuse(const struct page *p)
{
	return list_size(p->r, "misuse");
}

/* A misuse as a sentence. */
static const char *misuse_text(const char *type)
{
	for (unsigned int i = 0; type && i < ELIDE_MISUSE_END; i++)
		if (!strcmp(misuse_name(i), type))
			return misuse_says(i);
	return type;
}

static void misuse(struct page *p)
{
	const json_t *m;
	size_t i;

	fputs("<ul>\n", p->out);
	json_array_foreach(json_object_get(p->r, "misuse"), i, m) {
		const char *lock = text_of(m, "lock");

		fputs("<li>", p->out);
		html_place(p->out, json_object_get(m, "site"));
		html_print(p->out, " %s <span class=at>%s</span>", misuse_text(text_of(m, "type")),
			   html_kind(m));
		if (lock) {
			fputc(' ', p->out);
			html_lock_name(p, m, lock);
		}
		fputs(", times: ", p->out);
		html_count(p->out, json_object_get(m, "count"));
		fputs("</li>\n", p->out);
	}
	fputs("</ul>\n", p->out);
}

static size_t nr_cycles(const struct page *p)
{
	return list_size(p->r, "order");
}

static void cycle(struct page *p, const json_t *edges)
{
	size_t i, nr = json_array_size(edges);
	const json_t *e;

	fputs("<ol class=cycle>\n", p->out);
	json_array_foreach(edges, i, e) {
		const json_t *next = json_array_get(edges, (i + 1) % nr);

		html_print(p->out, "<li>Thread %llu holds ",
			   (unsigned long long)count_of(e, "thread"));
		html_lock(p, e);
		fputs(" and takes ", p->out);
		html_lock_name(p, next, text_of(next, "lock"));
		html_print(p->out, " <span class=at>%s</span> at ", text_of(e, "next_kind"));
		html_place(p->out, json_object_get(e, "next_site"));
		fputs("</li>\n", p->out);
	}
	fputs("</ol>\n", p->out);
}

static void cycles(struct page *p)
{
	const json_t *o;
	size_t i;

	fputs("<p>Threads that do this at once can wait for each other for ever. Take these locks "
	      "in one order everywhere; where that cannot be, take the second with a trylock and "
	      "release the first if it fails.</p>\n", p->out);
	json_array_foreach(json_object_get(p->r, "order"), i, o)
		cycle(p, json_object_get(o, "edges"));
}

static size_t nr_counters(const struct page *p)
{
	return list_size(p->r, "counters");
}

static void counters(struct page *p)
{
	const json_t *c;
	size_t i;

	fputs("<div class=scroll tabindex=0 role=region aria-label=\"Hardware counters\">\n"
	      "<table>\n<thead><tr><th scope=col>Event</th><th scope=col>Source</th>"
	      "<th scope=col class=num>Value</th><th scope=col class=num>Counted</th>"
	      "</tr></thead>\n<tbody>\n", p->out);
	json_array_foreach(json_object_get(p->r, "counters"), i, c) {
		html_print(p->out, "<tr><th scope=row><code>%s</code></th><td>%s</td>"
			   "<td class=num>", text_of(c, "name"), text_of(c, "source"));
		html_count(p->out, json_object_get(c, "value"));
		html_print(p->out, "</td><td class=num>%.1f%%</td></tr>\n",
			   percent(count_of(c, "running_ns"), count_of(c, "enabled_ns")));
	}
	fputs("</tbody>\n</table>\n</div>\n<p class=note>Counted: the share of the run in which "
	      "the processor counted this event; the value is scaled to all of it.</p>\n", p->out);
}

static void fact(FILE *out, const char *name, const char *text)
{
	if (text)
		html_print(out, "<div><dt>%s</dt><dd>%s</dd></div>\n", name, text);
}

/* A number that is an id or small: its digits are not grouped. */
static void fact_number(FILE *out, const char *name, const json_t *value)
{
	if (json_is_integer(value))
		html_print(out, "<div><dt>%s</dt><dd>%llu</dd></div>\n", name,
			   (unsigned long long)json_integer_value(value));
}

static size_t one(const struct page *p)
{
	return 1;
}

/* List what was not counted because of a limit. */
static void not_counted(FILE *out, json_t *dropped)
{
	const json_t *value;
	const char *key, *gap = "<div><dt>Not counted</dt><dd>";

	json_object_foreach(dropped, key, value) {
		if (!count_of(dropped, key))
			continue;
		fputs(gap, out);
		html_count(out, value);
		html_print(out, " beyond the limit of %s", key);
		gap = "; ";
	}
	if (gap[0] == ';')
		fputs("</dd></div>\n", out);
}

static void run(struct page *p)
{
	static const char *const off[] = {"rtm_off", "ctl_off"};
	const json_t *program = json_object_get(p->r, "program");
	const json_t *machine = json_object_get(p->r, "machine");
	const json_t *learned = json_object_get(p->r, "learned");

	fputs("<dl class=facts>\n", p->out);
	fact(p->out, "Program", text_of(program, "exe"));
	fact_number(p->out, "Process", json_object_get(program, "pid"));
	fact(p->out, "Started", text_of(program, "start_date"));
	fact(p->out, "Ended", text_of(program, "ended"));
	fact_number(p->out, "Threads", json_object_get(program, "threads"));
	fact(p->out, "Mode", text_of(p->r, "mode"));
	fact(p->out, "Policy", text_of(p->r, "policy"));
	fact(p->out, "RTM", text_of(machine, "rtm"));
	fact(p->out, "Why", text_of(machine, "why"));
	fact(p->out, "Model", text_of(machine, "model"));
	fact(p->out, "Changes to it", text_of(machine, "changes"));
	fact_number(p->out, "Cores", json_object_get(machine, "cores"));
	fact_number(p->out, "Threads a core", json_object_get(machine, "smt"));
	fact_number(p->out, "Sockets", json_object_get(machine, "sockets"));
	fact_number(p->out, "MHz", json_object_get(machine, "mhz"));
	for (size_t i = 0; i < ARRAY_SIZE(off); i++)
		if (json_is_true(json_object_get(machine, off[i])))
			fact(p->out, i ? "Elision" : "Transactions",
			     i ? "was switched off by elide ctl" : "stopped committing in the run");
	if (json_is_object(learned)) {
		fact(p->out, "Learned from", text_of(learned, "file"));
		fact(p->out, "Its use", text_of(learned, "state"));
		fact_number(p->out, "Classes from it", json_object_get(learned, "classes"));
		fact_number(p->out, "Call sites from it", json_object_get(learned, "sites"));
	}
	not_counted(p->out, json_object_get(p->r, "dropped"));
	fputs("</dl>\n", p->out);
}

/* The sections of a part, the most important first. */
static const struct section {
	const char *id;
	const char *title;
	size_t (*count)(const struct page *p);
	void (*print)(struct page *p);
} sections[] = {
	{"findings", "What to do", nr_findings, findings},
	{"chain", "Which threads wait for which", html_has_chain, html_chain},
	{"waits", "Waiting for locks", html_nr_waits, html_waits},
	{"blocks", "Who blocks whom", html_has_blocks, html_blocks},
	{"table", "Locks and call sites", nr_rows, table},
	{"others", "Waiting for others", html_nr_others, html_others},
	{"flame", "Stacks that waited for locks", html_has_flame, html_flame},
	{"time", "Waits and holds over the run", html_nr_lanes, html_activity},
	{"threads", "Threads", html_nr_threads, html_threads},
	{"misuse", "Misuse", nr_misuse, misuse},
	{"order", "Lock order", nr_cycles, cycles},
	{"causes", "Why transactions abort", html_nr_bars, html_bars},
	{"lines", "Hottest cache lines", html_nr_lines, html_lines},
	{"policy", "Decisions of the policy", html_nr_events, html_timeline},
	{"rows", "Row by row", nr_rows, html_rows},
	{"counters", "Hardware counters", nr_counters, counters},
	{"run", "The run", one, run},
};

static void summary(struct page *p)
{
	const json_t *totals = json_object_get(p->r, "totals");
	const json_t *elided = json_object_get(totals, "elided");
	const json_t *elapsed = json_object_get(json_object_get(p->r, "program"), "elapsed_s");
	const json_t *locks = json_object_get(json_object_get(totals, "wait_ns"), "total");
	const json_t *others = json_object_get(totals, "wait_others_ns");
	const json_t *time = json_object_get(p->r, "thread_time");
	bool any = nr_rows(p) || nr_misuse(p), known = json_is_real(json_object_get(time, "total_ns"));
	char run[32];

	if (text_of(time, "sentence") && (any || known))
		html_print(p->out, "<p class=sum>%s</p>\n", text_of(time, "sentence"));
	if (!any)
		fputs("<p class=sum>Took no lock that elide can see.</p>\n", p->out);
	if (text_of(json_object_get(time, "unseen"), "sentence"))
		html_print(p->out, "<p class=sum>%s</p>\n", text_of(json_object_get(time, "unseen"), "sentence"));
	if (!any)
		return;
	fputs("<dl class=sum>\n<div><dt>acquisitions</dt><dd>", p->out);
	html_count(p->out, json_object_get(totals, "acquired"));
	fputs("</dd></div>\n", p->out);
	if (json_is_integer(elided)) {
		html_print(p->out, "<div><dt>elided</dt><dd>%.1f%%</dd></div>\n",
			   percent(count_of(totals, "elided"), count_of(totals, "acquired")));
		fputs("<div><dt>aborts</dt><dd>", p->out);
		html_count(p->out, json_object_get(totals, "aborts"));
		html_print(p->out, "</dd></div>\n<div><dt>verdict</dt><dd data-word=\"%s\">%s</dd>"
			   "</div>\n", text_of(totals, "verdict"), text_of(totals, "verdict"));
	}
	if (count_of(totals, "contended"))
		html_print(p->out, "<div><dt>contended</dt><dd>%.2f%%</dd></div>\n",
			   percent(count_of(totals, "contended"), count_of(totals, "acquired")));
	if (json_is_integer(locks)) {
		fputs("<div><dt>waiting for locks</dt><dd>", p->out);
		html_ns(p->out, locks);
		fputs("</dd></div>\n", p->out);
	}
	if (json_integer_value(others)) {
		fputs("<div><dt>waiting for others</dt><dd>", p->out);
		html_ns(p->out, others);
		fputs("</dd></div>\n", p->out);
	}
	if (json_is_real(elapsed)) {
		fputs("<div><dt>the run</dt><dd>", p->out);
		scale_ns(run, sizeof(run), 1e9 * json_real_value(elapsed));
		html_print(p->out, "%s</dd></div>\n", run);
	}
	fputs("</dl>\n", p->out);
}

static const char *program_name(const json_t *part)
{
	const json_t *program = json_object_get(part, "program");
	const char *called = json_string_value(json_array_get(json_object_get(program, "argv"), 0));
	const char *exe = text_of(program, "exe");

	if (called && *base_name(called))
		return base_name(called);
	return exe && *exe ? base_name(exe) : "(program unknown)";
}

/* Notes on the run that a reader needs before the numbers. */
static void notes(struct page *p, const json_t *program)
{
	const json_t *unsaid = json_object_get(program, "unsaid");

	if (text_of(p->r, "damaged"))
		html_print(p->out, "<p class=note role=alert><b>Damaged:</b> %s. The numbers are of what "
			   "is left.</p>\n", text_of(p->r, "damaged"));
	if (json_is_true(json_object_get(program, "filter")))
		fputs("<p class=note>The process installed a seccomp filter: after that the library made no "
		      "system call, and new threads have no names.</p>\n", p->out);
	if (unsaid)
		html_print(p->out, "<p class=note>Not written to standard error: %llu line%s, the last: "
			   "%s</p>\n", (unsigned long long)count_of(unsaid, "lines"),
			   plural(count_of(unsaid, "lines")), text_of(unsaid, "last"));
}

static void part(struct page *p, size_t nr_parts)
{
	const json_t *program = json_object_get(p->r, "program");
	const json_t *argv = json_object_get(program, "argv"), *arg;
	uint64_t processes = count_of(program, "processes");
	size_t i;

	html_print(p->out, "<article id=p%u aria-labelledby=p%u-name>\n<header>\n", p->part,
		   p->part);
	if (processes > 1)
		html_print(p->out, "<p class=eyebrow>all %llu processes of %s</p>\n",
			   (unsigned long long)processes,
			   json_object_get(program, "sources") ? "the joined runs" : "the run");
	else if (nr_parts > 1)
		html_print(p->out, "<p class=eyebrow>process %llu</p>\n",
			   (unsigned long long)count_of(program, "pid"));
	html_print(p->out, "<h2 id=p%u-name>%s</h2>\n<p class=argv><code>", p->part,
		   program_name(p->r));
	json_array_foreach(argv, i, arg)
		html_print(p->out, "%s%s", i ? " " : "", json_string_value(arg));
	fputs("</code>", p->out);
	if (json_is_true(json_object_get(program, "args_left_out")))
		fputs(" (arguments left out)", p->out);
	fputs("</p>\n", p->out);
	notes(p, program);
	summary(p);
	html_print(p->out, "<nav aria-label=\"Sections of %s\"><ul>\n", program_name(p->r));
	for (i = 0; i < ARRAY_SIZE(sections); i++)
		if (sections[i].count(p))
			html_print(p->out, "<li><a href=\"#p%u-%s\">%s</a></li>\n", p->part,
				   sections[i].id, sections[i].title);
	fputs("</ul></nav>\n</header>\n", p->out);
	for (i = 0; i < ARRAY_SIZE(sections); i++) {
		if (!sections[i].count(p))
			continue;
		html_print(p->out, "<section id=p%u-%s class=s-%s>\n<h3>%s</h3>\n", p->part,
			   sections[i].id, sections[i].id, sections[i].title);
		sections[i].print(p);
		fputs("</section>\n", p->out);
	}
	fputs("</article>\n", p->out);
}

/* Symbols for repeated drawings: the 64 bytes of a cache line, and a touched byte. */
static void symbols(FILE *out)
{
	fputs("<svg class=defs width=0 height=0 aria-hidden=true><symbol id=line>", out);
	for (int i = 0; i < 64; i++)
		html_print(out, "<rect class=empty x=\"%.4f%%\" width=\"1.25%%\" height=16 />",
			   i * 100 / 64.0);
	fputs("</symbol><symbol id=byte><rect width=\"1.25%\" height=16 /></symbol></svg>\n", out);
}

void html_page(const json_t *parts, FILE *out)
{
	size_t i, nr = json_array_size(parts);
	const json_t *r;

	html_print(out,
		   "<!DOCTYPE html>\n<html lang=en>\n<head>\n<meta charset=utf-8>\n" HTML_MARK "\n"
		   "<meta http-equiv=Content-Security-Policy content=\"default-src 'none'; "
		   "style-src '%s'; script-src '%s'; base-uri 'none'; form-action 'none'\">\n"
		   "<meta name=viewport content=\"width=device-width, initial-scale=1\">\n"
		   "<meta name=referrer content=no-referrer>\n<title>elide report: %s",
		   page_css_hash, page_js_hash, nr ? program_name(json_array_get(parts, 0)) : "");
	if (nr > 1)
		html_print(out, " and %zu more", nr - 1);
	fprintf(out, "</title>\n<style>%s</style>\n</head>\n<body>\n", page_css);
	fputs("<a class=skip href=\"#main\">Skip to the report</a>\n<div class=top><h1>elide report"
	      "</h1>\n<button type=button id=theme aria-pressed=false hidden>Dark</button></div>\n"
	      "<main id=main tabindex=-1>\n", out);
	symbols(out);
	if (nr > 1) {
		fputs("<nav class=parts aria-label=Processes><ul>\n", out);
		json_array_foreach(parts, i, r) {
			const json_t *program = json_object_get(r, "program");
			uint64_t processes = count_of(program, "processes");

			html_print(out, "<li><a href=\"#p%zu\">", i + 1);
			if (processes > 1)
				html_print(out, "all %llu processes</a></li>\n",
					   (unsigned long long)processes);
			else
				html_print(out, "%s %llu</a></li>\n", program_name(r),
					   (unsigned long long)count_of(program, "pid"));
		}
		fputs("</ul></nav>\n", out);
	}
	json_array_foreach(parts, i, r)
		part(&(struct page){.out = out, .part = i + 1, .r = r}, nr);
	fprintf(out, "</main>\n<p id=said class=hidden role=status></p>\n"
		"<script>%s</script>\n</body>\n</html>\n", page_js);
}
