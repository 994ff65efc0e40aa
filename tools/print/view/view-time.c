// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * view-time.c - waits and holds over the time of the run: report --by time.
 *
 * Must never give an estimate more digits than it has.
 */
#include "view-time.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "../../../lib/compiler.h"
#include "../../base/colour.h"
#include "../../base/text.h"
#include "../../model/activity.h"
#include "../../names/names.h"
#include "../csv.h"

/* Characters of a lock's name, and of the text beside the steps. */
#define NAME_WIDTH 32
#define BESIDE 22
/* Steps on a terminal, at least and at most. */
#define STEPS_MIN 10
#define STEPS_MAX 80

/* Bars in steps of an eighth, from nothing to full height; and marks for terminals without UTF-8. */
static const char *const blocks[] = {" ", "\u2581", "\u2582", "\u2583", "\u2584",
				     "\u2585", "\u2586", "\u2587", "\u2588"};
static const char *const marks[] = {" ", ".", ":", "-", "=", "+", "*", "#", "@"};
#define HEIGHTS ARRAY_SIZE(blocks)

_Static_assert(ARRAY_SIZE(marks) == ARRAY_SIZE(blocks), "one for each height");

/* Does the terminal show UTF-8? Decides by the first variable of setlocale(3) that is set. */
static bool is_utf8(void)
{
	static const char *const names[] = {"LC_ALL", "LC_CTYPE", "LANG"};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		const char *value = getenv(names[i]);

		if (value && *value)
			return strcasestr(value, "UTF-8") || strcasestr(value, "utf8");
	}
	return false;
}

/* The value of column @at if the steps are spread over @nr columns. */
static double column_of(const struct activity *a, const double *steps, size_t at, size_t nr)
{
	double from = (double)at * (double)a->nr_steps / (double)nr;
	double to = (double)(at + 1) * (double)a->nr_steps / (double)nr, sum = 0;

	for (size_t i = (size_t)from; i < a->nr_steps && (double)i < to; i++)
		sum += steps[i] * (fmin(to, (double)i + 1) - fmax(from, (double)i));
	return sum / (to - from);
}

static double most_of(const struct activity *a, const double *steps, size_t nr)
{
	double most = 0;

	for (size_t i = 0; i < nr; i++)
		most = fmax(most, column_of(a, steps, i, nr));
	return most;
}

static void print_steps(const struct activity *a, const double *steps, size_t nr,
			enum colour colour, FILE *out)
{
	const char *const *heights = is_utf8() ? blocks : marks;
	double most = most_of(a, steps, nr);

	fprintf(out, "|%s", colour_on(colour));
	for (size_t i = 0; i < nr; i++) {
		double v = column_of(a, steps, i, nr);
		size_t height = most > 0 ? (size_t)ceil((double)(HEIGHTS - 1) * v / most) : 0;

		fputs(heights[height < HEIGHTS ? height : HEIGHTS - 1], out);
	}
	fprintf(out, "%s|", colour_off(colour));
}

static void print_lane(const struct report *r, const struct activity *a, const struct lane *l,
		       size_t nr, FILE *out)
{
	double most = most_of(a, l->waiting, nr), sum = 0;
	char name[NAME_WIDTH + 1], wait[32];

	fit(name, l->name, NAME_WIDTH);
	print_clean(out, name);
	fprintf(out, "%*s ", NAME_WIDTH - (int)strlen(name), "");
	if (most > 0) {
		print_steps(a, l->waiting, nr, COLOUR_WARN, out);
		scale_ns(wait, sizeof(wait), l->wait * (double)r->ns / (double)r->cycles);
		fprintf(out, " waited %s%s, ~%.2g at once\n",
			elide_kind_waits_for_lock(l->kind) ? "" : "for others ", wait, most);
	}
	for (size_t i = 0; i < a->nr_steps; i++)
		sum += l->held[i];
	if (sum <= 0 && most > 0)
		return;
	if (most > 0)
		fprintf(out, "%*s ", NAME_WIDTH, "");
	print_steps(a, l->held, nr, COLOUR_GOOD, out);
	fprintf(out, " held ~%.1f%%\n", 100 * sum / (double)a->nr_steps);
}

