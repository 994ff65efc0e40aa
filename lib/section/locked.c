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
#include "../evidence/what-if.h"
#include "../evidence/wrapper.h"
#include "../state/call.h"
#include "../state/holds.h"
#include "../state/random.h"
#include "../state/settings.h"
#include "locked.h"
#include "section.h"

static void wake(struct elide_thread *t, const struct elide_row *row, const void *lock, uint64_t nr)
{
	struct elide_call *call = elide_call_of_row(t, lock, row);

	if (call && call->way == ELIDE_WAY_DORMANT)
		adapt_wake(t, call, (uint32_t)nr);
}

/*
 * Cycles, the least mean time between two sampled acquisitions of a thread at one of its first HOLD_CALLS
 * calls, if it uses them alike. To measure a hold time takes 150 to 350 cycles, most of them in the unlock
 * call: 1 to 2 % of this. A thread of HOLD_CALLS calls and more still has 10,000 samples a second of each.
 */
#define HOLD_SPACING (1ull << 14)
#define HOLD_CALLS   16
/*
 * The first 16 acquisitions of a row are all measured, and a block after n acquisitions has at most n / 16:
 * the first sections of a program may take much longer than later ones. Chosen.
 */
#define HOLD_FIRST 16
/*
 * Cycles, the length of the window over which the rate of acquisitions is a mean: 0.1 s at 2.7 GHz. If a
 * thread acquires often after a rest, each acquisition is measured at first, until that has taken 1 % of the
 * window.
 */
#define HOLD_WINDOW (1ull << 28)

/* The length of the next block, acquisitions. @nr: number of locked acquisitions up to @now */
static uint64_t next_gap(const struct elide_thread *t, struct elide_holds *h, uint64_t nr, uint64_t now)
{
	uint64_t since = nr - h->from_nr, time = now - h->from, gap = elide_hold_period;

	if (!h->from || (int64_t)time <= 0) {
		h->from = now;
		h->from_nr = nr;
		return 1;
	}
	if (time > HOLD_WINDOW) {
		h->from += time / 2;
		h->from_nr += since / 2;
	}
	if (elide_hold_contended)
		gap = HOLD_SPACING * (t->nr_calls < HOLD_CALLS ? t->nr_calls : HOLD_CALLS) * since / time;
	if (gap > nr / HOLD_FIRST)
		gap = nr / HOLD_FIRST;
	return gap < 1 ? 1 : gap < elide_hold_period ? gap : elide_hold_period;
}

/* Acquisition @nr of the row, counted from 1, is sampled: choose the one of the next block. */
static void sample_next(struct elide_thread *t, struct elide_row *row, uint64_t nr, uint64_t now)
{
	struct elide_holds *h = &row->hold;
	uint64_t begin = h->end > nr ? h->end : nr;

	elide_thread_seen(t, now);
	h->gap = next_gap(t, h, nr, now);
	h->end = begin + h->gap;
	h->last = nr;
	WRITE_ONCE(row->hold_next, begin + (h->gap > 1 ? elide_random_sample(t) % h->gap : 0));
}

/* Take the short way again if no hold time and no wait is pending. */
static void go_short(struct elide_thread *t)
{
	t->short_tid = elide_short_way() && !t->nr_holds && !t->due.lock ? t->tid : ELIDE_NO_TID;
}

static struct elide_hold *find_hold(const struct elide_thread *t, const void *lock)
{
	for (uint32_t i = t->nr_holds; i--;)
		if (t->holds[i].lock == lock)
			return (struct elide_hold *)&t->holds[i];
	return NULL;
}

/* The thread leaves a section that the emulator makes faster, if it is one. */
static void leave_faster(struct elide_thread *t, struct elide_hold *hold)
{
	if (likely(!hold->faster))
		return;
	hold->faster = 0;
	if (!--t->nr_faster)
		rtmgrind_request(RTMGRIND_FASTER, 0, 0);
}

static void remove_hold(struct elide_thread *t, struct elide_hold *hold)
{
	uint32_t i = (uint32_t)(hold - t->holds);

	leave_faster(t, hold);
	for (t->nr_holds--; i < t->nr_holds; i++)
		t->holds[i] = t->holds[i + 1];
}

/*
 * The stack of a sampled acquisition is recorded if at least 1 / STACK_PART as many acquisitions as before
 * the last one have followed that: 9 stacks of the first 9 acquisitions, 65 of 10,000, 100 of 1,000,000. The
 * share of a caller that makes half of a thread's acquisitions has a standard error of 12 %. Chosen.
 */
#define STACK_PART 8

static void hold_begin(struct elide_thread *t, struct elide_row *row, const void *lock,
		       unsigned long long since)
{
	uint64_t nr = row->not_attempted + row->fallback;
	/* The counters include this acquisition. */
	bool sampled = nr > row->hold_next;
	struct elide_hold *stale;
	struct elide_hold hold = {
		.lock = lock,
		.row = row,
		.sampled = sampled,
	};

	if (unlikely(elide_what_if)) {
		since = since ? since : cycles_now();
		hold.faster = (uint16_t)elide_what_if_faster(row);
	} else if (!elide_hold_period || (!sampled && !since)) {
		return;
	}
	/*
	 * A measurement of this lock that has not ended: its release was not seen, by longjmp() or another
	 * thread's unlock call. Only a reader may hold a lock twice.
	 */
	stale = row->kind == ELIDE_KIND_RWLOCK_READ ? NULL : find_hold(t, lock);
	if (unlikely(stale))
		remove_hold(t, stale);
	if (unlikely(t->nr_holds == ELIDE_NR_OPEN_HOLDS))
		remove_hold(t, &t->holds[0]);
	if (sampled && !since && unlikely(nr - row->stacked > row->stacked / STACK_PART))
		elide_wrapper_acquired(row, nr);
	hold.weight = since ? 0 : row->hold.gap ? (uint32_t)row->hold.gap : 1;
	hold.start = since ? since : cycles_now();
	if (sampled) {
		if (elide_process.config.measures)
			wake(t, row, lock, nr - row->hold.last);
		elide_registry_used(lock, row->class_index, t);
		sample_next(t, row, nr, hold.start);
	}
	t->short_tid = ELIDE_NO_TID;
	t->holds[t->nr_holds++] = hold;
	if (unlikely(hold.faster) && !t->nr_faster++)
		rtmgrind_request(RTMGRIND_FASTER, hold.faster, 0);
}

