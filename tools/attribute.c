// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * attribute.c - what a row cost, and whether eliding it pays. What to do about
 * it is in advice.c.
 *
 * Must never judge without a measurement: then the verdict is unknown.
 */
#include <math.h>

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
 * is really held aborts or delays everybody else for as long. What is not
 * attempted because there is no hope counts as if it were, like those that were.
 */
double line_cost(const struct line *l)
{
	uint64_t attempted = l->acquired - l->sum.not_attempted;
	double wasted = attempted ? (double)l->sum.wasted_cycles / (double)attempted : 0;

	return (double)l->sum.wasted_cycles + (double)l->sum.wait.total +
	       (double)l->sum.fallback * mean(&l->sum.hold) +
	       (double)l->given_up * (wasted + mean(&l->sum.hold));
}

/* Up to this share of the run a lock may be held and nobody wait for it, per cent. */
#define QUIET_SHARE 10
/* Fewer acquisitions than this are no evidence that nothing contends. */
#define QUIET_ACQUIRED 64
/* Aborts by others are too few to count below one in so many attempts. */
#define QUIET_ATTEMPTS 100

double line_held_percent(const struct report *r, const struct line *l)
{
	const struct class_use *use = &r->uses[l->sum.class_index];

	if (!use->hold_count || !r->cycles)
		return -1;
	return 100.0 * (double)use->hold_total / (double)use->hold_count * (double)use->acquired /
	       (double)r->cycles;
}

int line_has_one_thread(const struct report *r, const struct line *l)
{
	return r->file->header.nr_threads < 2 || r->uses[l->sum.class_index].nr_rows == 1;
}

/*
 * Nobody waited or conflicted; and one thread only uses the lock, or it is
 * known to be held for a small part of the run, or nothing was elided, so that
 * who waits would have been counted.
 */
int line_is_quiet(const struct report *r, const struct line *l)
{
	const struct class_use *use;
	double held;

	if (!r->uses || l->nr_classes != 1 || l->acquired < QUIET_ACQUIRED ||
	    (l->by_column[COLUMN_CONFL] + l->by_column[COLUMN_BUSY]) * QUIET_ATTEMPTS > l->attempts)
		return 0;
	use = &r->uses[l->sum.class_index];
	if (use->contended)
		return 0;
	held = line_held_percent(r, l);
	return line_has_one_thread(r, l) || !use->commits || (held >= 0 && held < QUIET_SHARE);
}

/* Fewer attempts than this are no evidence: one window of the adaptive policy. */
#define EVIDENCE_ATTEMPTS 64

/* arms.def: the way that takes the lock really; all others elide. */
#define ARM_REAL 0

int event_is_hopeless(const struct elide_event *e)
{
	return e->type == ELIDE_EVENT_PAUSED && !e->pairs && !e->a && e->site;
}

static int is_about(const struct elide_event *e, const struct line *l)
{
	return e->pairs && e->class_index == l->sum.class_index && l->nr_classes == 1 &&
	       (!e->site || (l->nr_sites == 1 && e->site == l->sum.site)) &&
	       (e->arm == ARM_REAL) != (e->before == ARM_REAL);
}

struct measured line_measured(const struct report *r, const struct line *l)
{
	const struct elide_event *last = NULL;
	struct measured m = {0};

	for (size_t i = 0; i < r->file->nr_events; i++) {
		const struct elide_event *e = &r->file->events[i];

		if (is_about(e, l) && (!last || e->time >= last->time))
			last = e;
	}
	if (!last)
		return m;
	m.gain = exp((last->arm == ARM_REAL ? -last->ratio : last->ratio) / 1000.0) - 1;
	m.confidence = last->confidence / 1000.0;
	m.pairs = last->pairs;
	return m;
}

/* Less than this is no difference, and a guess that is wrong more often is none. */
#define TELLING_GAIN 0.01
#define SURE         0.9

static enum verdict measured_verdict(const struct measured *m)
{
	if (m->confidence < SURE || fabs(m->gain) < TELLING_GAIN)
		return VERDICT_NEUTRAL;
	return m->gain > 0 ? VERDICT_PAYS : VERDICT_HURTS;
}

/*
 * Does eliding pay? Where the adaptive policy has measured it both ways, what it
 * found, but that is of the class: where it has found no hope for a site, the
 * site's few attempts tell. Else judged from what one run measured, without knowing the run that
 * was not elided:
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
 *   neutral  one thread only, or nothing contends for the lock: nobody could have used what was
 *            gained
 *   pays     at least half of the acquisitions elided, and lost at most a tenth of gained
 *   neutral  all between
 */
enum verdict line_verdict(const struct report *r, const struct line *l)
{
	int measured = l->sum.hold.count > 0;
	double gained = (double)l->elided * (measured ? mean(&l->sum.hold) : 1);
	double lost = measured ? l->sum.wasted_cycles : l->aborts;
	struct measured m = line_measured(r, l);

	if (l->given_up)
		return lost > gained ? VERDICT_HURTS : VERDICT_NEUTRAL;
	if (m.pairs)
		return measured_verdict(&m);
	if (!r->elides || l->attempts < EVIDENCE_ATTEMPTS)
		return VERDICT_UNKNOWN;
	if (lost > gained)
		return VERDICT_HURTS;
	if (r->file->header.nr_threads < 2 || line_is_quiet(r, l))
		return VERDICT_NEUTRAL;
	if (percent(l->elided, l->acquired) >= 50 && 10 * lost <= gained)
		return VERDICT_PAYS;
	return VERDICT_NEUTRAL;
}
