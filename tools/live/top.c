// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * top.c - frames: what a running process did since the one before.
 *
 * The process writes its file while it is read, so a row may be a little
 * ahead of another. Must never show a negative difference.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../lib/compiler.h"
#include "../base/clock.h"
#include "../model/attribute.h"
#include "live.h"
#include "top.h"

static char *key_of(const struct line *l)
{
	char *key;

	if (asprintf(&key, "%u\n%s\n%s\n%s\n%llx", l->kind, l->class,
		     l->nr_classes > 1 ? "" : l->lock, l->nr_sites > 1 ? "" : l->site,
		     l->nr_sites > 1 ? 0 : (unsigned long long)l->site_place.offset) < 0)
		return NULL;
	return key;
}

static int by_key(const void *x, const void *y)
{
	const struct top_row *a = x, *b = y;

	return strcmp(a->key, b->key);
}

/* Numbers and short names; the rest belongs to the report. */
static void copy_line(struct line *to, const struct line *from)
{
	*to = *from;
	to->lock = to->site = to->class = NULL;
	to->blocker = NULL;
	memset(&to->lock_place, 0, sizeof(to->lock_place));
	memset(&to->site_place, 0, sizeof(to->site_place));
}

static int copy_rows(struct frame *f, const struct report *r)
{
	f->rows = calloc(r->nr_lines + 1, sizeof(*f->rows));
	if (!f->rows)
		return -ENOMEM;
	for (size_t i = 0; i < r->nr_lines; i++) {
		struct top_row *row = &f->rows[f->nr];

		row->key = key_of(&r->lines[i]);
		if (!row->key)
			return -ENOMEM;
		copy_line(&row->all, &r->lines[i]);
		f->nr++;
	}
	copy_line(&f->total.all, &r->total);
	qsort(f->rows, f->nr, sizeof(*f->rows), by_key);
	return 0;
}

static uint64_t less(uint64_t a, uint64_t b)
{
	return a > b ? a - b : 0;
}

int frame_read(struct frame *f, const char *path, long pid, enum report_by by, char *error)
{
	struct data_file file;
	struct report r;
	int rc;

	memset(f, 0, sizeof(*f));
	rc = load(path, &file, error);
	if (rc)
		return rc;
	f->read_ns = now_ns();
	f->ended = !live_runs(&file.header, pid);
	if (!f->ended)
		live_set_end(&file.header);
	rc = load_base(&file);
	if (faults_any(&file.notes))
		faults_text(&file.notes, f->faults);
	if (!rc)
		rc = report_build(&r, &file, by, "cost");
	if (!rc) {
		f->file.header = file.header;
		f->report = (struct report){.elides = r.elides, .ns = r.ns,
					    .cycles = r.cycles};
		f->report.total.sum.failed = r.total.sum.failed;
		f->report.total.sum.parked = r.total.sum.parked;
		f->parked = less(r.total.sum.parked, r.total.sum.unparked);
		thread_time(&r, &f->time);
		rc = copy_rows(f, &r);
		report_free(&r);
	}
	load_free(&file);
	if (rc) {
		snprintf(error, LOAD_ERROR_MAX, "%s: %s", path, strerror(-rc));
		frame_free(f);
	}
	return rc;
}

static void subtract_times(struct elide_times *t, const struct elide_times *before)
{
	t->count = less(t->count, before->count);
	t->total = less(t->total, before->total);
}

/* Subtracts the numbers of columns.def, of report @r. */
static void subtract(const struct report *r, struct line *l, const struct line *before)
{
	l->sum.not_attempted = less(l->sum.not_attempted, before->sum.not_attempted);
	l->sum.fallback = less(l->sum.fallback, before->sum.fallback);
	l->sum.commits = less(l->sum.commits, before->sum.commits);
	l->sum.nested = less(l->sum.nested, before->sum.nested);
	l->sum.failed = less(l->sum.failed, before->sum.failed);
	l->sum.parked = less(l->sum.parked, before->sum.parked);
	l->sum.contended = less(l->sum.contended, before->sum.contended);
	l->sum.wasted_cycles = less(l->sum.wasted_cycles, before->sum.wasted_cycles);
	subtract_times(&l->sum.wait, &before->sum.wait);
	for (int i = 0; i < ELIDE_NR_BINS; i++)
		l->sum.wait_bins[i] = less(l->sum.wait_bins[i], before->sum.wait_bins[i]);
	l->sum.hold.count = less(l->sum.hold.count, before->sum.hold.count);
	l->held = l->held > before->held ? l->held - before->held : 0;
	for (int i = 0; i < ELIDE_MAX_CAUSES; i++)
		l->sum.causes[i] = less(l->sum.causes[i], before->sum.causes[i]);
	for (int i = 0; i < NR_CAUSE_COLUMNS; i++)
		l->by_column[i] = less(l->by_column[i], before->by_column[i]);
	l->acquired = less(l->acquired, before->acquired);
	l->elided = less(l->elided, before->elided);
	l->attempts = less(l->attempts, before->attempts);
	l->aborts = less(l->aborts, before->aborts);
	l->cost = line_cost(r, l);
}

/*
 * Seconds between two frames, by the clock of the file if that has advanced: it is exact, and virtual on an
 * emulated machine. There it does not advance while the process runs; then the clock of this process counts.
 */
static double seconds_between(const struct frame *f, const struct frame *before)
{
	const struct elide_header *h = &f->file.header;
	uint64_t then = before->file.header.end_ns;

	if (then && h->end_ns > then)
		return (double)(h->end_ns - then) / 1e9;
	return (double)(f->read_ns - before->read_ns) / 1e9;
}

void frame_since(struct frame *f, const struct frame *before)
{
	f->total.new = f->total.all;
	f->total.new.cost = line_cost(&f->report, &f->total.new);
	f->seconds = before ? seconds_between(f, before) : (double)f->report.ns / 1e9;
	f->time_new = f->time;
	if (before)
		thread_time_since(&f->time_new, &before->time);
	if (before)
		subtract(&f->report, &f->total.new, &before->total.all);
	if (before)
		/* Its rows are in the view's order. */
		qsort(before->rows, before->nr, sizeof(*before->rows), by_key);
	for (size_t i = 0; i < f->nr; i++) {
		struct top_row *row = &f->rows[i], *past = NULL;

		row->new = row->all;
		if (before)
			past = bsearch(row, before->rows, before->nr, sizeof(*row), by_key);
		if (past)
			subtract(&f->report, &row->new, &past->all);
	}
}

void frame_free(struct frame *f)
{
	for (size_t i = 0; i < f->nr; i++)
		free(f->rows[i].key);
	free(f->rows);
	memset(f, 0, sizeof(*f));
}
