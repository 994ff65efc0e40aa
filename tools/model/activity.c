// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * activity.c - waits and holds over the time of the run, by samples.
 *
 * Must never show more steps of time than the samples support.
 */
#include "activity.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../../lib/compiler.h"
#include "../base/sort.h"
#include "../names/names.h"
#include "sums.h"

/* The least number of samples for a step, as fewer say little; and the least number of steps. */
#define SAMPLES_A_STEP 4
#define STEPS_MIN 12

/* The weights of the samples of a row, by enum elide_span_type. */
struct row_weight {
	uint32_t class_index;
	uint16_t kind;
	uint64_t site;
	double weight[ELIDE_SPAN_END];
};

static int compare_rows(const void *x, const void *y)
{
	const struct row_weight *a = x, *b = y;
	int c = by_number(a->class_index, b->class_index);

	if (!c)
		c = by_number(a->site, b->site);
	return c ? c : by_number(a->kind, b->kind);
}

static struct row_weight row_of(const struct elide_span *m)
{
	return (struct row_weight){.class_index = m->class_index, .kind = m->kind,
				   .site = m->site};
}

/* The *@nr rows with samples, sorted, with their weights. */
static struct row_weight *weigh(const struct data_file *f, size_t *nr)
{
	struct row_weight *rows = calloc(f->nr_spans + 1, sizeof(*rows));
	size_t kept = 0;

	if (!rows)
		return NULL;
	for (size_t i = 0; i < f->nr_spans; i++) {
		rows[i] = row_of(&f->spans[i]);
		rows[i].weight[f->spans[i].type] = (double)f->spans[i].weight;
	}
	qsort(rows, f->nr_spans, sizeof(*rows), compare_rows);
	for (size_t i = 0; i < f->nr_spans; i++) {
		if (!kept || compare_rows(&rows[kept - 1], &rows[i])) {
			rows[kept++] = rows[i];
			continue;
		}
		for (int type = 0; type < ELIDE_SPAN_END; type++)
			rows[kept - 1].weight[type] += rows[i].weight[type];
	}
	*nr = kept;
	return rows;
}

/* Cycles of the row's waits or holds that one cycle of a sample's weight stands for. */
static double scale_of(struct sums *sums, const struct row_weight *row, unsigned int type)
{
	const struct sum *s = sums_get(sums, row->class_index, row->site, row->kind, 0);
	double all;

	if (!s || row->weight[type] <= 0)
		return 0;
	all = type == ELIDE_SPAN_WAIT ? (double)(int64_t)s->wait_total : s->held;
	return all > 0 ? all / row->weight[type] : 0;
}

/* The sums of the report may be of several rows each: --by. */
static int sum_one(void *arg, const struct elide_row *row)
{
	struct sum *s = sums_get(arg, row->class_index, row->site, row->kind, 1);

	if (!s)
		return -ENOMEM;
	sum_row(s, row);
	return 0;
}

static int compare_lanes(const void *x, const void *y)
{
	const struct lane *a = x, *b = y;
	int c = (b->wait > a->wait) - (b->wait < a->wait);

	if (!c)
		c = (b->held_total > a->held_total) - (b->held_total < a->held_total);
	return c ? c : by_number(a->class_index, b->class_index);
}

/* A lane for each class that has samples. */
static int make_lanes(const struct data_file *f, struct sums *sums, struct activity *a,
		      const struct row_weight *rows, size_t nr)
{
	a->lanes = calloc(nr + 1, sizeof(*a->lanes));
	if (!a->lanes)
		return -ENOMEM;
	for (size_t i = 0; i < nr; i++) {
		struct lane *l = &a->lanes[a->nr ? a->nr - 1 : 0];

		if (!a->nr || l->class_index != rows[i].class_index) {
			l = &a->lanes[a->nr++];
			l->class_index = rows[i].class_index;
			l->kind = f->classes[l->class_index].kind;
		}
		l->wait += scale_of(sums, &rows[i], ELIDE_SPAN_WAIT) *
			   rows[i].weight[ELIDE_SPAN_WAIT];
		l->held_total += scale_of(sums, &rows[i], ELIDE_SPAN_HOLD) *
				 rows[i].weight[ELIDE_SPAN_HOLD];
	}
	qsort(a->lanes, a->nr, sizeof(*a->lanes), compare_lanes);
	/* Rows without any time come last. */
	while (a->nr && a->lanes[a->nr - 1].wait + a->lanes[a->nr - 1].held_total <= 0)
		a->nr--;
	a->nr_all = a->nr;
	if (a->nr > ACTIVITY_LANES)
		a->nr = ACTIVITY_LANES;
	return 0;
}

