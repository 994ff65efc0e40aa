// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * html-rows.c - everything about each row of the table: findings,
 * exact numbers, who aborted its transactions, details and stacks of aborts.
 *
 * Must never leave out a row: the table's links lead here.
 */
#include <string.h>

#include "../../../lib/compiler.h"
#include "../../model/attribute.h"
#include "html.h"

static void frames(struct page *p, const json_t *list)
{
	const json_t *f;
	size_t i;

	fputs("<ol>\n", p->out);
	json_array_foreach(list, i, f) {
		fputs("<li>", p->out);
		html_place(p->out, f);
		fputs("</li>\n", p->out);
	}
	fputs("</ol>\n</details>\n", p->out);
}

/* Print a stack, if it has frames. */
static void stack(struct page *p, const char *title, const json_t *list)
{
	if (!json_array_size(list))
		return;
	html_print(p->out, "<details class=stack><summary>%s</summary>\n", title);
	frames(p, list);
}

static void amount(struct page *p, const json_t *o)
{
	static const char *const keys[] = {"count", "samples", "cycles"};

	for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
		fputs("<td class=num>", p->out);
		html_count(p->out, json_object_get(o, keys[i]));
		fputs("</td>", p->out);
	}
}

#define AMOUNT_HEAD "<th scope=col class=num>Count</th><th scope=col class=num>Samples</th>" \
		    "<th scope=col class=num>Cycles</th>"

static void blame(struct page *p, const json_t *row)
{
	const json_t *b;
	size_t i;

	if (!list_size(row, "blame"))
		return;
	fputs("<h4>Killed or kept waiting by</h4>\n<div class=scroll tabindex=0 role=region "
	      "aria-label=\"Killed or kept waiting by\">\n<table>\n<thead><tr>"
	      "<th scope=col>What</th><th scope=col>Section that held the lock, or call that ended the wait</th>" AMOUNT_HEAD
	      "</tr></thead>\n<tbody>\n", p->out);
	json_array_foreach(json_object_get(row, "blame"), i, b) {
		html_print(p->out, "<tr><td class=word>%s</td><td>", text_of(b, "type"));
		if (json_is_object(json_object_get(b, "held")))
			html_lock(p, json_object_get(b, "held"));
		else
			fputs("not known", p->out);
		fputs("</td>", p->out);
		amount(p, b);
		fputs("</tr>\n", p->out);
	}
	fputs("</tbody>\n</table>\n</div>\n", p->out);
}

static void footprint(struct page *p, const json_t *f)
{
	if (!json_is_object(f) || !(count_of(f, "read_lines") + count_of(f, "write_lines")))
		return;
	html_print(p->out, "<p>Cache lines read: %llu, at most %llu; written: %llu, at most %llu",
		   (unsigned long long)count_of(f, "read_lines"),
		   (unsigned long long)count_of(f, "max_read_lines"),
		   (unsigned long long)count_of(f, "write_lines"),
		   (unsigned long long)count_of(f, "max_write_lines"));
	if (count_of(f, "cache_ways"))
		html_print(p->out, "; set %llu of the first-level cache overflowed, %llu of its "
			   "lines were needed",
			   (unsigned long long)count_of(f, "cache_set"),
			   (unsigned long long)count_of(f, "cache_ways"));
	fputs(".</p>\n", p->out);
}

static void other_side(struct page *p, const json_t *d)
{
	const json_t *other = json_object_get(d, "other");
	const json_t *section = json_object_get(d, "other_section");
	const json_t *data = json_object_get(d, "data");

	if (json_is_object(data))
		html_print(p->out, "<p>Data: <code>%s</code> <span class=at>%s, sharing: %s</span>"
			   "</p>\n", text_of(data, "name"), text_of(data, "type"),
			   text_of(data, "sharing"));
	if (!json_is_object(other) && !json_is_object(section))
		return;
	fputs("<p>The other side: ", p->out);
	if (json_is_object(other)) {
		fputs(json_is_true(json_object_get(d, "other_write")) ? "written at " : "read at ",
		      p->out);
		html_place(p->out, other);
	}
	if (json_is_object(section)) {
		fputs(json_is_object(other) ? ", in the section of " : "the section of ", p->out);
		html_lock(p, section);
	}
	fputs("</p>\n", p->out);
}

static void fault_of(struct page *p, const json_t *fault)
{
	const char *type = text_of(fault, "address_type");
	const char *signal = text_of(fault, "signal");

	if (signal)
		html_print(p->out, "<p>Fault that raises %s", signal);
	else
		fputs("<p>Page touched first", p->out);
	if (type)
		html_print(p->out, ", %s memory", type);
	fputs("</p>\n", p->out);
}

