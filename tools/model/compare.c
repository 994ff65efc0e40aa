// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * compare.c - judges plain and elided runs of a program: does elision pay?
 *
 * What is judged are the logarithms of the ratios elided / plain of the pairs: a disturbance of both runs of
 * a pair cancels out, and a ratio and its inverse have the same weight. Of native runs they have a confidence
 * interval by ranks, as a disturbance of one run is of any size; of emulated ones, which nothing disturbs,
 * Student's. Must never report a difference that may be chance.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../lib/compiler.h"
#include "../../lib/datafile.h"
#include "compare.h"

/* The columns of conditions: the change of elapsed time, its negative, and that of CPU time. */
enum { COLUMN_SLOWER, COLUMN_FASTER, COLUMN_CPU };

static const struct condition_column columns[] = {
	[COLUMN_SLOWER] = {"slower", IN_PERCENT},
	[COLUMN_FASTER] = {"faster", IN_PERCENT},
	[COLUMN_CPU] = {"cpu", IN_PERCENT},
};

static double log_ratio(double plain, double elided)
{
	return log(fmax(elided, SHORTEST_S) / fmax(plain, SHORTEST_S));
}

double compare_percent(double log_ratio)
{
	return 100 * expm1(log_ratio);
}

/*
 * Are the quartiles of the plain runs alone further apart than what is to be decided: the change, or the
 * margin if that is more? Then what runs beside the program may have made the change.
 */
static bool is_busy(struct comparison *c, double *plain)
{
	if (c->emulated || c->nr < 2)
		return false;
	stats_sort(plain, c->nr);
	c->spread = stats_quantile(plain, c->nr, 0.75) - stats_quantile(plain, c->nr, 0.25);
	return c->effect != EFFECT_NEUTRAL && c->spread > fmax(fabs(c->elapsed.mean), log1p(c->margin));
}

static struct interval interval(const struct comparison *c, double *values)
{
	return c->emulated ? stats_interval(values, c->nr, c->confidence) :
			     stats_ranks(values, c->nr, c->confidence);
}

int compare_judge(struct comparison *c)
{
	double *elapsed = calloc(3 * c->nr, sizeof(*elapsed)), *cpu = elapsed + c->nr, *plain = cpu + c->nr;
	size_t least = c->emulated ? 0 : stats_least(c->confidence);

	if (!elapsed)
		return -ENOMEM;
	c->exits_differ = false;
	c->nr_failed = 0;
	for (size_t i = 0; i < c->nr; i++) {
		const struct run_result *r = c->pairs[i].run;

		elapsed[i] = log_ratio(r[PLAIN].elapsed_s, r[ELIDED].elapsed_s);
		cpu[i] = log_ratio(r[PLAIN].cpu_s, r[ELIDED].cpu_s);
		plain[i] = log(fmax(r[PLAIN].elapsed_s, SHORTEST_S));
		c->exits_differ |= r[PLAIN].exit != r[ELIDED].exit;
		c->nr_failed += r[PLAIN].exit || r[ELIDED].exit;
	}
	c->elapsed = interval(c, elapsed);
	c->cpu = interval(c, cpu);
	c->effect = stats_effect(&c->elapsed, c->margin);
	c->busy = is_busy(c, plain);
	if (c->busy)
		c->effect = EFFECT_UNDECIDED;
	c->more = c->effect == EFFECT_UNDECIDED ? stats_more(&c->elapsed, c->margin, c->confidence) : 0;
	if (c->effect == EFFECT_UNDECIDED)
		c->more = c->busy		  ? STATS_RUNS_MAX + 1 :
			  c->nr + c->more < least ? least - c->nr :
			  c->more		  ? c->more : 1;
	free(elapsed);
	return 0;
}

bool compare_is_elision(const struct comparison *c)
{
	return c->elision.known && c->elision.mode == ELIDE_RUN_ELIDE;
}

size_t compare_condition_parse(struct compare_condition *to, const char *text, char *why,
			       size_t size)
{
	const char *colon = strchr(text, ':');
	size_t bad;

	*to = (struct compare_condition){.text = text};
	for (int e = 0; e < NR_EFFECTS; e++)
		if (!strcmp(text, stats_effect_name(e))) {
			to->is_effect = true;
			to->effect = e;
			return 0;
		}
	if (colon) {
		snprintf(why, size, "expected a column");
		return 1;
	}
	bad = condition_parse(&to->condition, text, columns, ARRAY_SIZE(columns), why, size);
	if (!bad && to->condition.of != OF_VALUE) {
		snprintf(why, size, "expected a number without a sign");
		return strcspn(text, "+-") + 1;
	}
	return bad;
}

bool compare_holds(const struct comparison *c, const struct compare_condition *condition)
{
	const struct condition *one = &condition->condition;
	const struct interval *i = one->column == COLUMN_CPU ? &c->cpu : &c->elapsed;
	double low = i->n < 2 ? i->mean : i->low, high = i->n < 2 ? i->mean : i->high;

	if (condition->is_effect)
		return c->effect == condition->effect;
	if (c->busy)
		return false;
	low = compare_percent(low);
	high = compare_percent(high);
	if (one->column == COLUMN_FASTER)
		return condition_compare(one, one->op == '>' ? -high : -low);
	return condition_compare(one, one->op == '>' ? low : high);
}
