// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * top-view.c - a frame as text: the report's columns, per second.
 *
 * Must never print a control character of the data file.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../../lib/compiler.h"
#include "../base/colour.h"
#include "../base/exit.h"
#include "../base/text.h"
#include "../model/attribute.h"
#include "../model/columns.h"
#include "../model/compare.h"
#include "../names/names.h"
#include "top-view.h"

/* Names are never narrower than this; columns are left out instead. */
#define NAME_MIN 16

/* Columns of the report, and last the acquisitions since the start, shown beside rates. */
static const struct view_column {
	const char *id;
	const char *head;
	enum unit unit;
	enum column_view view;
	int drop;
} columns[] = {
#define ELIDE_COLUMN(id, head, unit, value, view, drop) {#id, head, unit, view, drop},
#include "../model/columns.def"
#undef ELIDE_COLUMN
	{"total", "TOTAL", COUNT, BOTH, 2},
};

#define NR_COLUMNS ARRAY_SIZE(columns)
#define COLUMN_TOTAL (NR_COLUMNS - 1)

/* A value: text, or a number. */
struct datum {
	const char *text;
	double number;
};

#define VALUE_TEXT(v)	 {.text = (v)}
#define VALUE_COUNT(v)	 {.number = (double)(v)}
#define VALUE_PERCENT(v) VALUE_COUNT(v)
#define VALUE_CYCLES(v)	 VALUE_COUNT(v)
#define VALUE_TIME(v)	 VALUE_COUNT(v)
#define VALUE_MEAN(v)	 VALUE_COUNT(v)

/* @r: has the length of the run or interval in which @l was counted */
static struct datum value_of(const struct report *r, const struct line *l, size_t column)
{
	size_t at = 0;

#define ELIDE_COLUMN(id, head, unit, value, view, drop)                                         \
	if (at++ == column)                                                                        \
		return (struct datum)VALUE_##unit(value);
#include "../model/columns.def"
#undef ELIDE_COLUMN
	return (struct datum){.number = (double)l->acquired};
}

/* The columns to sort by are the report's, and cost. */
size_t view_nr_sorts(void)
{
	return NR_COLUMNS;
}

static const char *sort_name(size_t sort)
{
	return sort < COLUMN_TOTAL ? columns[sort].id : "cost";
}

size_t view_sort(const char *key)
{
	for (size_t i = 0; i < NR_COLUMNS; i++)
		if (!strcmp(sort_name(i), key))
			return i;
	return NR_COLUMNS;
}

static const struct line *shown_line(const struct view *v, const struct top_row *row)
{
	return v->totals ? &row->all : &row->new;
}

/* The part of a report on which values depend, for the whole run or for the interval. */
static struct report length_of(const struct frame *f, bool total)
{
	struct report r = f->report;

	if (!total && r.ns)
		r.cycles = (uint64_t)((double)r.cycles / (double)r.ns * 1e9 * f->seconds);
	if (!total)
		r.ns = (uint64_t)(1e9 * f->seconds);
	return r;
}

static int compare_values(const struct report *r, const struct line *a, const struct line *b,
			  size_t sort)
{
	struct datum x = {.number = a->cost}, y = {.number = b->cost};

	if (sort < COLUMN_TOTAL) {
		x = value_of(r, a, sort);
		y = value_of(r, b, sort);
	}
	if (x.text && y.text)
		return strcmp(x.text, y.text);
	/* Unknown values come last. */
	if (isnan(x.number) || isnan(y.number))
		return isnan(x.number) - isnan(y.number);
	return (x.number < y.number) - (x.number > y.number);
}

static bool is_idle(const struct line *l)
{
	return !(l->acquired + l->aborts + l->sum.failed);
}

/* What rows are ordered by. */
struct ordering {
	const struct view *view;
	struct report length;
};

