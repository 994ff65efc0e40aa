/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * quick.h - the usual lock call in few instructions, for the wrappers.
 *
 * The thread knows the call, and is in no section of ours; the lock is free,
 * and elided or locked at once. An unlock call ends a section that is
 * one lock and nothing else. Whatever is not so is left to engine.h, which
 * knows every case: nothing may be done here that is not done there too.
 *
 * Between begin and commit it must never store to anything but the thread's
 * held list and list of pending calls; see acquire.c.
 */
#ifndef ELIDE_QUICK_H
#define ELIDE_QUICK_H

#include "../base/testpoint.h"
#include "engine.h"
#include "section.h"

#pragma GCC visibility push(hidden)

/**
 * struct elide_quick - a call that the thread knows.
 * @known: it does, and has no section open
 * @call: what the thread knows of the call
 * @way: enum elide_way; @way, @row, @adapt and @arm are copies of what @call has
 * @row: counters
 * @adapt: the thread's measurement of the class
 * @arm: arm of the site
 */
struct elide_quick {
	bool known;
	uint8_t way;
	struct elide_call *call;
	struct elide_row *row;
	struct adapt_thread *adapt;
	const uint8_t *arm;
};

/**
 * elide_quick() - does the thread know that call, and is it in no section?
 * @t: the calling thread, NULL if it has no block
 * @lock: address
 * @site: return address of the call
 * @kind: enum elide_kind
 *
 * The call is copied before the entry is compared. A signal handler may fork, which wipes the
 * block in the child: then either the entry does not fit, or the copy is whole. The call of an
 * empty entry is some place in the block.
 */
static __always_inline_fn struct elide_quick elide_quick(struct elide_thread *t, const void *lock,
							 const void *site, enum elide_kind kind)
{
	struct elide_quick q = {0};
	const struct elide_cache *entry;
	struct elide_call *call;

	if (unlikely(!t || t->open))
		return q;
	entry = elide_cache_slot(t, lock, site);
	call = (struct elide_call *)((char *)t + READ_ONCE(entry->call));
	q.call = call;
	q.row = READ_ONCE(call->row);
	q.adapt = READ_ONCE(call->adapt);
	q.arm = READ_ONCE(call->arm);
	q.way = READ_ONCE(call->way);
	barrier();
	q.known = likely(elide_cache_fits(entry, q.row, lock, site, kind));
	return q;
}

/**
 * elide_quick_refill() - the thread does not know that call: is the lock one of more than it
 * finds at once? Then it is as good as known.
 *
 * Parameters and what it returns are those of elide_quick().
 */
static __always_inline_fn struct elide_quick elide_quick_refill(struct elide_thread *t,
								const void *lock, const void *site,
								enum elide_kind kind)
{
	if (likely(t && !t->open && elide_cache_refill(t, lock, site, kind)))
		return elide_quick(t, lock, site, kind);
	return (struct elide_quick){0};
}

/**
 * elide_quick_acquire() - do as the way of the call says, and try to elide if that is the arm.
 * @t: the calling thread
 * @q: the call, which waits until it has the lock
 * @word: lock word
 * @rule: when it is free; a constant, so that the compiler knows it
 * @site: return address of the call
 * @kind: enum elide_kind
 * @status: where it has to go on from: elide_acquire_counted()
 *
 * Return: ELIDE_ELIDED; ELIDE_SKIPPED: lock, the call or its arm says so;
 * ELIDE_FELL_BACK: go on with elide_acquire_counted(); ELIDE_NOTHING_DONE: nothing has been done, go
 * the long way.
 */
static __always_inline_fn enum elide_outcome
elide_quick_acquire(struct elide_thread *t, struct elide_quick q, const void *word,
		    struct elide_rule rule, const void *site, enum elide_kind kind,
		    unsigned int *status)
{
	uint64_t value;
	uint8_t arm;

	if (unlikely(q.way != ELIDE_WAY_ELIDE))
		return q.way == ELIDE_WAY_SHORT ? ELIDE_SKIPPED : ELIDE_NOTHING_DONE;
	arm = READ_ONCE(*q.arm);
	if ((uint8_t)(arm - 1) >= POLICY_ARM_probe) {
		if (unlikely(arm))
			return ELIDE_NOTHING_DONE; /* it waits for its turn first */
		return likely(--q.adapt->countdown) ? ELIDE_SKIPPED : ELIDE_NOTHING_DONE;
	}
	if (unlikely(!is_free(word, &rule, &value) || rtm_test()))
		return ELIDE_NOTHING_DONE;
	if (unlikely(!--q.adapt->countdown))
		return ELIDE_NOTHING_DONE; /* which finds it at 0 */
	*status = RTM_STARTED;
	if (unlikely(!--t->time_countdown))
		return ELIDE_FELL_BACK;
	test_point(enter);
	prepare(t, q.row, word, &rule, site, kind, true);
	test_point(prepared);
	*status = rtm_begin();
	if (unlikely(*status != RTM_STARTED))
		return ELIDE_FELL_BACK;
	subscribe(t, q.row, word, &rule, site, kind, true, true);
	return ELIDE_ELIDED;
}

/**
 * elide_quick_release() - end a section that is this one lock.
 * @t: the calling thread, NULL if it has no block
 * @word: lock word, of 4 bytes
 *
 * Return: false if it is not, or there is more to be done at its end.
 */
static __always_inline_fn bool elide_quick_release(struct elide_thread *t, const void *word)
{
	struct elide_row *row;

	if (t->open != ELIDE_OPEN_ONE || t->held[0].word != word)
		return false;
	row = t->outermost.row;
	test_point(release);
	if (read_word(word, 4) != t->held[0].value)
		rtm_abort(ELIDE_CODE_changed);
	test_point(compared);
	t->open = 0;
	t->outermost.what = 0;
	test_point(commit);
	rtm_end();
	test_point(committed);
	counter_add(row->commits, 1);
	return true;
}

#pragma GCC visibility pop

#endif
