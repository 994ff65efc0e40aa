// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * html-waits.c - the pictures of waits: by lock, by thread, and over the time of the run.
 *
 * They are SVG in per cent of their width, so they fit any window. Must never be the only place of
 * an information: the text beside them has it, too.
 */
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "../../../lib/compiler.h"
#include "../../base/text.h"
#include "html.h"

/* Locks with a bar, and threads to list, at most. */
#define WAITS_MAX 12
#define THREADS_MAX 100

/* Heights of the two curves of a lock over time. */
#define WAITING_HEIGHT 32
#define HELD_HEIGHT 12

static uint64_t waited(const json_t *row)
{
	return count_of(json_object_get(row, "wait_ns"), "total");
}

/* The rows of a lock class. */
struct lock {
	const char *class;
	const json_t *worst;
	size_t number;
	uint64_t wait;
	uint64_t contended;
};

static int compare_locks(const void *x, const void *y)
{
	const struct lock *a = x, *b = y;

	return (b->wait > a->wait) - (b->wait < a->wait);
}

/*
 * The *@nr locks that threads waited for, or what else they waited at, the longest waits first. To be freed.
 * @what: the rows' "waits_for"
 */
static struct lock *locks_of(const struct page *p, const char *what, size_t *nr)
{
	const json_t *rows = json_object_get(p->r, "rows"), *row;
	struct lock *locks = calloc(json_array_size(rows) + 1, sizeof(*locks));
	size_t i;

	*nr = 0;
	json_array_foreach(rows, i, row) {
		const char *class = text_of(row, "class");
		struct lock *l = locks;

		if (!locks || !waited(row) || strcmp(text_of(row, "waits_for"), what))
			continue;
		while (l < locks + *nr && (!class || !l->class || strcmp(l->class, class)))
			l++;
		if (l == locks + *nr)
			*(l = &locks[(*nr)++]) = (struct lock){.class = class};
		l->wait += waited(row);
		l->contended += count_of(row, "contended");
		if (l->worst && waited(l->worst) >= waited(row))
			continue;
		l->worst = row;
		l->number = i + 1;
	}
	if (*nr)
		qsort(locks, *nr, sizeof(*locks), compare_locks);
	return locks;
}

size_t html_nr_waits(const struct page *p)
{
	size_t nr;

	free(locks_of(p, "locks", &nr));
	return nr;
}

size_t html_nr_others(const struct page *p)
{
	size_t nr;

	free(locks_of(p, "others", &nr));
	return nr;
}

static void print_ns(FILE *out, double ns)
{
	char text[32];

	scale_ns(text, sizeof(text), ns);
	fputs(text, out);
}

/* The caller of a wrapper that has most of a row's waits; NULL if there is none. */
static const json_t *main_caller(const json_t *row)
{
	const json_t *first = json_array_get(json_object_get(row, "callers"), 0);

	return json_number_value(json_object_get(first, "percent")) >= 50 ? first : NULL;
}

/* Prints a call, and if it is in a wrapper, the caller of that. */
static void wrapped(struct page *p, const json_t *caller, const json_t *site)
{
	if (json_is_object(caller)) {
		html_place(p->out, caller);
		fputs(" through ", p->out);
	}
	html_place(p->out, site);
}

