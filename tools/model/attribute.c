// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * attribute.c - what a row cost, and whether eliding it pays. What to do about
 * it is in advice.c.
 *
 * Must never judge without a measurement: then the verdict is unknown.
 */
#include <math.h>

#include "../base/text.h"
#include "../base/unseen.h"
#include "../names/names.h"
#include "attribute.h"
#include "columns.h"

const struct cause_text cause_texts[ELIDE_NR_CAUSES] = {
#define ELIDE_CAUSE(id, code, column, help, advice) {#id, COLUMN_##column, help, advice},
#include "../../lib/aborts.def"
#undef ELIDE_CAUSE
};

const char *verdict_name(enum verdict v)
{
	static const char *const names[] = {
#define ELIDE_VERDICT(ID, word, colour) [VERDICT_##ID] = word,
#include "verdicts.def"
#undef ELIDE_VERDICT
	};

	return names[v];
}

static double mean(const struct elide_times *t)
{
	return t->count ? (double)t->total / (double)t->count : 0;
}

double line_failed(const struct report *r, const struct line *l)
{
	return r->total.sum.failed ? (double)l->sum.failed : NAN;
}

int line_counts_all(const struct line *l)
{
	return !elide_kind_is_futex(l->kind);
}

double line_acquired(const struct line *l)
{
	return line_counts_all(l) ? (double)l->acquired : NAN;
}

double line_cont(const struct line *l)
{
	return line_counts_all(l) ? percent(l->sum.contended, l->acquired) : NAN;
}

double line_parked(const struct report *r, const struct line *l)
{
	return r->total.sum.parked ? (double)l->sum.parked : NAN;
}

const char *line_crowd(const struct line *l)
{
	return l->state == ELIDE_STATE_LOCKING || l->state == ELIDE_STATE_RESTRICTED ?
		       state_name(l->state) : UNKNOWN_CELL;
}

double line_avg_wait(const struct line *l)
{
	return l->sum.wait.count ? mean(&l->sum.wait) : NAN;
}

double line_waiting(const struct report *r, const struct line *l)
{
	return r->thread_ns > 0 && r->cycles ? 100 * report_ns(r, (double)l->sum.wait.total) / r->thread_ns : NAN;
}

double line_quantile(const struct line *l, double q)
{
	return l->sum.wait.count ? bins_quantile(l->sum.wait_bins, l->sum.wait.min, l->sum.wait.max, q) : NAN;
}

double line_max_wait(const struct line *l)
{
	return l->sum.wait.count ? (double)l->sum.wait.max : NAN;
}

double line_avg_hold(const struct line *l)
{
	const struct elide_holds *h = &l->sum.hold;
	uint64_t locked = l->sum.not_attempted + l->sum.fallback, weight = h->weight + h->exact;

	if (!h->count || !weight)
		return NAN;
	return locked ? l->held / (double)locked : (double)(h->total + h->exact_total) / (double)weight;
}

static double mean_hold(const struct line *l)
{
	double avg = line_avg_hold(l);

	return isnan(avg) ? 0 : avg;
}

struct elide_times line_hold_times(const struct line *l)
{
	const struct elide_holds *h = &l->sum.hold;

	return (struct elide_times){h->count, (uint64_t)l->held, h->min, h->max};
}

double line_hold(const struct line *l)
{
	return l->sum.hold.count ? l->held : NAN;
}

void bins_add(uint64_t *to, const uint64_t *bins)
{
	for (int i = 0; i < ELIDE_NR_BINS; i++)
		to[i] += bins[i];
}

double bins_quantile(const uint64_t *bins, uint64_t min, uint64_t max, double q)
{
	double all = 0, before = 0, v = NAN;

	for (int i = 0; i < ELIDE_NR_BINS; i++)
		all += (double)bins[i];
	for (int i = 0; i < ELIDE_NR_BINS && all > 0; i++) {
		if (!bins[i] || before + (double)bins[i] < q * all) {
			before += (double)bins[i];
			continue;
		}
		v = exp2(i + ELIDE_BIN_SHIFT + (q * all - before) / (double)bins[i]);
		break;
	}
	/* After a reset minimum and maximum are still those since the start. */
	if (min <= max)
		v = fmin(fmax(v, (double)min), (double)max);
	return all > 0 ? v : NAN;
}

/* One lock that excludes all others is held for no more than the run, whatever samples say. */
static double share(const struct report *r, double held, uint64_t nr_locks, unsigned int kind)
{
	double percent = r->cycles ? 100 * held / (double)r->cycles : NAN;

	return nr_locks == 1 && kind != ELIDE_KIND_RWLOCK_READ && percent > 100 ? 100 : percent;
}

