// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * attribute.c - what a row cost, and whether eliding it pays. What to do about
 * it is in advice.c.
 *
 * Must never judge without a measurement: then the verdict is unknown.
 */
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
