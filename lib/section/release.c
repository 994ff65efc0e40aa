/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * release.c - the end of an elided section: release, commit, and what was deferred until after it.
 *
 * Up to the commit it keeps the rule of transactions in state/thread.h.
 */
#include "../base/testpoint.h"
#include "../check/misuse.h"
#include "../check/order.h"
#include "../life/fill.h"
#include "../life/lock.h"
#include "../policy/published.h"
#include "../state/settings.h"
#include "locked.h"
#include "section.h"

bool elide_locked_inside(const struct elide_thread *t, const void *lock)
{
	int32_t nr = 0;

	for (uint32_t i = 0; i < t->nr_pending; i++) {
		const struct elide_pending *d = &t->pending[i];

		if (d->lock != lock)
			continue;
		if (d->what == ELIDE_DEFER_LOCKED || d->what == ELIDE_DEFER_LOCKED_TRY)
			nr++;
		else if (d->what == ELIDE_DEFER_RELEASED)
			nr--;
	}
	return nr > 0;
}

struct elide_held *elide_find_held(struct elide_thread *t, const void *word)
{
	for (uint32_t i = t->nr_held; i--;)
		if (t->held[i].word == word)
			return &t->held[i];
	return NULL;
}

/* The row of a call that was not known yet, now that the transaction is over. */
static void find_row(struct elide_pending *d)
{
	const struct elide_call *call;

	if (d->row || d->what > ELIDE_DEFER_LOCKED_TRY)
		return;
	call = elide_call_get(d->lock, d->site, d->kind);
	d->row = call ? elide_call_row(call) : NULL;
}

/* Do what a nested call has deferred. */
static void catch_up(struct elide_thread *t, struct elide_pending *d)
{
	const struct elide_call *call;

	find_row(d);
	switch (d->what) {
	case ELIDE_DEFER_ELIDED:
	case ELIDE_DEFER_ELIDED_TRY:
		call = elide_call_find(t, d->lock, d->site, d->kind);
		if (call)
			count_nested(elide_call_row(call), call->adapt, 1);
		else if (d->row)
			counter_add(d->row->nested, 1);
		break;
	case ELIDE_DEFER_LOCKED:
	case ELIDE_DEFER_LOCKED_TRY:
		if (d->row)
			elide_count(d->row, ELIDE_SKIPPED);
		break;
	case ELIDE_DEFER_NEW:
	case ELIDE_DEFER_SHARED:
		elide_lock_new(d->lock, d->kind, d->site, d->what == ELIDE_DEFER_SHARED);
		break;
	case ELIDE_DEFER_GONE:
		elide_lock_gone(d->lock);
		break;
	case ELIDE_DEFER_RELEASED:
		elide_released(t, d->lock, d->kind);
		break;
	case ELIDE_DEFER_UNELIDED:
		elide_order_released(t, d->lock);
		break;
	default:
		elide_misuse(d->what - ELIDE_DEFER_MISUSE, d->kind, d->site, d->lock);
		break;
	}
}

/* Record in which order the section acquired its locks. */
static void catch_up_order(struct elide_thread *t, struct elide_pending *d)
{
	bool wait = d->what == ELIDE_DEFER_ELIDED || d->what == ELIDE_DEFER_LOCKED;

	find_row(d);
	if (d->row)
		elide_order_acquired(t, d->row, d->lock, wait);
}

/* HPCA'14's policy learns from the acquisition, if its call is still known. */
static __noinline void commit_judged(struct elide_thread *t, const void *lock,
				     const struct elide_row *row)
{
	const struct policy_attempts none = {0};
	const struct elide_call *call = elide_call_of_row(t, lock, row);

	if (call && policy_hpca_done(&elide_process.config, elide_policy_of(lock),
				     elide_window(t, lock, call), &none, true))
		elide_policy_changed(call, lock);
}