double line_held(const struct report *r, const struct line *l)
{
	return share(r, line_hold(l), l->nr_locks, l->kind);
}

/* See line_cost(). */
#define IDLE_PART 100
/* Threads that wait there themselves end at least this share of the time waited. */
#define PEERS_SHARE 0.5
/*
 * Fewer waits than this are no sharing: a background thread may wait once or twice for as long as the
 * program runs, until a thread ends that wait which waited there at its start.
 */
#define PEERS_WAITS 16

/* Is it a semaphore or condition variable by which threads share a resource? */
static int line_is_shared_out(const struct line *l)
{
	return (l->kind == ELIDE_KIND_COND || l->kind == ELIDE_KIND_SEM || l->kind == ELIDE_KIND_FUTEX) &&
	       l->sum.contended >= PEERS_WAITS && l->peers >= PEERS_SHARE;
}

/*
 * The cost of a row is the sum of the cycles spent in aborted attempts, the cycles spent waiting
 * for the lock and, for each fallback, the mean hold time: while a thread holds the lock, the
 * other threads abort or wait. An acquisition that the policy did not attempt because the call
 * site cannot be elided costs what the attempts at that site cost on average, and a fallback.
 *
 * A wait for a condition variable, a semaphore or a barrier costs its time only where the threads wait
 * for each other, as for a unit of a resource: threads that wait for others to give them work may be
 * an idle pool. Such rows come after each lock that threads waited for longer than
 * 1 / IDLE_PART of the run, and before the others. So do waits for the mutex after a wait for a
 * condition variable: unless the mode is profile, they include an unknown scheduling delay.
 */
double line_cost(const struct report *r, const struct line *l)
{
	uint64_t attempted = l->acquired - l->sum.not_attempted;
	double wasted = attempted ? (double)l->sum.wasted_cycles / (double)attempted : 0;

	if (!elide_kind_is_lock(l->kind) && l->kind != ELIDE_KIND_FUTEX_LOCK && !line_is_shared_out(l))
		return fmin((double)l->sum.wait.total, (double)r->cycles / IDLE_PART);
	return (double)l->sum.wasted_cycles + (double)l->sum.wait.total +
	       (double)l->sum.fallback * mean_hold(l) + (double)l->given_up * (wasted + mean_hold(l));
}

/*
 * Per cent of the run. A class whose locks were held for less than this share of it counts as
 * uncontended, if no thread waited for them and no transaction conflicted.
 */
#define QUIET_SHARE 10
/* A class with fewer acquisitions than this is never called uncontended. */
#define QUIET_ACQUIRED 64
/* Aborts that other threads caused do not count below one in QUIET_ATTEMPTS attempts. */
#define QUIET_ATTEMPTS 100

static double held_percent(const struct report *r, uint32_t class_index)
{
	const struct class_use *use = &r->uses[class_index];
	const struct elide_class *class = &r->file->classes[class_index];

	if (!use->hold_weight || !r->cycles)
		return -1;
	/* Elided ones would hold it as long. */
	return share(r, use->commits ? (double)use->hold_total / (double)use->hold_weight * (double)use->acquired :
				       use->held, class->nr_locks, class->kind);
}

double line_held_percent(const struct report *r, const struct line *l)
{
	return held_percent(r, l->sum.class_index);
}

static int has_one_thread(const struct report *r, uint32_t class_index)
{
	return r->file->header.nr_threads < 2 || !r->file->classes[class_index].nr_shared;
}

int line_has_one_thread(const struct report *r, const struct line *l)
{
	return has_one_thread(r, l->sum.class_index);
}

void class_conflicts(struct class_use *use, const struct sum *s)
{
	uint64_t others = s->by_column[COLUMN_CONFL] + s->by_column[COLUMN_BUSY];
	uint64_t attempts = s->commits;

	for (int i = 0; i < NR_CAUSE_COLUMNS; i++)
		attempts += s->by_column[i];
	use->conflicts |= others * QUIET_ATTEMPTS > attempts;
}

/*
 * The locks of a class are uncontended if no thread waited for them, no trylock failed, no
 * transaction conflicted, and either each lock is used by one thread only, or the locks were held for
 * less than QUIET_SHARE per cent of the run, or nothing was elided, so that every wait was counted.
 */
int class_is_quiet(const struct report *r, uint32_t class_index)
{
	const struct class_use *use = &r->uses[class_index];
	double held = held_percent(r, class_index);

	if (use->acquired < QUIET_ACQUIRED || use->contended || use->failed || use->conflicts)
		return 0;
	return has_one_thread(r, class_index) || !use->commits || (held >= 0 && held < QUIET_SHARE);
}