/* Rows that did nothing come last in any order. */
static int compare_rows(const void *x, const void *y, void *arg)
{
	const struct ordering *o = arg;
	const struct view *v = o->view;
	const struct top_row *a = x, *b = y;
	const struct line *l = shown_line(v, a), *m = shown_line(v, b);
	int c = is_idle(l) - is_idle(m);

	if (!c)
		c = compare_values(&o->length, l, m, v->sort);
	if (!c)
		c = compare_values(&o->length, l, m, COLUMN_TOTAL);
	if (!c)
		c = (a->all.acquired < b->all.acquired) - (a->all.acquired > b->all.acquired);
	return c ? c : strcmp(a->key, b->key);
}

static void time_text(const struct report *r, double cycles, char *to, size_t size)
{
	if (r->cycles)
		scale_ns(to, size, cycles * (double)r->ns / (double)r->cycles);
	else
		scale(to, size, cycles, "cy");
}

/* The text of a cell; '-' if its value is unknown, or means nothing without elision. */
static void cell_text(const struct view *v, const struct frame *f, const struct top_row *row,
		      size_t column, char *to)
{
	const struct view_column *c = &columns[column];
	bool total = v->totals || column == COLUMN_TOTAL;
	struct report r = length_of(f, total);
	struct datum value = value_of(&r, total ? &row->all : &row->new, column);
	double per = total || c->unit == PERCENT || c->unit == MEAN ? 1 : f->seconds;

	if (c->unit == TEXT)
		fit(to, value.text, CELL_MAX);
	else if (per <= 0 || isnan(value.number))
		strcpy(to, UNKNOWN_CELL);
	else if (c->unit == PERCENT && !total && is_idle(&row->new))
		strcpy(to, UNKNOWN_CELL);
	else if (c->unit == PERCENT)
		snprintf(to, CELL_MAX, "%.1f", value.number);
	else if (c->unit == TIME || c->unit == MEAN)
		time_text(&f->report, value.number / per, to, CELL_MAX);
	else
		scale(to, CELL_MAX, value.number / per, "");
}

static void head_text(const struct view *v, size_t column, char *to)
{
	const struct view_column *c = &columns[column];
	bool rate = !v->totals && column != COLUMN_TOTAL && c->unit != TEXT && c->unit != PERCENT &&
		    c->unit != MEAN;

	snprintf(to, CELL_MAX, "%s%s%s", c->head, rate ? "/s" : "",
		 column == v->sort && column != COLUMN_TOTAL ? "*" : "");
}

/* The verdict and the longest wait are about the whole run, so they are shown with the totals. */
static bool is_of_view(const struct view *v, const struct frame *f, size_t column)
{
	const char *id = columns[column].id;

	if (!column_shown(columns[column].view, f->report.elides))
		return false;
	if (column == COLUMN_TOTAL)
		return !v->totals;
	return v->totals || (strcmp(id, "verdict") && strcmp(id, "max_wait"));
}

static int table_width(const int *widths)
{
	int width = -1;

	for (size_t i = 0; i < NR_COLUMNS; i++)
		width += widths[i] ? widths[i] + 1 : 0;
	return width;
}

/* Makes names narrower, then leaves out columns except the one sorted by, until the table fits. */
static void fit_columns(const struct view *v, int *widths)
{
	while (table_width(widths) > v->width) {
		size_t wide = 0, drop = NR_COLUMNS;

		for (size_t i = 1; i < NR_COLUMNS; i++) {
			if (columns[i].unit == TEXT && widths[i] > widths[wide])
				wide = i;
			if (widths[i] && columns[i].drop && i != v->sort &&
			    (drop == NR_COLUMNS || columns[i].drop > columns[drop].drop))
				drop = i;
		}
		if (widths[wide] > NAME_MIN)
			widths[wide]--;
		else if (drop < NR_COLUMNS)
			widths[drop] = 0;
		else
			return;
	}
}

/* Puts the total after the acquisitions of the interval. */
static size_t ordered(size_t i)
{
	size_t acquired = view_sort("acquired");

	if (i <= acquired)
		return i;
	return i == acquired + 1 ? COLUMN_TOTAL : i - 1;
}

