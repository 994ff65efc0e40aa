/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * measure.c - see measure.h. policy/pace.c decides when a thread flushes next.
 */
#include "../policy/pace.h"
#include "../rtm.h"
#include "../state/call.h"
#include "../state/random.h"
#include "../state/settings.h"
#include "cond.h"
#include "measure.h"

/* The next event is after @nr sections from now. */
static void next_event(struct adapt_thread *adapt, uint32_t nr)
{
	WRITE_ONCE(adapt->goal, adapt_completed(adapt) + nr);
	WRITE_ONCE(adapt->countdown, nr);
}

/* The thread's next flush comes after @nr sections. */
static void count_down(struct adapt_thread *adapt, uint32_t nr)
{
	adapt->nr = nr;
	adapt->due = adapt_completed(adapt) + nr;
	next_event(adapt, nr);
}

/* The attempt to come is timed; it is an event, and so is the one after a random number. */
static void time_attempt(struct elide_thread *t, struct adapt_thread *adapt)
{
	uint64_t left = adapt->due - adapt_completed(adapt);
	uint32_t nr = elide_random_period(t, ELIDE_TIME_PERIOD);

	if (left < nr)
		nr = left;
	t->time_weight = nr;
	next_event(adapt, nr);
}

struct adapt_thread *adapt_place(struct elide_thread *t, uint32_t adapt_nr)
{
	struct adapt_thread *adapt;
	struct elide_more *more;
	uint32_t nr;

	for (adapt = t->first_adapts; adapt < &t->first_adapts[ELIDE_FIRST_ADAPTS]; adapt++) {
		nr = READ_ONCE(adapt->adapt_nr);
		if (!nr || nr == adapt_nr)
			return adapt;
	}
	more = READ_ONCE(t->more);
	if (!more)
		return NULL;
	/* A thread has at most ELIDE_MAX_CALLS of them, so a free entry is left. */
	for (uint32_t i = adapt_nr;; i++) {
		adapt = &more->adapts[i % ELIDE_NR_HASH];
		nr = READ_ONCE(adapt->adapt_nr);
		if (!nr || nr == adapt_nr)
			return adapt;
	}
}

static struct adapt_thread *adapt_thread_of(struct elide_thread *t, uint32_t adapt_nr)
{
	struct adapt_thread *adapt = adapt_place(t, adapt_nr);

	if (!adapt)
		adapt = elide_more(t) ? adapt_place(t, adapt_nr) : NULL;
	if (!adapt)
		return NULL;
	if (!adapt->adapt_nr) {
		adapt->adapt_nr = adapt_nr;
		count_down(adapt, 1);
	}
	return adapt;
}

void adapt_attach(struct elide_thread *t, struct elide_call *call)
{
	const struct elide_row *row = call->row;
	uint32_t hot = elide_tag_hot(elide_call_tag(call));
	struct adapt_class *p = hot ? adapt_hotlock(hot) : adapt_class_of(row->class_index);
	struct adapt_thread *adapt = adapt_thread_of(t, p - adapt_classes);

	/* Without memory for its measurement the call stays unmeasured. */
	if (unlikely(!adapt))
		return;
	call->adapt_nr = p - adapt_classes;
	call->adapt = adapt;
	call->site = adapt_site_of(p, elide_call_key((const void *)row->site, row->kind));
}

static void adapt_begin_again(struct adapt_thread *adapt)
{
	adapt->start = 0;
	count_down(adapt, 1);
}

void adapt_thread_begin(struct elide_thread *t)
{
	if (!t->nr_calls)
		return; /* a page that was never written is not written here */
	for (uint32_t i = 0; i < ELIDE_FIRST_ADAPTS; i++)
		if (t->first_adapts[i].adapt_nr)
			adapt_begin_again(&t->first_adapts[i]);
	/* Without the last of the first ones there are no further ones. */
	for (uint32_t i = 0; t->more && t->first_adapts[ELIDE_FIRST_ADAPTS - 1].adapt_nr &&
			     i < ELIDE_NR_HASH; i++)
		if (t->more->adapts[i].adapt_nr)
			adapt_begin_again(&t->more->adapts[i]);
	for (uint32_t nr = 1; nr <= t->nr_calls; nr++)
		elide_call_at(t, nr)->streak = elide_call_at(t, nr)->probing = 0;
}

