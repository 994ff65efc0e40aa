/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * quick.h - the usual lock call in few instructions, for the wrappers.
 *
 * The thread knows the call, and is in no section of ours; the lock is free,
 * and elided or taken really at once. An unlock call ends a section that is
 * one lock and nothing else. Whatever is not so is left to engine.h, which
 * knows every case: nothing may be done here that is not done there too.
 *
 * Between begin and commit it must never store to anything but the thread's
 * held list and list of pending calls; see elide.c.
 */
#ifndef ELIDE_QUICK_H
#define ELIDE_QUICK_H

#include "engine.h"
#include "point.h"
#include "section.h"

#pragma GCC visibility push(hidden)

/**
 * struct elide_quick - a call that the thread knows.
 * @mark: what it knows; NULL: it does not, or has a section open
 * @row: counters
 */
struct elide_quick {
	struct elide_mark *mark;
	struct elide_row *row;
};

/**
 * elide_quick() - does the thread know that call, and is it in no section?
 * @t: the calling thread, NULL if it has no block
 * @lock: address
 * @site: return address of the call
 * @kind: enum elide_kind
 */
static __always_inline_fn struct elide_quick elide_quick(struct elide_thread *t, const void *lock,
							 const void *site, enum elide_kind kind)
{
	const struct elide_quick none = {0};
	const struct elide_cache *entry;
	struct elide_quick q;

	if (unlikely(!t || t->open))
		return none;
	entry = elide_cache_slot(t, lock, site);
	if (unlikely(!elide_cache_fits(entry, lock, elide_cache_key(site, kind))))
		return none;
	/* A signal handler may fork: then the entry is wiped, and its mark with it. */
	q.mark = READ_ONCE(entry->mark);
	if (unlikely(!q.mark))
		return none;
	q.row = READ_ONCE(q.mark->row);
	return likely(q.row) ? q : none;
}

/**
 * elide_quick_acquire() - try to elide, where the way of the call is to ask the policy.
 * @t: the calling thread
 * @q: the call
 * @word: lock word
 * @rule: when it is free; a constant, so that the compiler knows it
 * @rule_at: the same for others
 * @site: return address of the call
 * @kind: enum elide_kind
 *
 * The call waits until it has the lock.
 *
 * Return: ELIDE_TAKEN; ELIDE_SKIPPED or ELIDE_FELL_BACK: take the lock really, which has been
 * asked for; ELIDE_INSIDE: nothing has been done, go the long way.
 */
static __always_inline_fn enum elide_outcome
elide_quick_acquire(struct elide_thread *t, struct elide_quick q, const void *word,
		    struct elide_rule rule, const struct elide_rule *rule_at, const void *site,
		    enum elide_kind kind)
{
	struct elide_pace *pace = READ_ONCE(q.mark->pace);
	const uint8_t *arm_at = READ_ONCE(q.mark->arm);
	unsigned long long start = 0;
	unsigned int arm, status;
	uint64_t value;

	if (unlikely(!arm_at))
		return ELIDE_INSIDE; /* wiped */
	arm = READ_ONCE(*arm_at);
	if (arm == POLICY_ARM_real)
		return likely(--pace->countdown) ? ELIDE_SKIPPED : ELIDE_INSIDE;
	if (unlikely(!is_free(word, &rule, &value)) || unlikely(rtm_test()))
		return ELIDE_INSIDE;
	if (unlikely(!--pace->countdown))
		return ELIDE_INSIDE;
	if (unlikely(!--t->time_countdown))
		start = elide_time_attempt(t);
	test_point(enter);
	status = rtm_begin();
	if (likely(status == RTM_STARTED)) {
		subscribe(t, q.row, word, &rule, site, kind, true);
		return ELIDE_TAKEN;
	}
	return elide_try_again(t,
			       &(struct elide_tries){.mark = q.mark,
						     .word = word,
						     .rule = rule_at,
						     .arm = arm,
						     .wait = true,
						     .start = start},
			       status);
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
	row = t->pending[0].row;
	test_point(release);
	if (read_word(word, 4) != t->held[0].value)
		rtm_abort(ELIDE_CODE_changed);
	test_point(compared);
	t->open = 0;
	t->pending[0].what = 0;
	test_point(commit);
	rtm_end();
	test_point(committed);
	counter_add(row->commits, 1);
	return true;
}

#pragma GCC visibility pop

#endif