static void detail(struct page *p, const json_t *d)
{
	const json_t *call = json_object_get(d, "syscall"), *fault = json_object_get(d, "fault");

	html_print(p->out, "<li>\n<p><b class=cause>%s</b> at ", text_of(d, "cause"));
	html_place(p->out, json_object_get(d, "own"));
	fputs(": ", p->out);
	/* A hint belongs to no abort. */
	if (strcmp(text_of(d, "source"), "hint")) {
		html_count(p->out, json_object_get(d, "count"));
		fputs(" aborts, ", p->out);
		html_count(p->out, json_object_get(d, "cycles"));
		fputs(" cycles; samples: ", p->out);
	} else {
		fputs("HITM loads: ", p->out);
	}
	html_count(p->out, json_object_get(d, "samples"));
	html_print(p->out, " <span class=at>evidence: %s</span></p>\n",
		   text_of(d, "source"));
	if (json_is_object(call))
		html_print(p->out, "<p>System call: <code>%s</code></p>\n", text_of(call, "name"));
	if (json_is_object(fault))
		fault_of(p, fault);
	other_side(p, d);
	footprint(p, json_object_get(d, "footprint"));
	stack(p, "Stack of the section", json_object_get(d, "own_stack"));
	stack(p, "Stack of the abort", json_object_get(d, "abort_stack"));
	stack(p, "Stack of the other side", json_object_get(d, "other_stack"));
	stack(p, "Where the block was allocated", json_object_get(d, "alloc_stack"));
	fputs("</li>\n", p->out);
}

static void details(struct page *p, const json_t *row)
{
	const json_t *d;
	size_t i;

	if (!list_size(row, "details"))
		return;
	fputs("<h4>Sampled aborts</h4>\n<ul class=details>\n", p->out);
	json_array_foreach(json_object_get(row, "details"), i, d)
		detail(p, d);
	fputs("</ul>\n", p->out);
}

static void stacks(struct page *p, const json_t *row)
{
	const json_t *s;
	size_t i;

	if (!list_size(row, "stacks"))
		return;
	fputs("<h4>Stacks</h4>\n<ul class=details>\n", p->out);
	json_array_foreach(json_object_get(row, "stacks"), i, s) {
		html_print(p->out, "<li>\n<details class=stack><summary><b class=cause>%s</b> ",
			   text_of(s, "type"));
		html_count(p->out, json_object_get(s, "count"));
		fputs(" times, ", p->out);
		html_count(p->out, json_object_get(s, "cycles"));
		fputs(" cycles; samples: ", p->out);
		html_count(p->out, json_object_get(s, "samples"));
		fputs("</summary>\n", p->out);
		frames(p, json_object_get(s, "frames"));
		fputs("</li>\n", p->out);
	}
	fputs("</ul>\n", p->out);
}

static void times(struct page *p, const char *name, const json_t *t)
{
	if (!count_of(t, "count"))
		return;
	html_print(p->out, "<div><dt>%s</dt><dd>", name);
	html_ns(p->out, json_object_get(t, "mean"));
	fputs(" on average, ", p->out);
	if (json_is_integer(json_object_get(t, "p50"))) {
		html_ns(p->out, json_object_get(t, "p50"));
		fputs(" for half and ", p->out);
		html_ns(p->out, json_object_get(t, "p99"));
		fputs(" for 99% of them or less, ", p->out);
	}
	html_ns(p->out, json_object_get(t, "max"));
	fputs(" at most</dd></div>\n", p->out);
}

/* A number that is not null, and what it counts. */
static void number(struct page *p, const char *id, const char *help, const json_t *n)
{
	if (!json_is_integer(n))
		return;
	html_print(p->out, "<div><dt>%s</dt><dd>", id);
	html_count(p->out, n);
	html_print(p->out, " <span class=at>%s</span></dd></div>\n", help);
}

static void numbers(struct page *p, const json_t *row)
{
	const json_t *causes = json_object_get(row, "causes");

	fputs("<dl class=facts>\n", p->out);
	/* Other places may have the short name. */
	if (text_of(row, "lock"))
		html_print(p->out, "<div><dt>lock</dt><dd><code>%s</code></dd></div>\n",
			   text_of(row, "lock"));
	number(p, "locks", "locks of this class", json_object_get(row, "locks"));
#define ELIDE_FIELD(id, value, known, help) number(p, #id, help, json_object_get(row, #id));
#include "../../model/columns.def"
#undef ELIDE_FIELD
	times(p, "wait", json_object_get(row, "wait_ns"));
	times(p, "hold", json_object_get(row, "hold_ns"));
	fputs("</dl>\n", p->out);
	if (!count_of(row, "aborts"))
		return;
	fputs("<h4>Causes of its aborts</h4>\n<dl class=facts>\n", p->out);
	for (int i = 0; i < ELIDE_NR_CAUSES; i++)
		if (count_of(causes, cause_texts[i].id))
			number(p, cause_texts[i].id, cause_texts[i].help,
			       json_object_get(causes, cause_texts[i].id));
	fputs("</dl>\n", p->out);
}

void html_rows(struct page *p)
{
	const json_t *row;
	size_t i;

	json_array_foreach(json_object_get(p->r, "rows"), i, row) {
		html_print(p->out, "<details class=row id=p%u-r%zu>\n<summary>", p->part, i + 1);
		html_lock(p, row);
		html_print(p->out, " <span class=word data-word=\"%s\">%s</span></summary>\n"
			   "<div class=body>\n", text_of(row, "verdict"), text_of(row, "verdict"));
		if (list_size(row, "findings"))
			html_findings(p, row);
		blame(p, row);
		details(p, row);
		stacks(p, row);
		fputs("<h4>Exact numbers</h4>\n", p->out);
		numbers(p, row);
		fputs("</div>\n</details>\n", p->out);
	}
}
