/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * giveup.h - acquisitions that fall back: sites and locks that cannot be elided.
 */
#ifndef ELIDE_GIVEUP_H
#define ELIDE_GIVEUP_H

#include "trial.h"

#pragma GCC visibility push(hidden)

/**
 * adapt_may_retry() - is a further attempt made after an abort without a cause?
 * @call: the call
 * @row: its counters
 * @try: the acquisition
 *
 * An interrupt is rare, and rarely comes twice; a system call of the section always does. None is made
 * where such aborts are frequent. If the acquisition falls back in spite of a further attempt, none is
 * made for the next 0 to 15 such aborts.
 */
bool adapt_may_retry(struct elide_call *call, const struct elide_row *row,
		     const struct policy_attempts *try);

/* Acquisitions that did not fall back: elided, or locked without an attempt. */
static inline uint64_t adapt_not_failed(const struct elide_row *row)
{
	return row->commits + row->not_attempted;
}

/**
 * adapt_aborted() - an attempt has aborted: set the budget for further ones.
 * @call: the call
 * @try: the acquisition; it gets the arm "probe", with fewer attempts, if the acquisition before it
 *       could not be elided, and one attempt more after an abort that may have been an interrupt
 * @cause: cause of the abort
 */
static __always_inline_fn void adapt_aborted(struct elide_call *call, struct policy_attempts *try,
					     enum elide_cause cause)
{
	const struct elide_row *row = READ_ONCE(call->row);
	struct adapt_thread *adapt = READ_ONCE(call->adapt);

	if (unlikely(!row || !adapt))
		return; /* a handler has forked, and this is the child */
	if (cause == ELIDE_CAUSE_conflict || cause == ELIDE_CAUSE_busy)
		counter_add(adapt->aborts, 1);
	/* If others have not failed since, the row has ended: section/retry.c is allowed again. */
	if (unlikely(call->streak) && call->others != (uint32_t)adapt_not_failed(row))
		call->streak = 0;
	if (unlikely(call->streak))
		try->arm = POLICY_ARM_probe;
	else if (unlikely(cause == ELIDE_CAUSE_other))
		try->again = adapt_may_retry(call, row, try);
}

/**
 * adapt_fell_back() - an acquisition falls back: count it for its site and for its lock.
 * @call: the call
 * @lock: its address
 * @try: the acquisition
 */
void adapt_fell_back(struct elide_call *call, const void *lock, const struct policy_attempts *try);

#pragma GCC visibility pop

#endif
