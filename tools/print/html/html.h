/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * html.h - the report as one page that needs nothing else.
 *
 * The page is made of the object that report --json prints, so both say the
 * same: html.c (page, findings, table), html-rows.c (details of a row),
 * html-waits.c (waits by lock, threads, waits over time), html-blocks.c, html-flame.c, html-draw.c
 * (bars, cache lines), html-time.c (decisions), html-text.c (text and numbers). Names in a data file
 * may be hostile: only %s of html_print() may write them.
 */
#ifndef ELIDE_HTML_H
#define ELIDE_HTML_H

#include <stdint.h>
#include <stdio.h>

#include "../../base/json.h"

/* Made by assets.sh of report.css and report.js. */
extern const char page_css[], page_css_hash[];
extern const char page_js[], page_js_hash[];

/**
 * struct page - the page that is being written.
 * @part: number of the data file, from 1; all its ids begin with it
 * @r:    the object of this file
 */
struct page {
	FILE *out;
	unsigned int part;
	const json_t *r;
};

/* html-text.c */

/**
 * html_print() - printf() whose %s is escaped.
 *
 * It knows %s, %%, %u, %d, %zu, %llu and %.Nf. The format itself is written as it is.
 */
void html_print(FILE *out, const char *format, ...) __attribute__((format(printf, 2, 3)));

/** html_count() - a whole number, grouped by three; "-" if it is null. */
void html_count(FILE *out, const json_t *number);

/** html_ns() - a time with its unit; "-" if it is null. */
void html_ns(FILE *out, const json_t *ns);

/** html_place() - print "function file:line", or the known part of it. */
void html_place(FILE *out, const json_t *place);

/** html_symbol() - print a name, shortened if it is long; its tooltip has the whole name. */
void html_symbol(FILE *out, const char *symbol);

/** html_seconds() - a time in seconds with the unit that fits it. */
void html_seconds(FILE *out, double s);

/**
 * html_lock_name() - the lock of an object that has a class, or else that lock, as the table spells it; its
 * tooltip has the whole name.
 */
void html_lock_name(struct page *p, const json_t *o, const char *lock);

/** html_lock() - lock and kind of an object that has these, and its site. */
void html_lock(struct page *p, const json_t *o);

/** html_kind() - the word of a table for a kind in JSON. */
const char *html_kind(const json_t *o);

/** text_of() - a member that is a string; NULL if it is none. */
const char *text_of(const json_t *o, const char *key);

/** count_of() - a member that is a number; 0 if it is none. */
uint64_t count_of(const json_t *o, const char *key);

/** list_size() - entries of a member that is an array; 0 if it is none. */
size_t list_size(const json_t *o, const char *key);

/* html-rows.c */

/** html_rows() - the details of each row of the table. */
void html_rows(struct page *p);

/* html-draw.c */

/** html_bars() - aborts of each row by cause. html_nr_bars(): how many rows have any. */
size_t html_nr_bars(const struct page *p);
void html_bars(struct page *p);

/** html_lines() - the cache lines of conflicts, by aborts; html_nr_lines(): their number. */
size_t html_nr_lines(const struct page *p);
void html_lines(struct page *p);

/* html-waits.c */

/** html_waits() - how long threads waited for each lock; html_nr_waits(): number of these locks. */
size_t html_nr_waits(const struct page *p);
void html_waits(struct page *p);

/** html_others() - how long they waited for others; html_nr_others(): number of what they waited at. */
size_t html_nr_others(const struct page *p);
void html_others(struct page *p);

/** html_threads() - what each thread waited and held; html_nr_threads(): their number. */
size_t html_nr_threads(const struct page *p);
void html_threads(struct page *p);

/** html_activity() - waits and holds over the time of the run; html_nr_lanes(): number of their locks. */
size_t html_nr_lanes(const struct page *p);
void html_activity(struct page *p);

/* html-flame.c */

/** html_flame() - a flame graph of the stacks that waited; html_has_flame(): 1 if there are any. */
size_t html_has_flame(const struct page *p);
void html_flame(struct page *p);

/* html-blocks.c */

/**
 * html_blocks() - the calls that waited, and those that held the locks; html_has_blocks(): 1 if any are
 * known.
 */
size_t html_has_blocks(const struct page *p);
void html_blocks(struct page *p);

/** html_has_chain() - do groups of threads wait for each other? */
size_t html_has_chain(const struct page *p);

/** html_chain() - which threads wait for which. */
void html_chain(struct page *p);

/* html-time.c */

/** html_axis() - a line of a table of two columns with the times of the run below the second. */
void html_axis(struct page *p, double length_s);

/** html_timeline() - the policy's decisions over the time of the run; html_nr_events(): their number. */
size_t html_nr_events(const struct page *p);
void html_timeline(struct page *p);

/* html.c */

struct report;

/** html_findings() - the problems of a row, what to do, and the setting to paste. */
void html_findings(struct page *p, const json_t *row);

/**
 * html_tree() - the object of a file for html_page(): that of json_report(), with the
 * columns of the table and the cache lines. NULL without memory.
 */
json_t *html_tree(const struct report *r, size_t top);

/* A mark within the first bytes of a page, by which it is recognised. */
#define HTML_MARK        "<meta name=generator content=\"elide report\">"
#define HTML_MARK_WITHIN 1024

/**
 * html_page() - write the page.
 * @parts: array of html_tree(); one part of the page each
 */
void html_page(const json_t *parts, FILE *out);

#endif