int activity_table(const struct report *r, FILE *out, int width)
{
	struct activity a;
	size_t nr;
	char step[32], run[32];
	int rc = activity_build(r, &a);

	if (rc)
		return rc;
	if (!a.nr) {
		fputs(r->file->nr_spans ?
			      "when it was is not known: the run did not say how long it took\n" :
			      "no wait and no hold was sampled with its time: there were too few, or "
			      "ELIDE_STACKS is 0\n", out);
		activity_free(&a);
		return 0;
	}
	nr = width > NAME_WIDTH + BESIDE + STEPS_MIN ? width - NAME_WIDTH - BESIDE : STEPS_MIN;
	nr = nr > a.nr_steps ? a.nr_steps : nr;
	nr = nr > STEPS_MAX ? STEPS_MAX : nr;
	scale_ns(step, sizeof(step), (double)r->ns / (double)nr);
	scale_ns(run, sizeof(run), (double)r->ns);
	fprintf(out, "threads that waited for each lock, and how long it was held, over the %s of the "
		"run\n(a column is %s; by %zu sample%s; each line has a height of its own)\n\n",
		run, step, a.samples, plural(a.samples));
	for (size_t i = 0; i < a.nr; i++)
		print_lane(r, &a, &a.lanes[i], nr, out);
	if (a.nr < a.nr_all)
		fprintf(out, "(%zu more lock class%s)\n", a.nr_all - a.nr,
			a.nr_all - a.nr == 1 ? "" : "es");
	activity_free(&a);
	return 0;
}

static json_t *steps_json(const struct activity *a, const double *steps)
{
	json_t *list = json_array();

	for (size_t i = 0; i < a->nr_steps; i++)
		json_array_append_new(list, json_real(steps[i]));
	return list;
}

json_t *activity_json(const struct report *r)
{
	struct activity a;
	json_t *o, *lanes;

	if (activity_build(r, &a) || !a.nr) {
		activity_free(&a);
		return json_null();
	}
	o = json_object();
	json_object_set_new(o, "step_s", json_real((double)r->ns / 1e9 / (double)a.nr_steps));
	json_object_set_new(o, "samples", json_number(a.samples));
	lanes = json_array();
	for (size_t i = 0; i < a.nr; i++) {
		const struct lane *l = &a.lanes[i];
		json_t *lane = json_object();
		uint64_t ns = 0;

		to_ns(r, (uint64_t)l->wait, &ns);
		json_object_set_new(lane, "class", json_text(l->class));
		json_object_set_new(lane, "lock", json_text(l->name));
		json_object_set_new(lane, "waits_for", json_text(waits_for(l->kind)));
		json_object_set_new(lane, "samples", json_number(l->nr));
		json_object_set_new(lane, "wait_ns", json_number(ns));
		json_object_set_new(lane, "waiting", steps_json(&a, l->waiting));
		json_object_set_new(lane, "held", steps_json(&a, l->held));
		json_array_append_new(lanes, lane);
	}
	json_object_set_new(o, "locks", lanes);
	activity_free(&a);
	return o;
}

void activity_csv_head(FILE *out)
{
	fputs("schema,pid,lock,class,time_s,step_s,waiting,held\r\n", out);
}

int activity_csv(const struct report *r, FILE *out)
{
	struct activity a;
	int rc = activity_build(r, &a);

	for (size_t i = 0; !rc && i < a.nr; i++) {
		double step = (double)r->ns / 1e9 / (double)a.nr_steps;

		for (size_t j = 0; j < a.nr_steps; j++) {
			fprintf(out, "%d,%u", REPORT_SCHEMA, r->file->header.pid);
			csv_text(out, a.lanes[i].name);
			csv_text(out, a.lanes[i].class);
			fprintf(out, ",%.9f,%.9f,%.6g,%.6g\r\n", (double)j * step, step,
				a.lanes[i].waiting[j], a.lanes[i].held[j]);
		}
	}
	activity_free(&a);
	return rc;
}
