/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * count.h - counts acquisitions that lock, fail or are released without elision.
 *
 * What to count is found out before the lock is locked, as other threads wait for it afterwards.
 */
#ifndef ELIDE_COUNT_H
#define ELIDE_COUNT_H

#include <errno.h>

#include "section/locked.h"
#include "state/settings.h"

/* A trylock or a timed call has found the lock held, and has not got it. Returns @err. */
int count_failed(struct elide_row *row, int err);

/* count_failed() after elide_try(). @call: the call, if it was known before */
static inline int count_failed_try(const struct elide_call *call, struct elide_row *row, int err)
{
	if (likely(call))
		elide_not_acquired(call);
	return count_failed(row, err);
}

/* Has a trylock or a timed call failed because another thread holds the lock? */
static __always_inline_fn bool is_held_error(int err)
{
	return err == EBUSY || err == ETIMEDOUT;
}

/**
 * struct count - what to count for an acquisition that locks.
 * @counter: in its row; NULL: it is not counted
 * @more: it is sampled for its hold time, or watched
 */
struct count {
	uint64_t *counter;
	bool more;
};

static __always_inline_fn struct count count_begin(struct elide_row *row,
						   enum elide_outcome outcome)
{
	/*
	 * Not in a transaction of the program: the counters would be in its write set, and other threads'
	 * reads of them would abort it.
	 */
	if (READ_ONCE(elide_enabled) && rtm_test())
		return (struct count){NULL, false};
	return (struct count){
		.counter = likely(outcome == ELIDE_SKIPPED) ? &row->not_attempted : &row->fallback,
		.more = elide_hold_due(row),
	};
}

/*
 * The lock is locked.
 * @wait: the call would have waited for ever
 */
static __always_inline_fn void count_end(struct count count, struct elide_thread *t,
					 struct elide_row *row, const void *lock, bool wait)
{
	if (unlikely(!count.counter))
		return;
	counter_add(*count.counter, 1);
	if (unlikely(count.more || t->found_held))
		elide_locked_more(t, row, lock, wait);
}

/* count_begin() and count_end(), if the lock is locked already. */
static __always_inline_fn void count_locked(struct elide_thread *t, struct elide_row *row,
					    const void *lock, enum elide_outcome outcome, bool wait)
{
	count_end(count_begin(row, outcome), t, row, lock, wait);
}

/*
 * count_locked() for the short way, where no attempt was made. Not counter_add(): signal handlers must not
 * make these calls, so no other count can come in between. Returns 0.
 */
static __always_inline_fn int count_short(struct elide_thread *t, struct elide_row *row,
					     const void *lock)
{
	bool more = elide_hold_due(row);

	row->not_attempted++;
	return unlikely(more) ? elide_short_more(t, row, lock) : 0;
}

/*
 * Does the thread hold locks of a kind that it counts? Then count one less. The subtraction itself answers,
 * in fewer instructions than a comparison before it.
 */
static __always_inline_fn bool held_less(uint32_t *nr)
{
	if (likely((int32_t)--*nr >= 0))
		return true;
	*nr = 0;
	return false;
}

#endif