/* Pass the outcome of the thread's last probe on, if there was one. Return: begin another probe. */
static bool probe(struct adapt_class *p, struct elide_call *call, const struct elide_row *row,
		  uint64_t now)
{
	bool due = false;

	if (!policy_arm_locks(READ_ONCE(p->settled[call->site])) || !adapt_class_try_lock(p))
		return false;
	if (call->probing) {
		call->probing = 0;
		if (learn_probed(&p->learn, call->site,
				 (uint32_t)row->commits != call->commits ? LEARN_PASSED : LEARN_UNSURE, now))
			adapt_class_publish(p);
	}
	if (!call->probing && learn_probe(&p->learn, call->site, now)) {
		call->probing = due = adapt_may_probe(call, row);
		call->commits = row->commits;
		if (!due)
			learn_probed(&p->learn, call->site, LEARN_FAILED, now);
	}
	adapt_class_unlock(p);
	return due;
}

/* The lock is not acquired yet: if the thread is known to hold one, the site acquires under another lock. */
static void note_inside(const struct elide_thread *t, struct adapt_class *p,
			const struct elide_call *call)
{
	if (likely(!(t->nr_holds || t->due.lock || t->nr_spins || t->nr_rwlocks)) ||
	    READ_ONCE(p->inside) >> call->site & 1)
		return;
	__atomic_fetch_or(&p->inside, 1u << call->site, __ATOMIC_RELAXED);
}

/* How the call locks. @contended: it has found locks held since the last flush */
static enum learn_locks locks(const struct adapt_class *p, const struct elide_call *call,
			      bool contended)
{
	if (!(READ_ONCE(p->dormant) >> call->site & 1))
		return LEARN_LOCKS_NOT;
	if (READ_ONCE(p->inside) >> call->site & 1)
		return LEARN_LOCKS_INSIDE;
	return contended ? LEARN_LOCKS_HELD : LEARN_LOCKS_FREE;
}

/* Read the clock and flush. Return: the time. */
static uint64_t flush(struct adapt_class *p, struct adapt_thread *adapt, struct elide_call *call,
		       const struct elide_row *row)
{
	uint64_t now = adapt_now(), elapsed = now - adapt->start;
	uint32_t nr = FLUSH_TIMES, contended;

	contended = (uint32_t)row->contended - call->contended;
	if (contended) {
		__atomic_add_fetch(&p->waits, contended, __ATOMIC_RELAXED);
		call->contended += contended;
	}
	if (!adapt->start)
		__atomic_add_fetch(&p->joined, 1, __ATOMIC_RELAXED);
	else if (elapsed < ABSURD)
		nr = learn_count(adapt->nr, elapsed, READ_ONCE(p->interval),
				 locks(p, call, contended));
	count_down(adapt, nr);
	if (adapt->start)
		adapt_flushed(p, adapt, now);
	adapt->start = now;
	return now;
}

/*
 * May the call be dormant until adapt_wake()? Not where the countdown is shorter than the
 * acquisitions until then.
 */
static bool may_sleep(const struct adapt_class *p, const struct elide_call *call,
		     const struct adapt_thread *adapt, const struct elide_row *row)
{
	/* No hold time is measured of custom locks, so nothing would wake their calls. */
	return READ_ONCE(p->dormant) >> call->site & 1 && elide_short_way() &&
	       elide_hold_period && adapt->nr >= elide_hold_period && row->kind != ELIDE_KIND_CUSTOM;
}

