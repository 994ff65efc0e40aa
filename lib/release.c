/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * release.c - the end of an elided section: release, commit, and what was left for after it.
 *
 * Up to the commit it must never store to anything but the thread's held list
 * and list of pending calls, and never call what might; see elide.c.
 */
#include "engine.h"
#include "evidence.h"
#include "order.h"
#include "point.h"
#include "process.h"
#include "section.h"

struct elide_held *elide_find_held(struct elide_thread *t, const void *word)
{
	for (uint32_t i = t->nr_held; i--;)
		if (t->held[i].word == word)
			return &t->held[i];
	return NULL;
}

/**
 * struct deferred - a pending call as it is copied out before the commit.
 * @row: counters of the call, NULL if it was not known yet
 *
 * The rest as in struct elide_pending. Cache entries are not kept: a signal
 * handler may evict them as soon as the transaction is over.
 */
struct deferred {
	struct elide_row *row;
	const void *lock;
	const void *site;
	uint32_t kind;
	uint32_t what;
};

/* The row of a call that was not known yet, now that the transaction is over. */
static void find_row(struct deferred *d)
{
	struct elide_cache *entry;

	if (d->row || d->what > ELIDE_DEFER_REAL_TRY)
		return;
	entry = elide_cache_fill(d->lock, d->site, d->kind);
	d->row = entry ? elide_row(entry) : NULL;
}

/* What a nested call left to be done. */
static void catch_up(struct elide_thread *t, struct deferred *d)
{
	find_row(d);
	switch (d->what) {
	case ELIDE_DEFER_ELIDED:
	case ELIDE_DEFER_ELIDED_TRY:
		if (d->row)
			counter_add(d->row->nested, 1);
		break;
	case ELIDE_DEFER_REAL:
	case ELIDE_DEFER_REAL_TRY:
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

/* In which order the section took its locks. */
static void catch_up_order(struct elide_thread *t, struct deferred *d)
{
	bool wait = d->what == ELIDE_DEFER_ELIDED || d->what == ELIDE_DEFER_REAL;

	find_row(d);
	if (d->row)
		elide_order_taken(t, d->row, d->lock, wait);
}

/* No call is pending, and the emulator sees no section any more: one store, not two. */
static __always_inline_fn void no_pending(struct elide_thread *t)
{
	_Static_assert(offsetof(struct elide_thread, pending) ==
			       offsetof(struct elide_thread, nr_pending) + sizeof(t->nr_pending),
		       "side by side");
	__builtin_memset((char *)t + offsetof(struct elide_thread, nr_pending), 0,
			 sizeof(t->nr_pending) + sizeof(t->pending[0].what));
}

static __noinline void commit_judged(struct policy_lock *lock, struct policy_window *window,
				     struct elide_row *row)
{
	const struct policy_try none = {0};

	if (policy_done(&elide_process.config, lock, window, &none, true))
		elide_decided(row, window);
}

/* Commit, and count the outermost section. The lock may be gone: only its address is used. */
static __always_inline_fn void commit(struct elide_thread *t)
{
	struct elide_cache *entry = t->pending[0].entry;
	struct elide_row *row = elide_row(entry);
	bool judged = elide_process.config.name == POLICY_HPCA;
	struct policy_lock *lock = NULL;
	struct policy_window *window = NULL;

	if (unlikely(judged)) {
		lock = &elide_registry_state(entry->lock_index)->policy;
		window = elide_window(t, entry);
	}
	no_pending(t);
	test_point(commit);
	rtm_end();
	test_point(committed);
	if (unlikely(!READ_ONCE(elide_any_commit)))
		WRITE_ONCE(elide_any_commit, true);
	t->streak = 0;
	counter_add(row->commits, 1);
	if (unlikely(t->queue))
		elide_leave_queue(t);
	if (unlikely(judged))
		commit_judged(lock, window, row);
}

static __always_inline_fn void copy_pending(const struct elide_thread *t, struct deferred *list,
					    uint32_t first, uint32_t nr)
{
	for (uint32_t i = first; i < nr; i++) {
		const struct elide_pending *p = &t->pending[i];

		list[i] = (struct deferred){p->entry ? elide_row(p->entry) : NULL, p->lock, p->site,
					    p->kind, p->what};
	}
}

/* Back in the section under the real lock that it was inside of, if there is one. */
static void section_again(struct elide_thread *t)
{
	if (t->in_real)
		t->pending[0] = t->real;
}

static __noinline void commit_nested(struct elide_thread *t)
{
	struct deferred list[ELIDE_MAX_PENDING];
	uint32_t nr = t->nr_pending;

	copy_pending(t, list, 1, nr);
	commit(t);
	section_again(t);
	for (uint32_t i = 1; i < nr; i++)
		catch_up(t, &list[i]);
}

/* The same where the order of locks is watched. @last: the lock released last. */
static __cold void commit_ordered(struct elide_thread *t, const void *last)
{
	struct deferred list[ELIDE_MAX_PENDING];
	uint32_t nr = t->nr_pending;

	copy_pending(t, list, 0, nr);
	commit(t);
	section_again(t);
	catch_up_order(t, &list[0]);
	for (uint32_t i = 1; i < nr; i++) {
		catch_up_order(t, &list[i]);
		catch_up(t, &list[i]);
	}
	elide_order_released(t, last);
}

/* A section with several locks, or that relocked one, or that has more to be caught up with. */
static __noinline bool release_among(struct elide_thread *t, const void *word)
{
	struct elide_held *h = elide_find_held(t, word);

	if (!h)
		return false;
	test_point(release);
	if (read_word(word, h->size) != h->value)
		rtm_abort(ELIDE_CODE_changed);
	test_point(compared);
	if (h->depth) {
		h->depth--;
		return true;
	}
	/*
	 * Usually the last one; otherwise keep the order of the others. The
	 * barrier keeps the compiler from calling memmove(): binding that lazily
	 * would abort every time, and so never be done with.
	 */
	for (struct elide_held *last = &t->held[t->nr_held - 1]; h < last; h++) {
		*h = h[1];
		barrier();
	}
	if (--t->nr_held) {
		if (elide_process.order)
			elide_defer(t, NULL, word, NULL, ELIDE_KIND_NONE, ELIDE_DEFER_UNELIDED);
		return true;
	}
	if (likely(!elide_process.order))
		commit_nested(t);
	else
		commit_ordered(t, word);
	return true;
}

bool elide_release(struct elide_thread *t, const void *word)
{
	const struct elide_held *h = &t->held[0];

	if (unlikely(h->word != word || h->depth || t->nr_held != 1 || t->nr_pending != 1 ||
		     t->watched))
		return release_among(t, word);
	test_point(release);
	if (read_word(word, h->size) != h->value)
		rtm_abort(ELIDE_CODE_changed);
	test_point(compared);
	t->nr_held = 0;
	commit(t);
	return true;
}
