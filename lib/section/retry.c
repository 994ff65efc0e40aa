/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * retry.c - the usual abort: a conflict, after which the lock is free and there is budget left.
 *
 * The later the next attempt begins, the more sections of other threads have begun that conflict with it.
 * Here it begins after about 40 instructions, or the pause that policy_abort() would order. acquire.c
 * knows every case: nothing may be done here that is not done there too.
 *
 * Keeps the rule of transactions in state/thread.h.
 */
#include "../base/testpoint.h"
#include "../evidence/evidence.h"
#include "../state/random.h"
#include "../state/tunables.h"
#include "engine.h"
#include "section.h"

/* Would policy_cause() say that it is a conflict? */
static __always_inline_fn bool is_conflict(unsigned int status)
{
	return (status & (RTM_EXPLICIT | RTM_CAPACITY | RTM_CONFLICT)) == RTM_CONFLICT;
}

/* Does the arm with that code try again at once? */
static __always_inline_fn bool is_at_once(uint8_t code)
{
	return code < ELIDE_ARM_NOW && elide_process.at_once >> ELIDE_ARM_OF(code) & 1;
}

/*
 * May the next attempt begin? Only after a conflict, if the lock is free; not if watch() is due, and not
 * inside a locked section that is watched.
 */
static __always_inline_fn bool may_begin(const struct elide_thread *t,
					 const struct elide_call *call, const void *word,
					 const struct elide_rule *rule, unsigned int status)
{
	uint64_t value;

	return likely(is_conflict(status) &&
		      !t->in_locked && !watch_is_due(t) &&
		      is_free(word, rule, &value));
}

/* The pause after each conflict of the acquisition but the first. */
static __always_inline_fn void pause_after(struct elide_thread *t,
					   const struct policy_budget *budget,
					   unsigned int conflicts)
{
	uint32_t mean;

	if (likely(conflicts == 1))
		return;
	mean = policy_pause(&elide_process.config, budget, conflicts - 1);
	for (uint32_t n = elide_random_period(t, mean); n; n--)
		cpu_relax();
}

enum elide_outcome elide_acquire_retry(struct elide_thread *t, struct elide_call *call,
				       const void *word, const struct elide_rule *rule,
				       const struct elide_until *until, unsigned int status)
{
	struct adapt_thread *adapt = READ_ONCE(call->adapt);
	struct elide_row *row = READ_ONCE(call->row);
	uint8_t code = READ_ONCE(*call->arm);
	const struct policy_budget *budget;
	unsigned int conflicts = 0;

	/* There is no row or no measurement if a handler has forked, and this is the child. */
	if (unlikely(!is_at_once(code) || !row || !adapt))
		return elide_retry(t, call, word, rule, until, status, 0);
	budget = &elide_process.config.arms[ELIDE_ARM_OF(code)];
	while (conflicts < budget->conflict && may_begin(t, call, word, rule, status)) {
		test_point(aborted);
		if (elide_evidence)
			elide_conflict_seen(t, row, word, rule, status);
		else
			counter_add(row->causes[ELIDE_CAUSE_conflict], 1);
		counter_add(adapt->aborts, 1);
		t->streak++;
		pause_after(t, budget, ++conflicts);
		status = rtm_begin();
		if (likely(status == RTM_STARTED)) {
			subscribe(t, row, word, rule, true);
			return ELIDE_ELIDED;
		}
	}
	return elide_retry(t, call, word, rule, until, status, conflicts);
}
