// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * diff.c - matches the rows of two reports, and compares their values.
 *
 * Must never match rows by address, which changes from run to run.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../../lib/compiler.h"
#include "../base/text.h"
#include "../names/names.h"
#include "attribute.h"
#include "columns.h"
#include "compare.h"
#include "diff.h"

/* A column of the report. */
static const struct measure {
	const char *id;
	int unit;
	enum column_view view;
} measures[] = {
#define ELIDE_COLUMN(id, head, unit, value, view, drop) {#id, unit, view},
#include "columns.def"
#undef ELIDE_COLUMN
};

/* The columns: the first are measures[@from], the rest causes. */
static struct condition_column columns[ARRAY_SIZE(measures) + ELIDE_NR_CAUSES];
static size_t from[ARRAY_SIZE(measures)];
static size_t nr_measures;

static bool is_cause(const char *id)
{
	for (size_t i = 0; i < ELIDE_NR_CAUSES; i++)
		if (!strcmp(cause_texts[i].id, id))
			return true;
	return false;
}

const struct condition_column *diff_columns(size_t *nr)
{
	static const enum condition_unit units[] = {
		[COUNT] = IN_NUMBERS, [PERCENT] = IN_PERCENT,
		[CYCLES] = IN_CYCLES, [TIME] = IN_TIME,
		[MEAN] = IN_TIME,
	};

	if (!nr_measures) {
		for (size_t i = 0; i < ARRAY_SIZE(measures); i++) {
			const struct measure *m = &measures[i];

			if (m->unit == TEXT || is_cause(m->id))
				continue;
			columns[nr_measures] = (struct condition_column){m->id, units[m->unit]};
			from[nr_measures++] = i;
		}
		for (size_t i = 0; i < ELIDE_NR_CAUSES; i++)
			columns[nr_measures + i].name = cause_texts[i].id;
	}
	*nr = nr_measures + ELIDE_NR_CAUSES;
	return columns;
}

bool diff_is_cause(size_t column)
{
	return column >= nr_measures;
}

/* Value of measures[@i]; times in cycles. */
#define VALUE_TEXT(v)	 0
#define VALUE_COUNT(v)	 (double)(v)
#define VALUE_PERCENT(v) (double)(v)
#define VALUE_CYCLES(v)	 (double)(v)
#define VALUE_TIME(v)	 (double)(v)
#define VALUE_MEAN(v)	 (double)(v)

static double measure_value(const struct report *r, const struct line *l, size_t i)
{
	size_t at = 0;

#define ELIDE_COLUMN(id, head, unit, value, view, drop)                                         \
	if (at++ == i)                                                                             \
		return VALUE_##unit(value);
#include "columns.def"
#undef ELIDE_COLUMN
	return 0;
}

int diff_value(const struct diff *d, const struct diff_row *row, int which, size_t column,
	       double *v)
{
	const struct report *r = d->report[which];
	const struct line *l = row->line[which];
	bool cause = diff_is_cause(column);
	int unit = cause ? COUNT : measures[from[column]].unit;

	if ((cause || measures[from[column]].view == ELISION) && !r->elides)
		return -ENODATA;
	if ((unit == TIME || unit == MEAN || (d->rate && unit != PERCENT)) && !r->cycles)
		return -ENODATA;
	/* In a run without the row, its counts are 0, and it has no percentage and no mean. */
	if (!l && (unit == PERCENT || unit == MEAN))
		return -ENODATA;
	*v = 0;
	if (l)
		*v = cause ? (double)l->sum.causes[column - nr_measures] :
			     measure_value(r, l, from[column]);
	if (isnan(*v))
		return -ENODATA;
	if (unit == TIME || unit == MEAN)
		*v = *v * (double)r->ns / (double)r->cycles;
	if (d->rate && unit != PERCENT && unit != MEAN)
		*v = *v * 1e9 / (double)r->ns;
	return 0;
}

bool diff_shows(const struct diff *d, size_t column)
{
	enum column_view view = diff_is_cause(column) ? ELISION : measures[from[column]].view;

	return column_shown(view, d->report[0]->elides) || column_shown(view, d->report[1]->elides);
}