static void wait_bar(struct page *p, const struct lock *l, uint64_t most, uint64_t all)
{
	const json_t *blocker = json_object_get(l->worst, "blocker");

	html_print(p->out, "<li><p class=who><a href=\"#p%u-r%zu\">", p->part, l->number);
	html_lock_name(p, l->worst, text_of(l->worst, "lock"));
	html_print(p->out, "</a> <span class=at>%s</span></p>\n<svg class=bar aria-hidden=true>"
		   "<rect class=waits width=\"%.3f%%\" height=\"100%%\"/></svg>\n<p class=parts>",
		   html_kind(l->worst), percent(l->wait, most));
	print_ns(p->out, (double)l->wait);
	html_print(p->out, ", %.1f%% of all; %llu wait%s, ", percent(l->wait, all),
		   (unsigned long long)l->contended, l->contended == 1 ? "" : "s");
	print_ns(p->out, l->contended ? (double)l->wait / (double)l->contended : 0);
	fputs(" on average; mostly at ", p->out);
	wrapped(p, main_caller(l->worst), json_object_get(l->worst, "site"));
	if (json_is_object(blocker)) {
		fputs(strcmp(text_of(l->worst, "waits_for"), "locks") ? ", until " : ", held by ", p->out);
		wrapped(p, json_object_get(blocker, "caller"), json_object_get(blocker, "site"));
	}
	fputs("</p></li>\n", p->out);
}

static void wait_bars(struct page *p, const char *what, uint64_t all)
{
	size_t nr;
	struct lock *locks = locks_of(p, what, &nr);

	fputs("<ol class=bars>\n", p->out);
	for (size_t i = 0; i < nr && i < WAITS_MAX; i++)
		wait_bar(p, &locks[i], locks[0].wait, all);
	fputs("</ol>\n", p->out);
	if (nr > WAITS_MAX)
		html_print(p->out, "<p class=more>%zu more: see the table.</p>\n", nr - WAITS_MAX);
	free(locks);
}

void html_waits(struct page *p)
{
	wait_bars(p, "locks", waited(json_object_get(p->r, "totals")));
}

void html_others(struct page *p)
{
	wait_bars(p, "others", count_of(json_object_get(p->r, "totals"), "wait_others_ns"));
}

size_t html_nr_threads(const struct page *p)
{
	return list_size(p->r, "threads");
}

/* A cell with a bar, in proportion to the longest one. */
static void time_cell(struct page *p, const json_t *ns, double most, const char *class)
{
	double v = json_number_value(ns);

	html_print(p->out, "<td class=num data-v=\"%.0f\">", v);
	html_ns(p->out, ns);
	html_print(p->out, "</td><td class=share><svg class=bar aria-hidden=true><rect class=%s "
		   "width=\"%.3f%%\" height=\"100%%\"/></svg></td>", class,
		   most > 0 ? 100 * v / most : 0);
}

void html_threads(struct page *p)
{
	const json_t *threads = json_object_get(p->r, "threads"), *t;
	double most = 0;
	size_t i;

	json_array_foreach(threads, i, t) {
		most = fmax(most, json_number_value(json_object_get(t, "wait_ns")));
		most = fmax(most, json_number_value(json_object_get(t, "hold_ns")));
	}
	fputs("<div class=scroll tabindex=0 role=region aria-label=Threads>\n<table>\n<thead><tr>"
	      "<th scope=col>Thread</th><th scope=col class=num>Id</th>"
	      "<th scope=col class=num>Acquired</th><th scope=col class=num>Contended</th>"
	      "<th scope=col class=num>Waiting for locks</th><td></td>"
	      "<th scope=col class=num>Held</th><td></td></tr></thead>\n<tbody>\n", p->out);
	json_array_foreach(threads, i, t) {
		const json_t *tid = json_object_get(t, "tid");

		if (i >= THREADS_MAX)
			break;
		html_print(p->out, "<tr><th scope=row><code>%s</code></th><td class=num>",
			   text_of(t, "name"));
		if (json_is_integer(tid))
			html_print(p->out, "%llu", (unsigned long long)json_integer_value(tid));
		else
			html_print(p->out, "%llu ended", (unsigned long long)count_of(t, "threads"));
		fputs("</td><td class=num>", p->out);
		html_count(p->out, json_object_get(t, "acquired"));
		fputs("</td><td class=num>", p->out);
		html_count(p->out, json_object_get(t, "contended"));
		fputs("</td>", p->out);
		time_cell(p, json_object_get(t, "wait_ns"), most, "waits");
		time_cell(p, json_object_get(t, "hold_ns"), most, "holds");
		fputs("</tr>\n", p->out);
	}
	fputs("</tbody>\n</table>\n</div>\n<p class=note>Threads that ended during the run are one row "
	      "for each name. Held: by samples; where a thread held two locks at once, both count."
	      "</p>\n", p->out);
	if (json_array_size(threads) > THREADS_MAX)
		html_print(p->out, "<p class=more>%zu more: --by thread has all of them.</p>\n",
			   json_array_size(threads) - THREADS_MAX);
}

