/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * cond.h - sections that wait for a condition variable, which no attempt can elide.
 */
#ifndef ELIDE_ADAPT_COND_H
#define ELIDE_ADAPT_COND_H

#include "../state/thread.h"

#pragma GCC visibility push(hidden)

/**
 * adapt_call_of() - find the lock call of a condition variable's mutex.
 * @t: the calling thread, outside transactions of ours
 * @lock: the mutex; only its address is used
 *
 * Return: NULL if by several, or by one that the policy does not decide about.
 */
struct elide_call *adapt_call_of(struct elide_thread *t, const void *lock);

/**
 * adapt_cond_wait() - count a locked section that waits for a condition variable.
 * @call: that of adapt_call_of()
 *
 * An elided section aborts there: a site where most sections wait is not probed.
 */
static inline void adapt_cond_wait(struct elide_call *call)
{
	if (call->waits < UINT16_MAX)
		call->waits++;
}

/**
 * adapt_may_probe() - may the call be probed? Called before each probe.
 * @call: the call
 * @row: its counters
 *
 * Return: false if more than half of its locked sections have waited for a condition variable since
 * the last call of this function.
 */
bool adapt_may_probe(struct elide_call *call, const struct elide_row *row);

#pragma GCC visibility pop

#endif
