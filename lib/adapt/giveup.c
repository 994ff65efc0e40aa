/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * giveup.c - acquisitions that cannot be elided: those of a site, or of one lock of a site.
 *
 * policy/probe.h decides when such a site is probed.
 *
 * Outside transactions only. Nothing here waits for another thread.
 */
#include "../policy/probe.h"
#include "../state/call.h"
#include "../state/settings.h"
#include "../state/thread-list.h"
#include "giveup.h"
#include "hotlock.h"

/* Aborts of the thread's attempts by that call that had no cause, whatever was found out later. */
static uint64_t without_cause(const struct elide_row *row)
{
	return row->causes[ELIDE_CAUSE_other] + row->causes[ELIDE_CAUSE_syscall] +
	       row->causes[ELIDE_CAUSE_fault] + row->causes[ELIDE_CAUSE_instruction] +
	       row->causes[ELIDE_CAUSE_interrupt] + row->causes[ELIDE_CAUSE_spurious];
}

__cold bool adapt_may_retry(struct elide_call *call, const struct elide_row *row,
			    const struct policy_attempts *try)
{
	if (try->other)
		return try->again;
	if (without_cause(row) > RETRY_FIRST + row->commits / RETRY_SHARE)
		return false;
	if (call->retry_skip) {
		call->retry_skip--;
		return false;
	}
	if (call->retry_failures)
		call->retry_failures--;
	return true;
}

/* An acquisition that had the further attempt falls back in spite of it. */
static void retry_failed(struct elide_call *call)
{
	unsigned int failures = call->retry_failures + 2;

	if (failures > RETRY_FAILURES_MAX)
		failures = RETRY_FAILURES_MAX;
	call->retry_failures = failures;
	call->retry_skip = (1u << (failures - 2)) - 1;
}

/* Do all threads together elide at the call's site, since this was last asked? With @p->lock. */
static bool is_elided_elsewhere(struct adapt_class *p, const struct elide_call *call)
{
	uint32_t commits = 0, fallbacks = 0;
	bool elided;

	for (struct elide_thread *t = elide_threads_all(); t; t = t->next)
		for (uint32_t nr = 1; nr <= t->nr_calls; nr++) {
			const struct elide_call *other = elide_call_at(t, nr);
			const struct elide_row *row = READ_ONCE(other->row);

			if (!row || other->adapt_nr != call->adapt_nr || other->site != call->site)
				continue;
			commits += READ_ONCE(row->commits);
			fallbacks += READ_ONCE(row->fallback);
		}
	elided = learn_elided(commits - p->commits[call->site],
			      fallbacks - p->fallbacks[call->site]);
	p->commits[call->site] = commits;
	p->fallbacks[call->site] = fallbacks;
	return elided;
}

void adapt_fell_back(struct elide_call *call, const void *lock, const struct policy_attempts *try)
{
	struct adapt_class *p = &adapt_classes[call->adapt_nr];
	struct learn_decision d = {.target = call->site, .arm = POLICY_ARM_real, .won = true};
	const struct elide_row *row = READ_ONCE(call->row);
	uint32_t number = (uintptr_t)lock >> 2;
	bool unelidable, hand;
	uint32_t others, credit;
	uint64_t now;

	if (unlikely(!row))
		return; /* a handler has forked, and this is the child */
	others = adapt_not_failed(row);
	if (try->again)
		retry_failed(call);
	if (!elide_tag_hot(elide_call_tag(call)) && call->adapt_nr)
		adapt_hotlock_blame(p, lock);
	if (!try->persistent) {
		call->streak = 0;
		return;
	}
	credit = (uint32_t)row->commits - call->commits;
	credit = credit > UNELIDABLE_CREDIT ? UNELIDABLE_CREDIT : credit;
	credit = credit + call->credit > UNELIDABLE_CREDIT ? UNELIDABLE_CREDIT : credit + call->credit;
	call->credit = credit ? credit - 1 : 0;
	call->streak = call->others == others && call->streak < 127 ? call->streak + 1 : 1;
	call->commits = row->commits;
	call->others = others;
	if (call->streak == 1 || call->failed != number)
		call->failed = call->streak == 1 ? number : 0;
	if (call->streak >= UNELIDABLE_ROW && call->failed && row->commits >= ELIDED_OTHERS &&
	    !elide_tag_hot(elide_call_tag(call)) && adapt_hotlock_split(p, lock)) {
		call->streak = 0;
		return;
	}
	hand = learn_hand_over_hand(row->causes[ELIDE_CAUSE_unelidable], row->commits);
	unelidable = (hand || (call->streak >= UNELIDABLE_ROW && !credit)) && !learn_is_shared(call->site);
	if (!(call->probing || unelidable) || !adapt_class_try_lock(p))
		return;
	now = adapt_now();
	if (unelidable && !hand && is_elided_elsewhere(p, call)) {
		call->credit = UNELIDABLE_AGAIN;
		unelidable = false;
	}
	if (call->probing)
		learn_probed(&p->learn, call->site, LEARN_FAILED, now);
	call->probing = 0;
	if (unelidable) {
		d.before = p->settled[call->site];
		d.made = learn_unelidable(&p->learn, call->site, now);
		adapt_class_publish(p);
	}
	adapt_class_unlock(p);
	if (d.made)
		adapt_class_log(p, &d);
}
