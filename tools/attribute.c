// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * attribute.c - what a row cost, whether eliding it pays, what stopped it and
 * what to do about it.
 *
 * Must never judge without a measurement: then the verdict is unknown.
 */
#include <stdlib.h>
#include <string.h>

#include "../lib/compiler.h"
#include "report.h"

const struct cause_text cause_texts[ELIDE_NR_CAUSES] = {
#define ELIDE_CAUSE(id, code, column, help, advice) {#id, COLUMN_##column, help, advice},
#include "../lib/aborts.def"
#undef ELIDE_CAUSE
};

const char *verdict_name(enum verdict v)
{
	static const char *const names[] = {
		[VERDICT_UNKNOWN] = "unknown",
		[VERDICT_PAYS] = "pays",
		[VERDICT_NEUTRAL] = "neutral",
		[VERDICT_HURTS] = "hurts",
	};

	return names[v];
}

static double mean(const struct elide_times *t)
{
	return t->count ? (double)t->total / (double)t->count : 0;
}

/*
 * The cost of a row: cycles thrown away in aborted attempts, cycles waited for
 * the real lock, and for each fallback the mean hold time, because a lock that
 * is really held aborts or delays everybody else for as long.
 */
double line_cost(const struct line *l)
{
	return (double)l->sum.wasted_cycles + (double)l->sum.wait.total +
	       (double)l->sum.fallback * mean(&l->sum.hold);
}

/* Fewer attempts than this are no evidence: one window of the adaptive policy. */
#define EVIDENCE_ATTEMPTS 64

/*
 * Does eliding pay? Judged from what one run measured, without knowing the run
 * that was not elided:
 *
 *   gained  elided acquisitions * mean hold time: time that the lock would have
 *           been held and was not, open to other threads
 *   lost    cycles in aborted attempts
 *
 * Where no hold time was measured both are counted in sections: an aborted
 * attempt has run through one of them at most.
 *
 *   unknown  not elided, or fewer than EVIDENCE_ATTEMPTS attempts
 *   hurts    lost > gained
 *   neutral  one thread only: nobody could have used what was gained
 *   pays     at least half of the acquisitions elided, and lost at most a tenth of gained
 *   neutral  all between
 */
enum verdict line_verdict(const struct report *r, const struct line *l)
{
	int measured = l->sum.hold.count > 0;
	double gained = (double)l->elided * (measured ? mean(&l->sum.hold) : 1);
	double lost = measured ? l->sum.wasted_cycles : l->aborts;

	if (!r->elides || l->attempts < EVIDENCE_ATTEMPTS)
		return VERDICT_UNKNOWN;
	if (lost > gained)
		return VERDICT_HURTS;
	if (r->file->header.nr_threads < 2)
		return VERDICT_NEUTRAL;
	if (percent(l->elided, l->acquired) >= 50 && 10 * lost <= gained)
		return VERDICT_PAYS;
	return VERDICT_NEUTRAL;
}

/* A cause below this share of a row's aborts is not worth a line, per cent. */
#define TELLING_SHARE 10

static void find_causes(struct finding *f)
{
	const struct line *l = f->line;
	unsigned char told[ELIDE_NR_CAUSES] = {0};

	while (f->nr_causes < FINDING_CAUSES) {
		int best = -1;

		for (int i = 0; i < ELIDE_NR_CAUSES; i++)
			if (!told[i] && (best < 0 || l->sum.causes[i] > l->sum.causes[best]))
				best = i;
		if (percent(l->sum.causes[best], l->aborts) < TELLING_SHARE)
			return;
		told[best] = 1;
		f->causes[f->nr_causes++] = best;
	}
}

/*
 * An ELIDE_LOCKS rule. The library matches names as symbol tables have them:
 * the lock's variable, or the call site's object and function.
 */
static void find_pattern(struct finding *f)
{
	const struct line *l = f->line;

	if (l->nr_classes == 1 && l->class_type == ELIDE_CLASS_STATIC && l->lock_place.elf_symbol)
		snprintf(f->pattern, sizeof(f->pattern), "%s", l->lock_place.elf_symbol);
	else if (l->nr_sites == 1 && l->site_place.elf_symbol)
		snprintf(f->pattern, sizeof(f->pattern), "%s!%s", l->site_place.object,
			 l->site_place.elf_symbol);
	/* What would end a rule or the shell's quotes; '?' matches any character. */
	for (char *c = f->pattern; *c; c++)
		if (*c == ',' || *c == '=' || *c == '\'')
			*c = '?';
}

static int compare_cost(const void *x, const void *y)
{
	const struct line *a = *(const struct line *const *)x, *b = *(const struct line *const *)y;

	if (a->cost != b->cost)
		return a->cost < b->cost ? 1 : -1;
	/* Both point into one array, whose order is total. */
	return a < b ? -1 : a > b;
}

/* A row that costs less than this share of the dearest one is not among the worst. */
#define WORST_SHARE 100

size_t attribute(const struct report *r, struct finding *findings, size_t max)
{
	const struct line **worst = calloc(r->nr_lines + 1, sizeof(*worst));
	size_t nr = 0;

	if (!worst)
		return 0;
	for (size_t i = 0; i < r->nr_lines; i++)
		worst[i] = &r->lines[i];
	qsort(worst, r->nr_lines, sizeof(*worst), compare_cost);
	for (size_t i = 0; i < r->nr_lines && nr < max; i++) {
		struct finding *f = &findings[nr];

		if (!worst[i]->cost || worst[i]->cost * WORST_SHARE < worst[0]->cost)
			break;
		memset(f, 0, sizeof(*f));
		f->line = worst[i];
		if (f->line->aborts)
			find_causes(f);
		if (!f->nr_causes && !f->line->sum.contended)
			continue;
		find_pattern(f);
		nr++;
	}
	free(worst);
	return nr;
}