/* Adds @cycles, spread evenly from @begin to @end, which are steps since the start. */
static void spread(const struct activity *a, double *steps, double begin, double end, double cycles)
{
	double length;

	begin = fmin(fmax(begin, 0), (double)a->nr_steps);
	end = fmin(fmax(end, begin), (double)a->nr_steps);
	length = end - begin;
	if (length < 1e-6) {
		size_t at = (size_t)begin;

		steps[at < a->nr_steps ? at : a->nr_steps - 1] += cycles / a->step;
		return;
	}
	for (size_t i = (size_t)begin; i < a->nr_steps && (double)i < end; i++) {
		double from = fmax(begin, (double)i), to = fmin(end, (double)i + 1);

		steps[i] += cycles * (to - from) / length / a->step;
	}
}

static void add_span(const struct data_file *f, struct sums *sums, struct activity *a,
		       const struct row_weight *rows, size_t nr, const struct elide_span *m)
{
	const struct row_weight key = row_of(m), *row;
	double end = ((double)m->time - (double)f->header.start_cycles) / a->step;
	double begin, length, cycles, run = (double)a->nr_steps * a->step;

	row = bsearch(&key, rows, nr, sizeof(*rows), compare_rows);
	for (size_t i = 0; row && i < a->nr; i++) {
		struct lane *l = &a->lanes[i];

		if (l->class_index != m->class_index)
			continue;
		cycles = (double)m->weight * scale_of(sums, row, m->type);
		/*
		 * A sample stands for others: earlier waits, of the same thread unless some were
		 * merged; unmeasured holds before and after it.
		 */
		length = fmax((double)m->cycles, fmin((double)m->weight, a->step));
		if (m->type == ELIDE_SPAN_HOLD && cycles > length) {
			end += (fmin(cycles, run) - length) / 2 / a->step;
			length = fmin(cycles, run);
		}
		end = fmax(fmin(end, (double)a->nr_steps), length / a->step);
		begin = end - length / a->step;
		spread(a, m->type == ELIDE_SPAN_WAIT ? l->waiting : l->held, begin, end, cycles);
		l->nr++;
	}
}

/* A row of a class alone; NULL: none is built. */
static const struct line *row_of_class(const struct report *r, uint32_t class_index)
{
	for (size_t i = 0; i < r->nr_built; i++)
		if (r->lines[i].nr_classes == 1 && r->lines[i].sum.class_index == class_index)
			return &r->lines[i];
	return NULL;
}

static int name_lanes(const struct report *r, struct activity *a)
{
	for (size_t i = 0; i < a->nr; i++) {
		struct lane *l = &a->lanes[i];
		const struct elide_class *c = &r->file->classes[l->class_index];
		struct place place;
		char *name = class_name(r->symbols, c, &place);

		short_class(l->name, row_of_class(r, l->class_index), c, name, &place);
		l->class = class_id(c, &place);
		free(name);
		if (!l->class)
			return -ENOMEM;
	}
	return 0;
}

int activity_build(const struct report *r, struct activity *to)
{
	const struct data_file *f = r->file;
	struct row_weight *rows;
	struct sums sums = {0};
	size_t nr = 0;
	int rc;

	*to = (struct activity){.samples = f->nr_spans};
	if (!f->nr_spans || !r->cycles)
		return 0;
	rows = weigh(f, &nr);
	rc = rows ? load_rows(f, sum_one, &sums) : -ENOMEM;
	if (!rc)
		rc = make_lanes(f, &sums, to, rows, nr);
	to->nr_steps = f->nr_spans / SAMPLES_A_STEP;
	if (to->nr_steps < STEPS_MIN)
		to->nr_steps = STEPS_MIN;
	if (to->nr_steps > ACTIVITY_STEPS)
		to->nr_steps = ACTIVITY_STEPS;
	to->step = (double)r->cycles / (double)to->nr_steps;
	for (size_t i = 0; !rc && i < f->nr_spans; i++)
		add_span(f, &sums, to, rows, nr, &f->spans[i]);
	if (!rc)
		rc = name_lanes(r, to);
	free(rows);
	sums_free(&sums);
	if (rc)
		activity_free(to);
	return rc;
}

void activity_free(struct activity *a)
{
	for (size_t i = 0; i < a->nr; i++)
		free(a->lanes[i].class);
	free(a->lanes);
	memset(a, 0, sizeof(*a));
}