/* Standard errors by which a value must differ, and that of a count of N events: sqrt(BURST * N). Chosen. */
#define ERRORS 3.0
#define BURST  10.0
/* Parts by which values differ from run to run whatever their error: of acquisitions, of others. Chosen. */
#define PART_ACQUIRED 0.02
#define PART          0.1
/* Times below this part of the run, and points of a share, say nothing. Chosen. */
#define PART_RUN 0.001
#define POINTS   1.0

/* The standard error of a value: of a sum of @nr events or times, or known. */
static double error_of(const struct line *l, size_t i, double v)
{
	uint64_t nr = l->sum.contended;

	if (i == CELL_hold)
		return l->held > 0 ? v * l->held_error / l->held : 0;
	if (i == CELL_acquired)
		nr = l->acquired * (uint64_t)BURST;
	else if (i == CELL_wait)
		nr = l->sum.wait.count;
	else if (i != CELL_contended)
		nr = i == CELL_fallback ? l->sum.fallback : i == CELL_failed ? l->sum.failed : l->aborts;
	return nr ? v * sqrt(BURST / (double)nr) : 0;
}

bool diff_is_beyond_noise(const struct diff *d, const struct diff_row *row)
{
	static const size_t judged[] = {CELL_acquired, CELL_elided, CELL_aborts, CELL_fallback, CELL_wasted,
					CELL_contended, CELL_failed, CELL_wait, CELL_hold};

	for (size_t i = 0; i < ARRAY_SIZE(judged); i++) {
		size_t column = 0, id = judged[i];
		double v[2], error[2] = {0, 0}, noise;

		while (from[column] != id)
			column++;
		if (diff_value(d, row, 0, column, &v[0]) || diff_value(d, row, 1, column, &v[1]))
			continue;
		for (int w = 0; w < 2; w++)
			if (row->line[w] && measures[id].unit != PERCENT)
				error[w] = error_of(row->line[w], id, v[w]);
		noise = ERRORS * hypot(error[0], error[1]) +
			(id == CELL_acquired ? PART_ACQUIRED : PART) * fmax(v[0], v[1]);
		if (measures[id].unit == PERCENT)
			noise = POINTS;
		if (measures[id].unit == TIME)
			noise += PART_RUN * (d->rate ? 1e9 : (double)d->report[1]->ns);
		if (fabs(v[1] - v[0]) > noise)
			return true;
	}
	return false;
}

const struct line *diff_line(const struct diff_row *row)
{
	return row->line[1] ? row->line[1] : row->line[0];
}

const char *diff_status_name(enum diff_status status)
{
	static const char *const names[] = {
		[DIFF_SAME] = "same",
		[DIFF_CHANGED] = "changed",
		[DIFF_NEW] = "new",
		[DIFF_GONE] = "gone",
	};

	return names[status];
}

static bool same_text(const char *a, const char *b)
{
	return a == b || (a && b && !strcmp(a, b));
}

/* Ways to match two rows, the surest first. */
enum match { BY_PLACE, BY_NAME, BY_SYMBOL, NR_MATCHES };

/* One call locks locks of one such class alone, which may have other calls in another run. */
static bool is_by_site(const struct line *l, enum report_by by)
{
	return by == BY_LOCK_AND_SITE && l->class_type == ELIDE_CLASS_FIRST;
}

static bool same_lock(const struct line *a, const struct line *b, enum report_by by, enum match how)
{
	const struct place *p = &a->lock_place, *q = &b->lock_place;

	if (a->class_type != b->class_type)
		return false;
	if (is_by_site(a, by))
		return true;
	if (how == BY_PLACE)
		return same_text(a->class, b->class);
	if (how == BY_NAME)
		return same_text(a->lock, b->lock);
	return p->symbol && same_text(p->symbol, q->symbol);
}

