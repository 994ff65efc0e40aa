// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * compare-print.c - the result of elide compare, as text and as JSON.
 *
 * Must never print a control character of the command line.
 */
#include <math.h>
#include <stdlib.h>

#include "../../lib/compiler.h"
#include "../base/json.h"
#include "../base/text.h"
#include "../names/names.h"
#include "compare-print.h"

/*
 * The geometric mean, because ratios are compared; of native runs the median, which no disturbed one moves.
 */
static double mean_of(const struct comparison *c, int side, bool cpu)
{
	double *logs = calloc(c->nr + 1, sizeof(*logs)), mean = NAN;

	for (size_t i = 0; logs && i < c->nr; i++) {
		const struct run_result *r = &c->pairs[i].run[side];

		logs[i] = log(fmax(cpu ? r->cpu_s : r->elapsed_s, SHORTEST_S));
	}
	if (logs && c->emulated) {
		mean = stats_interval(logs, c->nr, c->confidence).mean;
	} else if (logs) {
		stats_sort(logs, c->nr);
		mean = stats_quantile(logs, c->nr, 0.5);
	}
	free(logs);
	return exp(mean);
}

static void print_time(const struct comparison *c, const char *name, const struct interval *i,
		       bool cpu, FILE *out)
{
	char time[NR_SIDES][32];

	for (int side = 0; side < NR_SIDES; side++)
		scale_ns(time[side], sizeof(time[side]), 1e9 * mean_of(c, side, cpu));
	fprintf(out, "%-8s %9s %9s %+8.1f%%", name, time[PLAIN], time[ELIDED],
		compare_percent(i->mean));
	if (i->n < 2)
		fprintf(out, "  one pair has no interval\n");
	else if (isinf(i->low))
		fprintf(out, "  too few pairs for an interval\n");
	else
		fprintf(out, "  %+.1f%% to %+.1f%%\n", compare_percent(i->low),
			compare_percent(i->high));
}

static void print_elision(const struct comparison *c, FILE *out)
{
	const struct elision *e = &c->elision;
	char acquired[16];

	if (!e->known) {
		fputs("the elided runs wrote no data file: no lock was taken, or the library was "
		      "not loaded\n", out);
		return;
	}
	scale(acquired, sizeof(acquired), e->acquired, "");
	if (compare_is_elision(c)) {
		fprintf(out, "of %s acquisitions %.1f%% were elided, RTM %s\n", acquired,
			percent(e->elided, e->acquired), rtm_name(e->rtm));
		return;
	}
	fprintf(out, "nothing was elided, mode %s: ", mode_name(e->mode));
	print_clean(out, e->why);
	fputs("\nwhat is compared is the overhead of profiling; what elision would do: "
	      "--emulate\n", out);
}

/* Exit codes, if they are not all 0. */
static void print_exits(const struct comparison *c, FILE *out)
{
	for (size_t i = 0; i < c->nr; i++) {
		int plain = c->pairs[i].run[PLAIN].exit, elided = c->pairs[i].run[ELIDED].exit;

		if (!plain && !elided)
			continue;
		fprintf(out, "exit code of pair %zu: plain %d, elided %d%s\n", i + 1, plain, elided,
			plain != elided ? ": they did not do the same" : "");
	}
}

static void print_effect(const struct comparison *c, FILE *out)
{
	double change = compare_percent(c->elapsed.mean), sure = 100 * c->confidence;
	const char *what = compare_is_elision(c) ? "elision" : "profiling";

	if (c->busy) {
		fprintf(out, "undecided, the machine is busy: the quartiles of the plain runs alone are %.1f%% apart\n",
			compare_percent(c->spread));
		return;
	}
	fprintf(out, "%s: ", stats_effect_name(c->effect));
	switch (c->effect) {
	case EFFECT_PAYS:
		fprintf(out, "with %s it takes %.1f%% less time", what, -change);
		break;
	case EFFECT_HURTS:
		fprintf(out, "with %s it takes %.1f%% more time", what, change);
		break;
	case EFFECT_NEUTRAL:
		fprintf(out, "with %s it takes as long, within %.3g%%", what, 100 * c->margin);
		break;
	default:
		if (c->more > STATS_RUNS_MAX)
			fprintf(out, "more than %d pairs would be needed\n", STATS_RUNS_MAX);
		else
			fprintf(out, "about %zu more pair%s would decide\n", c->more,
				c->more == 1 ? "" : "s");
		return;
	}
	fprintf(out, " (confidence %.3g%%)\n", sure);
}