/* The colour of a cell: names and verdicts of contended rows stand out, idle rows are dim. */
static enum colour cell_colour(const struct view *v, const struct top_row *row, size_t column)
{
	const char *id = columns[column].id;

	if (!row)
		return COLOUR_NONE;
	if (is_idle(shown_line(v, row)))
		return COLOUR_DIM;
	if (strcmp(id, "lock") && strcmp(id, "verdict"))
		return COLOUR_NONE;
	return verdict_colour(row->all.verdict);
}

/* @row: NULL for the line that names the columns */
static void print_line(const struct view *v, const struct top_row *row, const int *widths,
		       char (*cells)[CELL_MAX + 1], FILE *out)
{
	const char *gap = "";
	int blanks = 0;

	for (size_t i = 0; i < NR_COLUMNS; i++) {
		size_t at = ordered(i);
		enum colour colour = cell_colour(v, row, at);
		char text[CELL_MAX + 1];
		int len;

		if (!widths[at])
			continue;
		fit(text, cells[at], widths[at]);
		len = strlen(text);
		/* No blanks at the end of a line. */
		fprintf(out, "%*s%s%*s", blanks, "", gap,
			columns[at].unit == TEXT ? 0 : widths[at] - len, "");
		fprintf(out, "%s%s%s", colour_on(colour), text, colour_off(colour));
		blanks = columns[at].unit == TEXT ? widths[at] - len : 0;
		gap = " ";
	}
	fputc('\n', out);
}

/* Fits the names in a column to its width, still different ones; to be freed. */
static char (*fit_column(const struct frame *f, size_t column, int width))[CELL_MAX + 1]
{
	const char **texts = reallocarray(NULL, f->nr + 1, sizeof(*texts));
	char(*fitted)[CELL_MAX + 1] = reallocarray(NULL, f->nr + 1, sizeof(*fitted));

	for (size_t i = 0; texts && i < f->nr; i++)
		texts[i] = value_of(&f->report, &f->rows[i].all, column).text;
	if (texts && fitted)
		fit_apart(fitted, texts, f->nr, width < CELL_MAX ? width : CELL_MAX);
	free(texts);
	return fitted;
}

static void print_rows(const struct view *v, const struct frame *f, FILE *out)
{
	char(*names[NR_COLUMNS])[CELL_MAX + 1] = {NULL};
	size_t end = v->rows && v->skip + v->rows < f->nr ? v->skip + v->rows : f->nr;
	char cells[NR_COLUMNS][CELL_MAX + 1];
	int widths[NR_COLUMNS] = {0};

	for (size_t c = 0; c < NR_COLUMNS; c++) {
		bool known = false;

		if (!is_of_view(v, f, c))
			continue;
		head_text(v, c, cells[c]);
		widths[c] = strlen(cells[c]);
		/* All rows, so that columns do not jump while scrolling. */
		for (size_t i = 0; i < f->nr; i++) {
			char text[CELL_MAX + 1];
			int len;

			cell_text(v, f, &f->rows[i], c, text);
			len = strlen(text);
			widths[c] = len > widths[c] ? len : widths[c];
			known |= strcmp(text, UNKNOWN_CELL) != 0;
		}
		/* A column that is unknown in all rows. */
		if (!known && f->nr && columns[c].view == PROFILE)
			widths[c] = 0;
	}
	fit_columns(v, widths);
	print_line(v, NULL, widths, cells, out);
	for (size_t c = 0; c < NR_COLUMNS; c++)
		if (widths[c] && columns[c].unit == TEXT)
			names[c] = fit_column(f, c, widths[c]);
	for (size_t i = v->skip; i < end; i++) {
		for (size_t c = 0; c < NR_COLUMNS; c++)
			if (names[c])
				strcpy(cells[c], names[c][i]);
			else
				cell_text(v, f, &f->rows[i], c, cells[c]);
		print_line(v, &f->rows[i], widths, cells, out);
	}
	for (size_t c = 0; c < NR_COLUMNS; c++)
		free(names[c]);
}