static bool same_site(const struct line *a, const struct line *b, enum match how)
{
	const struct place *p = &a->site_place, *q = &b->site_place;

	if (how == BY_PLACE)
		return same_text(p->object, q->object) && p->offset == q->offset &&
		       same_text(a->site, b->site);
	if (how == BY_NAME)
		return same_text(a->site, b->site);
	return p->symbol && same_text(p->symbol, q->symbol) &&
	       same_text(p->inlined_into, q->inlined_into);
}

static bool same_line(const struct line *a, const struct line *b, enum report_by by, enum match how)
{
	return a->kind == b->kind && (by == BY_SITE || same_lock(a, b, by, how)) &&
	       (by == BY_LOCK || same_site(a, b, how));
}

static uint64_t hash_text(uint64_t hash, const char *text)
{
	/* FNV-1a, 64 bits: Fowler, Noll and Vo. */
	for (; text && *text; text++)
		hash = (hash ^ (unsigned char)*text) * 0x100000001b3ull;
	return (hash ^ 0x100) * 0x100000001b3ull;
}

/* Equal for lines that match by @how. */
static uint64_t hash_line(const struct line *l, enum report_by by, enum match how)
{
	const struct place *lock = &l->lock_place, *site = &l->site_place;
	uint64_t hash = 0xcbf29ce484222325ull ^ l->kind;

	if (by != BY_SITE && !is_by_site(l, by))
		hash = hash_text(hash, how == BY_PLACE ? l->class :
				       how == BY_NAME  ? l->lock : lock->symbol);
	if (by != BY_LOCK)
		hash = hash_text(hash, how == BY_SYMBOL ? site->symbol : l->site);
	return hash;
}

/* A line without a match so far. */
struct waiting {
	const struct line *line;
	uint64_t hash;
};

struct matcher {
	struct diff *d;
	enum report_by by;
	struct waiting *lines[2];
	size_t nr[2];
};

static int by_hash(const void *x, const void *y)
{
	const struct waiting *a = x, *b = y;

	if (a->hash != b->hash)
		return a->hash < b->hash ? -1 : 1;
	return (a->line > b->line) - (a->line < b->line); /* their order in one array */
}

/* Number of lines among the @nr that match @l; *@at is set to the first. */
static size_t likes(const struct matcher *m, const struct line *l, const struct waiting *in,
		    size_t nr, enum match how, size_t *at)
{
	size_t found = 0;

	for (size_t i = 0; i < nr && (!found || how == BY_SYMBOL); i++)
		if (in[i].line && same_line(l, in[i].line, m->by, how) && !found++)
			*at = i;
	return found;
}

/* Match lines with the same hash. */
static void match_some(struct matcher *m, struct waiting *a, size_t nr_a, struct waiting *b,
		       size_t nr_b, enum match how)
{
	for (size_t i = 0; i < nr_a; i++) {
		const struct line *l = a[i].line;
		size_t at, back;

		if (!l || likes(m, l, b, nr_b, how, &at) != 1)
			continue;
		if (how == BY_SYMBOL && likes(m, b[at].line, a, nr_a, how, &back) != 1)
			continue;
		m->d->rows[m->d->nr++] = (struct diff_row){{l, b[at].line}, DIFF_SAME};
		a[i].line = b[at].line = NULL;
	}
}

static size_t same_hash(const struct waiting *w, size_t nr)
{
	size_t n = 0;

	while (n < nr && w[n].hash == w[0].hash)
		n++;
	return n;
}

static void match_all(struct matcher *m, enum match how)
{
	struct waiting *a = m->lines[0], *b = m->lines[1];
	size_t i = 0, j = 0;

	for (int w = 0; w < 2; w++) {
		for (size_t k = 0; k < m->nr[w]; k++)
			m->lines[w][k].hash = hash_line(m->lines[w][k].line, m->by, how);
		qsort(m->lines[w], m->nr[w], sizeof(*m->lines[w]), by_hash);
	}
	while (i < m->nr[0] && j < m->nr[1]) {
		size_t n = same_hash(a + i, m->nr[0] - i), k = same_hash(b + j, m->nr[1] - j);

		bool first = a[i].hash <= b[j].hash, second = b[j].hash <= a[i].hash;

		if (first && second)
			match_some(m, a + i, n, b + j, k, how);
		i += first ? n : 0;
		j += second ? k : 0;
	}
	for (int w = 0; w < 2; w++) {
		size_t kept = 0;

		for (size_t k = 0; k < m->nr[w]; k++)
			if (m->lines[w][k].line)
				m->lines[w][kept++] = m->lines[w][k];
		m->nr[w] = kept;
	}
}