int line_is_quiet(const struct report *r, const struct line *l)
{
	return l->acquired >= QUIET_ACQUIRED && l->quiet == l->acquired;
}

/* No verdict is given on fewer attempts than this. Chosen. */
#define EVIDENCE_ATTEMPTS 64

/* Numbers of the arms. */
enum {
#define ELIDE_ARM(id, conflict, busy, capacity, other, patience, help) ARM_##id,
#include "../../lib/arms.def"
#undef ELIDE_ARM
};

/* All arms but "real" and "restrict" elide. */
static int locks(unsigned int arm)
{
	return arm == ARM_real || arm == ARM_restrict;
}

int event_is_unelidable(const struct elide_event *e)
{
	return e->type == ELIDE_EVENT_PAUSED && !e->pairs && !e->a && e->site && !e->lock;
}

static int is_about(const struct elide_event *e, const struct line *l)
{
	return e->pairs && !e->lock && e->class_index == l->sum.class_index && l->nr_classes == 1 &&
	       locks(e->arm) != locks(e->before);
}

static struct measured measured_by(const struct elide_event *e)
{
	return (struct measured){
		.gain = exp((locks(e->arm) ? -e->ratio : e->ratio) / 1000.0) - 1,
		.confidence = e->confidence / 1000.0,
		.pairs = e->pairs,
	};
}

struct measured line_measured_last(const struct report *r, const struct line *l)
{
	const struct elide_event *last = NULL;

	for (size_t i = 0; i < r->file->nr_events; i++) {
		const struct elide_event *e = &r->file->events[i];

		if (is_about(e, l) && (!last || e->time >= last->time))
			last = e;
	}
	return last ? measured_by(last) : (struct measured){0};
}

/*
 * A gain below TELLING_GAIN (a fraction), or one whose sign is right with a probability below
 * SURE, counts as no difference.
 */
#define TELLING_GAIN 0.01
#define SURE         0.9

/* The least share of elided acquisitions, in per cent, with which eliding can pay. */
#define PAYS_SHARE 1

static enum verdict measured_verdict(const struct measured *m, int quiet)
{
	if (m->confidence < SURE || fabs(m->gain) < TELLING_GAIN)
		return VERDICT_NEUTRAL;
	return m->gain < 0 ? VERDICT_HURTS : quiet ? VERDICT_NEUTRAL : VERDICT_PAYS;
}

/* The cycles from an event to a later time. */
static uint64_t until(const struct elide_event *e, uint64_t time)
{
	return time > e->time ? time - e->time : 0;
}

struct measured line_measured(const struct report *r, const struct line *l)
{
	/* By the verdict on the event: the last event, and the time for which such events were the latest. */
	struct {
		const struct elide_event *last;
		uint64_t held;
	} of[VERDICT_HURTS + 1] = {0};
	enum verdict now = VERDICT_UNKNOWN, longest;
	struct measured m;

	/* Comparisons are of the acquisitions outside of transactions. */
	if (2 * l->sum.nested > l->acquired)
		return (struct measured){0};
	for (size_t i = 0; i < r->file->nr_events; i++) {
		const struct elide_event *e = &r->file->events[i];

		if (!is_about(e, l))
			continue;
		if (of[now].last)
			of[now].held += until(of[now].last, e->time);
		m = measured_by(e);
		now = measured_verdict(&m, 0);
		of[now].last = e;
	}
	if (!of[now].last)
		return (struct measured){0};
	of[now].held += until(of[now].last, r->file->header.end_cycles);
	longest = now;
	for (int v = 0; v <= VERDICT_HURTS; v++)
		if (of[v].held > of[longest].held)
			longest = v;
	return measured_by(of[longest].last);
}

/*
 * A row whose threads waited for this share of the run, in per cent, is a bottleneck: on average
 * one thread in ten is always waiting there.
 */
#define BOTTLENECK_SHARE 10
/* A lock that is held for this share of the run, in per cent, is busy. */
#define BUSY_SHARE 10

/* Is the call one of the Java VM? */
static int is_in_java(const struct report *r, const struct line *l)
{
	struct place p = {0};

	if (r->symbols)
		symbolize_object(r->symbols, l->sum.site - 1, &p);
	return p.object && unseen_of_library(base_name(p.object)) == UNSEEN_BIT(java);
}

static enum verdict others_verdict(const struct report *r, const struct line *l)
{
	if (is_in_java(r, l))
		return VERDICT_JAVA;
	return l->kind == ELIDE_KIND_BARRIER || (l->sum.contended && l->peers < 0) ? VERDICT_OTHERS : VERDICT_WORK;
}