size_t html_nr_lanes(const struct page *p)
{
	return list_size(json_object_get(p->r, "activity"), "locks");
}

static double most_of(const json_t *steps)
{
	const json_t *v;
	double most = 0;
	size_t i;

	json_array_foreach(steps, i, v)
		most = fmax(most, json_number_value(v));
	return most;
}

/* Draws the steps as an area, one unit wide each, and 100 high. */
static void area(struct page *p, const json_t *steps, const char *class, int height)
{
	size_t i, nr = json_array_size(steps);
	double most = most_of(steps);
	const json_t *v;

	html_print(p->out, "<svg class=area viewBox=\"0 0 %zu 100\" preserveAspectRatio=none height=%d "
		   "aria-hidden=true><path class=%s d=\"M0 100", nr, height, class);
	json_array_foreach(steps, i, v)
		html_print(p->out, "V%.1fH%zu",
			   100 - (most > 0 ? 100 * json_number_value(v) / most : 0), i + 1);
	fputs("V100Z\"/></svg>", p->out);
}

static double mean_of(const json_t *steps)
{
	const json_t *v;
	double sum = 0;
	size_t i;

	json_array_foreach(steps, i, v)
		sum += json_number_value(v);
	return i ? sum / (double)i : 0;
}

void html_activity(struct page *p)
{
	const json_t *activity = json_object_get(p->r, "activity");
	const json_t *locks = json_object_get(activity, "locks"), *l;
	const json_t *elapsed = json_object_get(json_object_get(p->r, "program"), "elapsed_s");
	size_t i;

	fputs("<ul class=legend><li><svg class=key aria-hidden=true><rect class=waits width=\"100%\" "
	      "height=\"100%\"/></svg> threads that waited</li><li><svg class=key aria-hidden=true>"
	      "<rect class=holds width=\"100%\" height=\"100%\"/></svg> held</li></ul>\n"
	      "<table class=lanes aria-label=\"Waits and holds, over the time of the run\">\n<tbody>\n",
	      p->out);
	json_array_foreach(locks, i, l) {
		const json_t *waiting = json_object_get(l, "waiting"), *held = json_object_get(l, "held");

		fputs("<tr><th scope=row>", p->out);
		html_lock_name(p, l, text_of(l, "lock"));
		fputs(" <span class=at>", p->out);
		if (most_of(waiting) > 0) {
			html_print(p->out, "waiting for %s ", text_of(l, "waits_for"));
			html_ns(p->out, json_object_get(l, "wait_ns"));
			html_print(p->out, ", at most about %.1f at once", most_of(waiting));
		}
		if (most_of(held) > 0)
			html_print(p->out, "%sheld for about %.1f%% of the run",
				   most_of(waiting) > 0 ? "; " : "", 100 * mean_of(held));
		fputs("</span></th><td>", p->out);
		if (most_of(waiting) > 0)
			area(p, waiting, "waits", WAITING_HEIGHT);
		if (most_of(held) > 0)
			area(p, held, "holds", HELD_HEIGHT);
		fputs("</td></tr>\n", p->out);
	}
	fputs("</tbody>\n", p->out);
	html_axis(p, json_number_value(elapsed));
	html_print(p->out, "</table>\n<p class=note>By %llu samples, scaled to the exact times waited; "
		   "each curve has a height of its own.</p>\n",
		   (unsigned long long)count_of(activity, "samples"));
}