void compare_print(const struct comparison *c, FILE *out)
{
	char interval[32];

	print_clean(out, base_name(c->argv[0]));
	for (char **arg = c->argv + 1; *arg; arg++) {
		fputc(' ', out);
		print_clean(out, *arg);
	}
	fprintf(out, ": %zu pair%s plain and elided, %s\n\n", c->nr, c->nr == 1 ? "" : "s",
		c->emulated ? "simulated time, a seed each" : "in random order after a warm-up");
	snprintf(interval, sizeof(interval), "%.3g%% INTERVAL", 100 * c->confidence);
	fprintf(out, "%-8s %9s %9s %9s  %s\n", "", "PLAIN", "ELIDED", "CHANGE", interval);
	print_time(c, "elapsed", &c->elapsed, false, out);
	print_time(c, "cpu", &c->cpu, true, out);
	fputc('\n', out);
	print_elision(c, out);
	print_exits(c, out);
	print_effect(c, out);
}

static json_t *json_percent(double log_ratio)
{
	return isfinite(log_ratio) ? json_real(compare_percent(log_ratio)) : json_null();
}

static json_t *json_time(const struct comparison *c, const struct interval *i, bool cpu)
{
	json_t *o = json_object();

	json_object_set_new(o, "plain_s", json_real(mean_of(c, PLAIN, cpu)));
	json_object_set_new(o, "elided_s", json_real(mean_of(c, ELIDED, cpu)));
	json_object_set_new(o, "change_percent", json_percent(i->mean));
	json_object_set_new(o, "low_percent", json_percent(i->low));
	json_object_set_new(o, "high_percent", json_percent(i->high));
	return o;
}

static json_t *json_elision(const struct elision *e)
{
	json_t *o;

	if (!e->known)
		return json_null();
	o = json_object();
	json_object_set_new(o, "mode", json_text(mode_name(e->mode)));
	json_object_set_new(o, "rtm", json_text(rtm_name(e->rtm)));
	json_object_set_new(o, "why", json_text(e->why));
	json_object_set_new(o, "acquired", json_number(e->acquired));
	json_object_set_new(o, "elided", json_number(e->elided));
	return o;
}

static json_t *json_pair(const struct run_pair *p)
{
	static const char *const sides[] = {[PLAIN] = "plain", [ELIDED] = "elided"};
	json_t *o = json_object();

	json_object_set_new(o, "first", json_text(sides[p->first]));
	for (int side = 0; side < NR_SIDES; side++) {
		const struct run_result *r = &p->run[side];
		json_t *one = json_object();

		json_object_set_new(one, "elapsed_s", json_real(r->elapsed_s));
		json_object_set_new(one, "cpu_s", json_real(r->cpu_s));
		json_object_set_new(one, "exit", json_integer(r->exit));
		json_object_set_new(o, sides[side], one);
	}
	return o;
}

int compare_print_json(const struct comparison *c, const struct compare_condition *const *failed,
		       size_t nr_failed, FILE *out)
{
	json_t *o = json_object(), *command = json_array(), *pairs = json_array();
	json_t *conditions = json_array();

	for (char **arg = c->argv; *arg; arg++)
		json_array_append_new(command, json_text(*arg));
	for (size_t i = 0; i < c->nr; i++)
		json_array_append_new(pairs, json_pair(&c->pairs[i]));
	for (size_t i = 0; i < nr_failed; i++)
		json_array_append_new(conditions, json_text(failed[i]->text));
	json_object_set_new(o, "schema", json_integer(COMPARE_SCHEMA));
	json_object_set_new(o, "command", command);
	json_object_set_new(o, "emulated", json_boolean(c->emulated));
	json_object_set_new(o, "seed", json_number(c->seed));
	json_object_set_new(o, "compares",
			    json_text(compare_is_elision(c) ? "elision" : "profiling"));
	json_object_set_new(o, "confidence_percent", json_real(100 * c->confidence));
	json_object_set_new(o, "margin_percent", json_real(100 * c->margin));
	json_object_set_new(o, "elapsed", json_time(c, &c->elapsed, false));
	json_object_set_new(o, "cpu", json_time(c, &c->cpu, true));
	json_object_set_new(o, "verdict", json_text(stats_effect_name(c->effect)));
	json_object_set_new(o, "busy", json_boolean(c->busy));
	json_object_set_new(o, "plain_spread_percent", json_percent(c->spread));
	json_object_set_new(o, "more_pairs",
			    c->more > STATS_RUNS_MAX ? json_null() : json_number(c->more));
	json_object_set_new(o, "elision", json_elision(&c->elision));
	json_object_set_new(o, "exits_differ", json_boolean(c->exits_differ));
	json_object_set_new(o, "pairs", pairs);
	json_object_set_new(o, "failed", conditions);
	return json_print(o, out);
}