static void set_dormant(const struct elide_thread *t, struct elide_call *call,
		 const struct elide_row *row, bool dormant)
{
	elide_call_set_way(call, dormant ? ELIDE_WAY_DORMANT : elide_way(t, row), adapt_arm_of(call));
}

/* What the report calls a site with that incumbent. */
static enum elide_row_state state_of(enum policy_arm_name arm)
{
	if (arm == POLICY_ARM_restrict)
		return ELIDE_STATE_RESTRICTED;
	if (arm != POLICY_ARM_real)
		return ELIDE_STATE_ELIDING;
	return elide_process.mode == ELIDE_RUN_RESTRICT ? ELIDE_STATE_LOCKING : ELIDE_STATE_PAUSED;
}

/* No flush is due, or it is already made. Return: the arm; where that locks nothing is timed. */
static enum policy_arm_name next_attempt(struct elide_thread *t, struct adapt_thread *adapt,
					 const struct elide_call *call)
{
	enum policy_arm_name arm = adapt_arm_now(call);

	if (policy_arm_locks(arm))
		next_event(adapt, adapt->due - adapt_completed(adapt));
	else
		time_attempt(t, adapt);
	return arm;
}

/* The countdown is over: flush. */
static enum policy_arm_name ask(struct elide_thread *t, struct elide_call *call)
{
	struct adapt_class *p = &adapt_classes[call->adapt_nr];
	struct adapt_thread *adapt = READ_ONCE(call->adapt);
	struct elide_row *row = READ_ONCE(call->row);
	uint64_t now;

	if (unlikely(!row || !adapt))
		return POLICY_ARM_real; /* a handler has forked, and this is the child */
	/* In a transaction of the program's own: flush at the next acquisition. */
	if (READ_ONCE(elide_enabled) && rtm_test()) {
		count_down(adapt, 1);
		return POLICY_ARM_real;
	}
	if (adapt_completed(adapt) < adapt->due)
		return next_attempt(t, adapt, call);
	note_inside(t, p, call);
	now = flush(p, adapt, call, row);
	if (!elide_tag_hot(elide_call_tag(call)))
		WRITE_ONCE(row->state, state_of(READ_ONCE(p->settled[call->site])));
	set_dormant(t, call, row, !call->probing && may_sleep(p, call, adapt, row));
	if (probe(p, call, row, now)) {
		set_dormant(t, call, row, false);
		count_down(adapt, 1);
		return POLICY_ARM_probe;
	}
	return next_attempt(t, adapt, call);
}

enum policy_arm_name adapt_arm(struct elide_thread *t, struct elide_call *call)
{
	struct adapt_thread *adapt = READ_ONCE(call->adapt);

	/* The wrapper may have counted it already, but only if it was the last. */
	if (unlikely(!adapt || !adapt->countdown || !--adapt->countdown))
		return ask(t, call);
	return adapt_arm_now(call);
}

__cold void adapt_wake(struct elide_thread *t, struct elide_call *call, uint32_t nr)
{
	struct adapt_class *p = &adapt_classes[call->adapt_nr];
	struct adapt_thread *adapt = READ_ONCE(call->adapt);
	const struct elide_row *row = READ_ONCE(call->row);
	uint64_t now, done;

	if (unlikely(!row || !adapt))
		return; /* a handler has forked, and this is the child */
	done = adapt_completed(adapt) + nr;
	WRITE_ONCE(adapt->goal, done);
	WRITE_ONCE(adapt->countdown, 0);
	if (done < adapt->due && READ_ONCE(p->dormant) >> call->site & 1) {
		next_event(adapt, adapt->due - done);
	} else {
		now = flush(p, adapt, call, row);
		/* The site is unelidable, and a probe is due: the next acquisition may be one. */
		if (learn_due(&p->learn, call->site, now)) {
			count_down(adapt, 1);
			set_dormant(t, call, row, false);
			return;
		}
	}
	set_dormant(t, call, row, may_sleep(p, call, adapt, row));
}
