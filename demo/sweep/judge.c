// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * judge.c - ranks the variants of a sweep, and says which fits.
 *
 * The best variant has the highest median. Each other is compared with it by the logarithms of the ratios of
 * their throughputs in the same round: natively by Wilcoxon's signed ranks, as a disturbance of one run is
 * of any size; emulated, where nothing disturbs, by Student's t. What was not found worse fits. With k
 * variants each comparison is one-sided with an error of (1 - confidence) / (k - 1): the variant that is
 * truly best is left out only if a comparison of another one with it is wrong, so with the stated confidence
 * it is among those that fit (S. Gupta, On some multiple decision rules, Technometrics 7 (1965): subset
 * selection; with Bonferroni's bound in place of the joint distribution). Must never name as best what
 * chance may have put ahead.
 */
#include "../../tools/model/stats.h"
#include "sweep.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Two-sided confidence of a comparison among @nr variants. */
static double each(const struct sweep *s, unsigned int nr)
{
	return nr > 1 ? 1 - 2 * (1 - s->confidence) / (nr - 1) : s->confidence;
}

/**
 * judge_least_rounds() - rounds with which a difference can be found
 *
 * Ranks need as many that their least likely order is rarer than the error of a comparison. Student's t
 * needs two.
 */
unsigned int judge_least_rounds(const struct sweep *s)
{
	return s->emulate ? 2 : (unsigned int)stats_least(each(s, s->nr_variants));
}

/* Median and quartiles of the rounds. */
static int describe(struct cell *cell, unsigned int rounds)
{
	double *sorted = calloc(rounds, sizeof(*sorted));

	if (!sorted)
		return -ENOMEM;
	memcpy(sorted, cell->rate, rounds * sizeof(*sorted));
	stats_sort(sorted, rounds);
	cell->median = stats_quantile(sorted, rounds, 0.5);
	cell->spread =
		(stats_quantile(sorted, rounds, 0.75) - stats_quantile(sorted, rounds, 0.25)) / cell->median;
	free(sorted);
	return 0;
}

/* The interval of the logarithm of the ratio of two cells. */
static int compare(const struct sweep *s, const struct cell *cell, const struct cell *best,
		   double confidence, struct interval *i)
{
	double *logs = calloc(s->done, sizeof(*logs));

	if (!logs)
		return -ENOMEM;
	for (unsigned int r = 0; r < s->done; r++)
		logs[r] = log(cell->rate[r] / best->rate[r]);
	*i = s->emulate ? stats_interval(logs, s->done, confidence) : stats_ranks(logs, s->done, confidence);
	free(logs);
	return 0;
}

/* Compare the cells that are ranked, in their order by median. */
static int judge_cells(const struct sweep *s, struct group *g)
{
	double confidence = each(s, g->nr_ranked);
	struct cell *best = &g->cells[g->order[0]];

	best->ratio = best->low = best->high = 1;
	best->fits = true;
	g->nr_fit = 1;
	for (unsigned int i = 1; i < g->nr_ranked; i++) {
		struct cell *cell = &g->cells[g->order[i]];
		struct interval ratio;

		if (compare(s, cell, best, confidence, &ratio))
			return -ENOMEM;
		cell->ratio = exp(ratio.mean);
		cell->low = exp(ratio.low);
		cell->high = exp(ratio.high);
		cell->fits = !(ratio.high < 0);
		g->nr_fit += cell->fits;
		if (i > 1 || !cell->fits)
			continue;
		g->more = stats_more(&ratio, 0, confidence);
		if (s->done + g->more > ROUNDS_MAX)
			g->more = SIZE_MAX;
		else if (s->done + g->more < judge_least_rounds(s))
			g->more = judge_least_rounds(s) - s->done;
		else if (!g->more)
			g->more = 1;
	}
	return 0;
}

/* Order the cells by their medians, and those that fit before the others. */
static int compare_cells(const void *x, const void *y, void *cells)
{
	const struct cell *a = (const struct cell *)cells + *(const unsigned int *)x;
	const struct cell *b = (const struct cell *)cells + *(const unsigned int *)y;

	if (a->fits != b->fits)
		return b->fits - a->fits;
	return (b->median > a->median) - (b->median < a->median);
}

/**
 * judge() - rank the variants for each number of threads
 * @s: has all runs of at least one round
 *
 * Return: 0 or -ENOMEM.
 */
int judge(struct sweep *s)
{
	for (struct group *g = s->groups; g < s->groups + s->nr_groups; g++) {
		g->nr_ranked = g->nr_fit = 0;
		for (unsigned int i = 0; i < s->nr_variants; i++) {
			g->cells[i].fits = false;
			if (g->cells[i].status != CELL_RANKED)
				continue;
			if (describe(&g->cells[i], s->done))
				return -ENOMEM;
			g->order[g->nr_ranked++] = i;
		}
		if (!g->nr_ranked)
			continue;
		qsort_r(g->order, g->nr_ranked, sizeof(*g->order), compare_cells, g->cells);
		if (judge_cells(s, g))
			return -ENOMEM;
		qsort_r(g->order, g->nr_ranked, sizeof(*g->order), compare_cells, g->cells);
	}
	return 0;
}

/*
 * The variant of groups @from to @to that fits in all of them; of several the one with the highest product
 * of ratios. VARIANTS_MAX if there is none.
 */
static unsigned int choice(const struct sweep *s, unsigned int from, unsigned int to)
{
	unsigned int best = VARIANTS_MAX;
	double most = 0;

	for (unsigned int i = 0; i < s->nr_variants; i++) {
		double product = 1;

		for (unsigned int g = from; g <= to; g++) {
			const struct cell *cell = &s->groups[g].cells[i];

			product *= cell->status == CELL_RANKED && cell->fits ? cell->median : 0;
		}
		if (product > most) {
			most = product;
			best = i;
		}
	}
	return best;
}

/* "A", "A and B", "A, B and 3 others": the variants of the group that fit, but @left_out. */
static void name_others(FILE *out, const struct group *g, unsigned int left_out)
{
	unsigned int nr = 0, left = g->nr_fit - 1;

	for (unsigned int i = 0; i < g->nr_fit; i++) {
		if (g->order[i] == left_out)
			continue;
		if (nr == 2 && left > 1) {
			fprintf(out, " and %u others", left);
			return;
		}
		if (nr)
			fputs(left == 1 ? " and " : ", ", out);
		fputs(g->cells[g->order[i]].variant->name, out);
		nr++;
		left--;
	}
}

/* "With 4 threads ", "with 1 to 4 threads " */
static void name_threads(FILE *out, const struct sweep *s, unsigned int from, unsigned int to, bool begins)
{
	unsigned int first = s->groups[from].threads, last = s->groups[to].threads;

	if (!first)
		return;
	fprintf(out, "%cith %u", begins ? 'W' : 'w', first);
	if (first != last)
		fprintf(out, " to %u", last);
	fprintf(out, " thread%s ", last == 1 ? "" : "s");
}

/* How the choice compares with the others in one group. */
static void say_lead(FILE *out, const struct group *g, unsigned int chosen)
{
	const struct cell *next = g->nr_fit < g->nr_ranked ? &g->cells[g->order[g->nr_fit]] : NULL;

	if (g->nr_ranked == 1)
		fputs(", the only one that could be ranked", out);
	if (g->nr_fit > 1) {
		fputs(" as well as ", out);
		name_others(out, g, chosen);
	}
	if (next)
		fprintf(out, ", %.1f %% ahead of %s%s (%.1f to %.1f %%)", 100 * (1 / next->ratio - 1),
			next->variant->name, g->nr_fit > 1 ? ", the first that is slower" : "",
			100 * (1 / next->high - 1), 100 * (1 / next->low - 1));
}

/* The same in several groups: with which numbers of threads it is ahead of all others, and by how much. */
static void say_leads(FILE *out, const struct sweep *s, unsigned int from, unsigned int to)
{
	double least = INFINITY;
	unsigned int alone = 0;

	for (unsigned int i = from; i <= to; i++) {
		const struct group *g = &s->groups[i];

		if (g->nr_fit > 1 || g->nr_ranked < 2)
			continue;
		alone++;
		least = fmin(least, 1 / g->cells[g->order[1]].ratio - 1);
	}
	if (!alone)
		fputs(" as well as others", out);
	else if (alone > to - from)
		fprintf(out, ", at least %.1f %% ahead of all others", 100 * least);
	for (unsigned int i = from; alone && alone <= to - from && i <= to; i++) {
		const struct group *g = &s->groups[i];

		if (g->nr_fit == 1 && g->nr_ranked > 1)
			fprintf(out, ", with %u %.1f %% ahead of all others", g->threads,
				100 * (1 / g->cells[g->order[1]].ratio - 1));
	}
}

/**
 * judge_sentence() - which variant fits, by how much, how sure that is, and where it changes with threads
 *
 * Return: one sentence, to be freed; NULL without memory.
 */
char *judge_sentence(const struct sweep *s)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	unsigned int parts = 0, changes = 0, change[THREADS_MAX], least = judge_least_rounds(s);

	if (out && s->done < least && s->nr_variants > 1) {
		fprintf(out, "With %u round%s no difference can be found: this needs at least %u.", s->done,
			s->done == 1 ? "" : "s", least);
		fclose(out);
		return text;
	}
	for (unsigned int from = 0, to; out && from < s->nr_groups; from = to + 1) {
		unsigned int chosen = choice(s, from, from);

		to = from;
		if (chosen == VARIANTS_MAX)
			continue;
		while (to + 1 < s->nr_groups && choice(s, from, to + 1) != VARIANTS_MAX)
			to++;
		chosen = choice(s, from, to);
		if (parts++)
			change[changes++] = from;
		fputs(parts > 1 ? "; " : "", out);
		name_threads(out, s, from, to, parts == 1);
		fprintf(out, "%s fits", s->variants[chosen].name);
		if (from == to)
			say_lead(out, &s->groups[from], chosen);
		else
			say_leads(out, s, from, to);
	}
	if (!out)
		return NULL;
	for (unsigned int i = 0; i < changes; i++) {
		fputs(!i ? "; the choice changes at " : i + 1 == changes ? " and " : ", ", out);
		fprintf(out, "%u", s->groups[change[i]].threads);
		if (i + 1 == changes)
			fputs(" threads", out);
	}
	if (parts)
		fprintf(out, "; confidence %.3g %%.", 100 * s->confidence);
	else
		fputs("No variant could be ranked.", out);
	fclose(out);
	return text;
}