/*
 * The verdict on a row that was only profiled, and on one of a kind that is not a lock:
 *
 *   waits for work     threads waited or timed out at a condition variable or semaphore, mostly for
 *                      threads that do not wait there themselves
 *   waits for others   threads waited at a barrier, or it is not known for whom
 *   in the Java VM     both where the VM waits: Java's monitors and locks are among them
 *
 * A mutex that is locked again after a wait for a condition variable is contended or idle. A lock that is made of a
 * futex is a bottleneck or contended.
 *   bottleneck         the sum of the waits is at least BOTTLENECK_SHARE per cent of the run
 *   contended          some acquisitions waited, or some tries failed
 *   makes others wait  none did, but others waited for locks that were locked there
 *   busy, uncontended  none did, though the locks are held for BUSY_SHARE per cent of the run
 *   idle               none did, and they are held for less
 *   unknown            none did, and for how long they are held is not known
 */
static enum verdict profile_verdict(const struct report *r, const struct line *l)
{
	double held = line_held(r, l);

	if (l->kind == ELIDE_KIND_REACQUIRE)
		return l->sum.contended ? VERDICT_CONTENDED : VERDICT_IDLE;
	if (!elide_kind_is_lock(l->kind) && l->kind != ELIDE_KIND_FUTEX_LOCK && !line_is_shared_out(l) &&
	    (l->sum.contended || l->sum.failed))
		return others_verdict(r, l);
	if (r->cycles && 100.0 * (double)l->sum.wait.total >=
				 BOTTLENECK_SHARE * (double)r->cycles)
		return VERDICT_BOTTLENECK;
	if (l->sum.contended || l->sum.failed)
		return VERDICT_CONTENDED;
	if (!elide_kind_is_lock(l->kind))
		return VERDICT_IDLE;
	if (l->blocks)
		return VERDICT_BLOCKS;
	if (isnan(held))
		return VERDICT_UNKNOWN;
	return held >= BUSY_SHARE ? VERDICT_BUSY : VERDICT_IDLE;
}

/*
 * Does eliding pay? If the adaptive policy has compared elision with the lock, its result is the
 * verdict; of several results the one that held for the longest time, as the verdict is on the whole run,
 * while the state is the last one. That result is the class's, of acquisitions outside of transactions: see
 * line_measured(). For a call site that the policy has given up, the attempts at that site decide instead.
 * Without a comparison the verdict is computed from this run alone:
 *
 *   gained  elided acquisitions * mean hold time: the time for which the lock would have been
 *           held
 *   lost    cycles in aborted attempts
 *
 * If no hold time was measured, both are counted in sections: an aborted attempt has run through
 * one section at most.
 *
 *   hurts    lost > gained, of EVIDENCE_ATTEMPTS attempts at least
 *   neutral  the lock is uncontended: no thread could have used the time gained. This is a
 *            property of the lock: it holds whether or not the lock was elided, and whatever a
 *            comparison found
 *   unknown  not elided, or fewer than EVIDENCE_ATTEMPTS attempts
 *   pays     at least half of the acquisitions elided, and lost at most a tenth of gained
 *   neutral  otherwise
 */
enum verdict line_verdict(const struct report *r, const struct line *l)
{
	int measured = !isnan(line_avg_hold(l));
	double gained = (double)l->elided * (measured ? mean_hold(l) : 1);
	double lost = measured ? l->sum.wasted_cycles : l->aborts;
	struct measured m = line_measured(r, l);
	int quiet = line_is_quiet(r, l), judged = l->attempts >= EVIDENCE_ATTEMPTS;

	if (!r->elides || !elide_kind_is_lock(l->kind))
		return profile_verdict(r, l);
	if (l->given_up)
		return lost > gained ? VERDICT_HURTS : VERDICT_NEUTRAL;
	/* Where next to nothing is elided, the gain was measured but not made. */
	if (m.pairs && measured_verdict(&m, quiet) == VERDICT_PAYS &&
	    percent(l->elided, l->acquired) < PAYS_SHARE)
		return VERDICT_NEUTRAL;
	if (m.pairs)
		return measured_verdict(&m, quiet);
	if (judged && lost > gained)
		return VERDICT_HURTS;
	if (quiet)
		return VERDICT_NEUTRAL;
	if (!judged)
		return VERDICT_UNKNOWN;
	if (r->file->header.nr_threads < 2)
		return VERDICT_NEUTRAL;
	if (percent(l->elided, l->acquired) >= 50 && 10 * lost <= gained)
		return VERDICT_PAYS;
	return VERDICT_NEUTRAL;
}