static void print_program(const struct frame *f, FILE *out)
{
	const struct elide_header *h = &f->file.header;
	char time[32], ended[EXIT_WORDS];

	print_clean(out, program_title(h));
	fprintf(out, " (pid %u): ", h->pid);
	exit_words(h->exit_status, ended);
	fputs(!f->ended ? "runs" : *ended ? ended : "has ended", out);
	if (f->report.cycles) {
		scale_ns(time, sizeof(time), f->report.ns);
		fprintf(out, "%s %s", f->ended ? " after" : " for", time);
	}
	fprintf(out, ", mode %s, RTM %s", mode_name(h->mode), rtm_name(h->rtm));
	fprintf(out, "%s%s", h->control == ELIDE_CONTROL_OFF ? ", off by elide ctl" : "",
		h->rtm_off ? ", elision switched off" : "");
	fprintf(out, ", %u core%s%s", h->cores, h->cores == 1 ? "" : "s",
		h->model[0] ? " of " : "");
	print_clean(out, h->model);
	fprintf(out, ", %u thread%s\n", h->nr_threads, h->nr_threads == 1 ? "" : "s");
}

static void print_totals(const struct view *v, const struct frame *f, FILE *out)
{
	const struct line *t = shown_line(v, &f->total);
	const char *rate = v->totals ? "" : "/s";
	double per = v->totals ? 1 : f->seconds;
	char text[4][32];

	if (per <= 0) {
		fputs("no rates yet: the run did not say how long it took\n", out);
		return;
	}
	scale(text[0], sizeof(text[0]), (double)t->acquired / per, rate);
	scale(text[1], sizeof(text[1]), (double)t->aborts / per, rate);
	scale(text[2], sizeof(text[2]), (double)t->sum.wasted_cycles / per, rate);
	time_text(&f->report, (double)t->sum.wait.total / per, text[3], sizeof(text[3]));
	fprintf(out, "%s acquired, waiting for locks %s%s", text[0], text[3], rate);
	if (f->report.elides)
		fprintf(out, ", %.1f%% elided, %s aborts, %s cycles wasted",
			percent(t->elided, t->acquired), text[1], text[2]);
	if (f->report.total.sum.parked)
		fprintf(out, ", %llu threads parked now", (unsigned long long)f->parked);
	fputc('\n', out);
}

static void print_view(const struct view *v, const struct frame *f, FILE *out)
{
	static const char *const by[] = {
		[BY_LOCK_AND_SITE] = "lock and site", [BY_LOCK] = "lock", [BY_SITE] = "site"};
	char time[32];

	scale_ns(time, sizeof(time), 1e9 * f->seconds);
	if (v->totals)
		fputs("since the start", out);
	else if (f->seconds > 0)
		fprintf(out, "per second of the last %s", time);
	else
		fputs("per second", out);
	fprintf(out, ", by %s, sorted by %s%s\n\n", by[v->by], sort_name(v->sort),
		v->frozen ? " [FROZEN]" : "");
}

static void print_time(const struct view *v, const struct frame *f, FILE *out)
{
	const struct thread_time *t = v->totals ? &f->time : &f->time_new;
	char sentence[512], unseen[UNSEEN_SENTENCE];

	if (!t->known)
		return;
	thread_time_sentence(t, sentence, sizeof(sentence));
	fprintf(out, "%s\n", sentence);
	thread_time_unseen(t, unseen);
	if (*unseen)
		fprintf(out, "%s\n", unseen);
}

void top_print(const struct view *v, struct frame *f, FILE *out)
{
	struct ordering o = {v, length_of(f, v->totals)};

	qsort_r(f->rows, f->nr, sizeof(*f->rows), compare_rows, &o);
	print_program(f, out);
	print_time(v, f, out);
	print_totals(v, f, out);
	print_view(v, f, out);
	print_rows(v, f, out);
}