__cold void elide_hold_begin(struct elide_thread *t, struct elide_row *row, const void *lock,
			     unsigned long long since)
{
	elide_what_if_stops();
	hold_begin(t, row, lock, since);
	elide_what_if_goes_on();
}

__cold unsigned long long elide_hold_look(struct elide_thread *t, const void *lock)
{
	unsigned long long end = 0;
	struct elide_hold *hold;

	elide_what_if_stops();
	hold = find_hold(t, lock);
	if (hold) {
		leave_faster(t, hold);
		end = cycles_now();
	}
	elide_what_if_goes_on();
	return end;
}

void elide_hold_resume(struct elide_thread *t, const void *lock, unsigned long long since)
{
	struct elide_hold *hold = find_hold(t, lock);

	/* Another one if the wait has released and locked by calls that were seen. */
	if (hold && (long long)(since - hold->start) > 0)
		hold->start += cycles_now() - since;
}

static void count_hold(struct elide_row *row, uint64_t cycles, uint32_t weight)
{
	struct elide_holds *h = &row->hold;
	double spread = (double)weight * (weight - 1.0);

	counter_add(row->hold_bins[elide_bin(cycles)], weight ? weight : 1);
	if (weight) {
		counter_add(h->weight, weight);
		counter_add(h->total, weight * cycles);
		h->spread += spread;
		h->spread_total += spread * (double)cycles;
		h->spread_squares += spread * (double)cycles * (double)cycles;
	} else {
		counter_add(h->exact, 1);
		counter_add(h->exact_total, cycles);
	}
	counter_add(h->count, 1);
	if (cycles < h->min)
		WRITE_ONCE(h->min, cycles);
	if (cycles > h->max)
		WRITE_ONCE(h->max, cycles);
}

static void hold_count(struct elide_thread *t, const void *lock, unsigned long long end)
{
	struct elide_hold *found = find_hold(t, lock), hold;
	uint64_t cycles;

	/* In a child of fork the block is wiped; further measurements may have taken the place. */
	if (unlikely(!found))
		return;
	hold = *found;
	remove_hold(t, found);
	go_short(t);
	cycles = end - hold.start;
	count_hold(hold.row, cycles, hold.weight);
	if (hold.sampled)
		elide_hold_seen(hold.row->class_index, cycles);
	elide_span(t, hold.row, ELIDE_SPAN_HOLD, end, cycles);
}

__cold void elide_hold_count(struct elide_thread *t, const void *lock, unsigned long long end)
{
	elide_what_if_stops();
	hold_count(t, lock, end);
	elide_what_if_goes_on();
}

static void tell_section(struct elide_thread *t, struct elide_row *row, const void *lock)
{
	t->locked_row = row;
	t->locked = lock;
	section_locked(t);
	t->in_locked = 1;
}

__cold void elide_locked_begin(struct elide_thread *t, struct elide_row *row, const void *lock,
			       bool wait)
{
	if (elide_process.order)
		elide_order_acquired(t, row, lock, wait);
	/* The release of a custom lock is not seen. */
	if (elide_process.mode != ELIDE_RUN_ELIDE || t->in_locked || row->kind == ELIDE_KIND_CUSTOM)
		return;
	if (elide_process.tell_section) {
		rtmgrind_time_stops();
		tell_section(t, row, lock);
		rtmgrind_time_goes_on();
	} else if (t->loads) {
		elide_pmu_skip_loads(t->loads);
		tell_section(t, row, lock);
	}
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
	unsigned long long since = t->found_held;

	t->found_held = 0;
	elide_hold_begin(t, row, lock, since);
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
		      uint64_t cycles, uint64_t late)
{
	if (likely(elide_kind_is_lock(row->kind)))
		elide_span(t, row, ELIDE_SPAN_WAIT, end, cycles);
	else if (row->kind == ELIDE_KIND_SEM)
		elide_hold_seen(row->class_index, cycles + late);
	counter_add(row->late, late);
	elide_thread_seen(t, end + late);
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
		elide_wait_count(t, row, t->due.end, t->due.cycles, t->due.late);
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
	elide_hold_begin(t, row, lock, 0);
	if (elide_process.watch_locked)
		elide_watch_locked(t, row, lock, true);
	return 0;
}

void elide_released(struct elide_thread *t, const void *lock, enum elide_kind kind)
{
	elide_hold_end(t, lock);
	elide_due_released(t, lock);
	if (unlikely(t->watched))
		elide_locked_end(t, lock);
	if (kind == ELIDE_KIND_RWLOCK_WRITE && t->nr_rwlocks)
		t->nr_rwlocks--;
	if (kind == ELIDE_KIND_SPIN && t->nr_spins)
		t->nr_spins--;
}