static void set_status(const struct diff *d, struct diff_row *row)
{
	size_t nr;

	diff_columns(&nr);
	row->status = !row->line[0] ? DIFF_NEW : !row->line[1] ? DIFF_GONE : DIFF_SAME;
	for (size_t i = 0; i < nr && row->status == DIFF_SAME; i++) {
		double a, b;

		if (diff_shows(d, i) && !diff_value(d, row, 0, i, &a) && !diff_value(d, row, 1, i, &b) && a != b)
			row->status = DIFF_CHANGED;
	}
}

/* The sort key of the rows. */
struct sort {
	const struct diff *d;
	size_t column; /* one more than the last: cost */
	size_t nr;
};

static double change(const struct sort *s, const struct diff_row *row)
{
	double v[2] = {0, 0};

	for (int i = 0; i < 2; i++)
		if (s->column == s->nr)
			v[i] = row->line[i] ? row->line[i]->cost : 0;
		else
			diff_value(s->d, row, i, s->column, &v[i]);
	return fabs(v[1] - v[0]);
}

static int compare_rows(const void *x, const void *y, void *arg)
{
	double a = change(arg, x), b = change(arg, y);
	const struct line *l = diff_line(x), *m = diff_line(y);
	int c = (a < b) - (a > b);

	if (!c)
		c = strcmp(l->lock, m->lock);
	if (!c)
		c = strcmp(l->site, m->site);
	if (!c)
		c = (int)l->kind - (int)m->kind;
	return c ? c : strcmp(l->class, m->class);
}

static void sort_rows(struct diff *d, const char *key)
{
	struct sort s = {.d = d};
	const struct condition_column *all = diff_columns(&s.nr);

	while (s.column < s.nr && strcmp(all[s.column].name, key))
		s.column++;
	qsort_r(d->rows, d->nr, sizeof(*d->rows), compare_rows, &s);
}

static struct waiting *all_lines(const struct report *r)
{
	struct waiting *all = calloc(r->nr_lines + 1, sizeof(*all));

	for (size_t i = 0; all && i < r->nr_lines; i++)
		all[i].line = &r->lines[i];
	return all;
}

int diff_build(struct diff *d, const struct report *before, const struct report *after,
	       enum report_by by, const char *sort, bool rate)
{
	struct matcher m = {d, by, {all_lines(before), all_lines(after)},
			    {before->nr_lines, after->nr_lines}};
	int rc = -ENOMEM;

	*d = (struct diff){.report = {before, after}, .rate = rate};
	d->rows = calloc(before->nr_lines + after->nr_lines + 1, sizeof(*d->rows));
	if (!m.lines[0] || !m.lines[1] || !d->rows)
		goto free_lines;
	for (int how = 0; how < NR_MATCHES; how++)
		match_all(&m, how);
	for (int w = 0; w < 2; w++)
		for (size_t i = 0; i < m.nr[w]; i++)
			d->rows[d->nr++].line[w] = m.lines[w][i].line;
	for (size_t i = 0; i < d->nr; i++)
		set_status(d, &d->rows[i]);
	d->total = (struct diff_row){{&before->total, &after->total}, DIFF_SAME};
	set_status(d, &d->total);
	sort_rows(d, sort);
	rc = 0;
free_lines:
	free(m.lines[0]);
	free(m.lines[1]);
	if (rc)
		diff_free(d);
	return rc;
}

void diff_free(struct diff *d)
{
	free(d->rows);
	d->rows = NULL;
	d->nr = 0;
}