/* Commit, and count the outermost section. */
static __always_inline_fn void commit(struct elide_thread *t)
{
	struct elide_row *row = t->outer;

	t->nr_held = t->nr_nested = t->nr_pending = t->odd = 0;
	t->outer = NULL;
	test_point(commit);
	rtm_end();
	test_point(committed);
	counter_add(row->commits, 1);
	/* The thread is back in the locked section around it. */
	if (unlikely(t->in_locked))
		section_locked(t);
}

/* Commit a section of the outermost lock and elided ones inside, whose calls are known. */
static void commit_nested(struct elide_thread *t)
{
	struct adapt_thread *adapts[ELIDE_MAX_NESTED];
	struct elide_row *rows[ELIDE_MAX_NESTED];
	uint32_t locks[ELIDE_MAX_NESTED], nr = t->nr_nested;

	/* Before the commit: after it a signal handler may have sections of its own. */
	for (uint32_t i = 0; i < nr; i++) {
		const struct elide_call *call = ELIDE_NESTED_CALL(t->nested[i]);

		rows[i] = call->row;
		adapts[i] = call->adapt;
		locks[i] = ELIDE_NESTED_NR(t->nested[i]);
	}
	commit(t);
	for (uint32_t i = 0; i < nr; i++)
		count_nested(rows[i], adapts[i], locks[i]);
}

/*
 * Before the commit. The list is too long for a copy on the stack, so it stays where it is, and sections
 * of a signal handler that need it abort (pending_add() in acquire.c) until the end of catch_up_all().
 */
static __always_inline_fn uint32_t keep_pending(struct elide_thread *t)
{
	t->catches_up = true;
	return t->nr_pending;
}

/* All @nr calls in the list. @last: the lock released last, if the order of locks is watched */
static void catch_up_all(struct elide_thread *t, uint32_t nr, const void *last)
{
	bool judged = elide_process.config.keeps_window;

	for (uint32_t i = 0; i < nr; i++) {
		struct elide_pending d = t->pending[i];

		barrier();
		/* If a handler has forked, this is the child, and the list was wiped. */
		if (!READ_ONCE(t->catches_up))
			return;
		if (judged && !i)
			commit_judged(t, d.lock, d.row);
		if (last)
			catch_up_order(t, &d);
		/* The first is the outermost lock. */
		if (i || (!judged && !last))
			catch_up(t, &d);
	}
	t->catches_up = false;
}

/* Commit a section whose calls have deferred more than to count their rows. */
static __noinline void commit_pending(struct elide_thread *t)
{
	uint32_t nr = keep_pending(t);

	commit_nested(t);
	catch_up_all(t, nr, NULL);
}

/* Commit a section where the order of locks is watched. @last: the lock released last */
static __cold void commit_ordered(struct elide_thread *t, const void *last)
{
	uint32_t nr = keep_pending(t);

	commit(t);
	catch_up_all(t, nr, last);
	elide_order_released(t, last);
}

bool elide_release(struct elide_thread *t, const void *word)
{
	struct elide_held *h = &t->held[t->nr_held], *last = h - 1;

	do {
		if (h == t->held)
			return false;
		h--;
	} while (h->word != word);
	test_point(release);
	if (read_word(word, h->size) != h->value)
		rtm_abort(ELIDE_CODE_changed);
	test_point(compared);
	if (unlikely(h->depth)) {
		h->depth--;
		return true;
	}
	/*
	 * Usually the last one; otherwise keep the order of the others. The barrier keeps the compiler
	 * from calling memmove(), whose lazy binding would abort every attempt, and so never be complete.
	 */
	for (; h < last; h++) {
		*h = h[1];
		barrier();
	}
	if (--t->nr_held) {
		if (unlikely(elide_process.order))
			elide_defer(t, NULL, word, NULL, ELIDE_KIND_NONE, ELIDE_DEFER_UNELIDED);
	} else if (unlikely(elide_process.order)) {
		commit_ordered(t, word);
	} else if (unlikely(t->nr_pending)) {
		commit_pending(t);
	} else {
		commit_nested(t);
	}
	return true;
}
