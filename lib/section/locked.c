/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * locked.c - locks that are locked, not elided: hold times, waits, and what is watched.
 *
 * Outside transactions only.
 */
#include "../adapt/measure.h"
#include "../check/order.h"
#include "../evidence/abort.h"
#include "../evidence/spans.h"
#include "../state/call.h"
#include "../state/holds.h"
#include "../state/settings.h"
#include "locked.h"
#include "section.h"

static void wake(struct elide_thread *t, const struct elide_row *row, const void *lock)
{
	struct elide_call *call = elide_call_of_row(t, lock, row);

	if (call && call->way == ELIDE_WAY_DORMANT)
		adapt_wake(t, call, elide_hold_mask + 1);
}

__cold void elide_hold_begin(struct elide_thread *t, struct elide_row *row, const void *lock)
{
	if (elide_process.config.measures)
		wake(t, row, lock);
	elide_registry_used(lock, row->class_index, t);
	t->short_tid = ELIDE_NO_TID;
	t->hold_lock = lock;
	t->hold_row = row;
	t->hold_start = cycles_now();
}

/* Take the short way again if no hold time and no wait is pending. */
static void go_short(struct elide_thread *t)
{
	t->short_tid = elide_short_way() && !t->hold_lock && !t->due.lock ? t->tid : ELIDE_NO_TID;
}

void elide_hold_cancel(struct elide_thread *t)
{
	t->hold_lock = NULL;
	go_short(t);
}

__cold void elide_hold_end(struct elide_thread *t)
{
	unsigned long long end = cycles_now(), cycles = end - t->hold_start;
	struct elide_row *row = t->hold_row;

	elide_time_add(&row->hold, row->hold_bins, cycles);
	elide_hold_seen(row->class_index, cycles);
	elide_hold_cancel(t);
	elide_span(t, row, ELIDE_SPAN_HOLD, end, cycles);
}

__cold void elide_locked_begin(struct elide_thread *t, struct elide_row *row, const void *lock,
			       bool wait)
{
	if (elide_process.order)
		elide_order_acquired(t, row, lock, wait);
	if (elide_process.mode != ELIDE_RUN_ELIDE)
		return;
	/* The release of a custom lock is not seen. */
	if ((!elide_process.tell_section && !t->loads) || t->in_locked ||
	    row->kind == ELIDE_KIND_CUSTOM)
		return;
	if (!elide_process.tell_section)
		elide_pmu_skip_loads(t->loads);
	t->locked_row = row;
	t->locked = lock;
	section_locked(t);
	t->in_locked = 1;
}

__cold void elide_locked_end(struct elide_thread *t, const void *lock)
{
	if (t->nr_acquired)
		elide_order_released(t, lock);
	if (t->in_locked && t->locked == lock) {
		if (!elide_process.tell_section)
			elide_evidence_loads(t);
		t->in_locked = 0;
		t->outer = NULL;
	}
}

void elide_locked_more(struct elide_thread *t, struct elide_row *row, const void *lock, bool wait)
{
	/* The counters include this acquisition. */
	if (unlikely(!((row->not_attempted + row->fallback - 1) & elide_hold_mask)))
		elide_hold_begin(t, row, lock);
	if (elide_process.watch_locked)
		elide_watch_locked(t, row, lock, wait);
}

uint32_t elide_awake_most(const struct elide_row *row, bool restricted)
{
	bool oversubscribed = !restricted && elide_oversubscribed();

	if (elide_halted() || !elide_process.config.spin_busy ||
	    (!oversubscribed && elide_sleeps_at_once(row)))
		return 0;
	return policy_wait_sleep(elide_hold_known(row->class_index), oversubscribed);
}

void elide_wait_count(struct elide_thread *t, struct elide_row *row, unsigned long long end,
		      uint64_t cycles)
{
	if (likely(elide_kind_is_lock(row->kind)))
		elide_span(t, row, ELIDE_SPAN_WAIT, end, cycles);
	else if (row->kind == ELIDE_KIND_SEM)
		elide_hold_seen(row->class_index, cycles);
	/* Last: a handler may leave the global-lock path above by longjmp(). */
	counter_add(row->contended, 1);
	elide_time_add(&row->wait, row->wait_bins, cycles);
}

void elide_due_counted(struct elide_thread *t)
{
	struct elide_row *row = t->due.row;

	t->due.lock = NULL;
	barrier();
	go_short(t);
	/* There is no row if a handler has forked, and this is the child. */
	if (likely(row))
		elide_wait_count(t, row, t->due.end, t->due.cycles);
}

uint32_t elide_awake_unit(const struct elide_row *row)
{
	if (elide_halted() || !elide_process.config.spin_busy)
		return 0;
	return policy_wait_unit(elide_hold_known(row->class_index), elide_oversubscribed(),
				row->contended);
}

int elide_short_more(struct elide_thread *t, struct elide_row *row, const void *lock)
{
	/* The counter includes this acquisition. */
	if (unlikely(!((row->not_attempted - 1) & elide_hold_mask)))
		elide_hold_begin(t, row, lock);
	if (elide_process.watch_locked)
		elide_watch_locked(t, row, lock, true);
	return 0;
}

void elide_released(struct elide_thread *t, const void *lock, enum elide_kind kind)
{
	if (unlikely(t->hold_lock == lock))
		elide_hold_end(t);
	elide_due_released(t, lock);
	if (unlikely(t->watched))
		elide_locked_end(t, lock);
	if (kind == ELIDE_KIND_RWLOCK_WRITE && t->nr_rwlocks)
		t->nr_rwlocks--;
	if (kind == ELIDE_KIND_SPIN && t->nr_spins)
		t->nr_spins--;
}
