/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * locked.h - what is counted and watched of locks that are locked, not elided.
 *
 * Outside transactions only.
 */
#ifndef ELIDE_LOCKED_H
#define ELIDE_LOCKED_H

#include "../evidence/holder.h"
#include "engine.h"

#pragma GCC visibility push(hidden)

/**
 * elide_count() - count an acquisition that was locked.
 * @row: counters of the call
 * @outcome: return value of elide_acquire(): ELIDE_SKIPPED or ELIDE_FELL_BACK
 */
static inline void elide_count(struct elide_row *row, enum elide_outcome outcome)
{
	if (likely(outcome == ELIDE_SKIPPED))
		counter_add(row->not_attempted, 1);
	else
		counter_add(row->fallback, 1);
}

/**
 * elide_locked_begin() - the part of elide_watch_locked() that most processes do not need.
 * @t: the calling thread, outside a transaction
 * @row: counters of the call
 * @lock: the lock; only its address is used
 * @wait: the call would have waited for ever
 */
void elide_locked_begin(struct elide_thread *t, struct elide_row *row, const void *lock,
			bool wait);

/**
 * elide_watch_locked() - a thread has locked a lock, where elide_process.watch_locked is set.
 *
 * Parameters are those of elide_locked_begin(). Other threads wait for the lock meanwhile.
 */
static inline void elide_watch_locked(struct elide_thread *t, struct elide_row *row,
				      const void *lock, bool wait)
{
	if (likely(elide_process.blames))
		elide_evidence_locked(t, row, lock);
	if (unlikely(elide_process.order || elide_process.tell_section || t->loads))
		elide_locked_begin(t, row, lock, wait);
}

/** elide_locked_end() - @lock is released: end of elide_locked_begin(), if that was called for it. */
void elide_locked_end(struct elide_thread *t, const void *lock);

/** elide_time_add() - add a measurement of @cycles to a distribution and its histogram. */
static inline void elide_time_add(struct elide_times *times, uint64_t *bins,
				  unsigned long long cycles)
{
	counter_add(bins[elide_bin(cycles)], 1);
	counter_add(times->count, 1);
	counter_add(times->total, cycles);
	if (cycles < times->min)
		WRITE_ONCE(times->min, cycles);
	if (cycles > times->max)
		WRITE_ONCE(times->max, cycles);
}

/** elide_time_remove() - take back a measurement that elide_time_add() has added; @min and @max stay. */
static inline void elide_time_remove(struct elide_times *times, uint64_t *bins, unsigned long long cycles)
{
	counter_add(bins[elide_bin(cycles)], -1ull);
	counter_add(times->count, -1ull);
	counter_add(times->total, -cycles);
}

/**
 * elide_wait_count() - count a wait of @cycles that could end at @end and was over @late cycles later, and
 * learn from those for a semaphore.
 */
void elide_wait_count(struct elide_thread *t, struct elide_row *row, unsigned long long end,
		      uint64_t cycles, uint64_t late);

/**
 * elide_wait_over() - an acquisition has waited, and has locked.
 * @t: the calling thread
 * @row: counters of the call
 * @lock: the lock or semaphore; after a condition variable its mutex; only its address is used
 * @end: time-stamp counter when the lock was released, or @object's call was made, which ended the wait
 * @cycles: length of the wait up to @end
 * @late: cycles from @end until the thread had locked
 *
 * Others wait for the lock now. So if unlock calls of the thread take the short way, this one leaves it and
 * counts the wait after the release.
 */
static inline void elide_wait_over(struct elide_thread *t, struct elide_row *row, const void *lock,
				   unsigned long long end, uint64_t cycles, uint64_t late)
{
	if (unlikely(t->short_tid == ELIDE_NO_TID)) {
		elide_wait_count(t, row, end, cycles, late);
		return;
	}
	t->due.row = row;
	t->due.end = end;
	t->due.cycles = cycles;
	t->due.late = late;
	barrier();
	t->due.lock = lock;
	t->short_tid = ELIDE_NO_TID;
}

/** elide_due_counted() - the part of elide_due_count() that is not inlined. */
void elide_due_counted(struct elide_thread *t);

/** elide_due_count() - count the wait that is due, if any: after its lock's release, or before a wait. */
static inline void elide_due_count(struct elide_thread *t)
{
	if (unlikely(t->due.lock))
		elide_due_counted(t);
}

/** elide_due_released() - elide_due_count() if that wait was for @lock, which is released. */
static inline void elide_due_released(struct elide_thread *t, const void *lock)
{
	if (unlikely(t->due.lock == lock))
		elide_due_counted(t);
}

/**
 * elide_hold_begin() - begin to measure the hold time of an acquisition that has locked and was counted, if
 * it was contended or is sampled, or in a what-if; and tell the emulator if the section is to be faster.
 * @t: the calling thread
 * @row: counters of the call
 * @lock: the lock; only its address is used
 * @since: time-stamp counter when a contended acquisition had locked; 0: it was not contended
 *
 * Where the policy chooses, contended acquisitions are sampled like others: see elide_hold_contended.
 */
void elide_hold_begin(struct elide_thread *t, struct elide_row *row, const void *lock,
		      unsigned long long since);

/** elide_hold_look() - the part of elide_hold_over() that is not inlined. */
unsigned long long elide_hold_look(struct elide_thread *t, const void *lock);

/**
 * elide_hold_over() - @lock is about to be released.
 *
 * Other threads may wait for the lock, so elide_hold_count() counts the hold time after the release.
 *
 * Return: time-stamp counter if its hold time is measured, else 0.
 */
static inline unsigned long long elide_hold_over(struct elide_thread *t, const void *lock)
{
	return unlikely(t->nr_holds) ? elide_hold_look(t, lock) : 0;
}

/** elide_hold_count() - count the hold time of @lock, which was over at @end, from elide_hold_over(). */
void elide_hold_count(struct elide_thread *t, const void *lock, unsigned long long end);

/** elide_hold_resume() - the hold time of @lock goes on after a wait that has released it, begun at @since. */
void elide_hold_resume(struct elide_thread *t, const void *lock, unsigned long long since);

/** elide_hold_end() - @lock is about to be released: count its hold time, if that is measured. */
static inline void elide_hold_end(struct elide_thread *t, const void *lock)
{
	unsigned long long end = elide_hold_over(t, lock);

	if (unlikely(end))
		elide_hold_count(t, lock, end);
}

/**
 * elide_release_count() - after the release of @lock: count its hold time, if that is measured, and its wait,
 * if that is due.
 * @end: from elide_hold_over()
 */
static inline void elide_release_count(struct elide_thread *t, const void *lock, unsigned long long end)
{
	if (end)
		elide_hold_count(t, lock, end);
	elide_due_released(t, lock);
}

/**
 * elide_released() - a lock that was locked is about to be released, or was.
 * @t: the calling thread, outside a transaction
 * @lock: the lock; only its address is used
 * @kind: ELIDE_KIND_RWLOCK_WRITE for any holder of a rwlock
 */
void elide_released(struct elide_thread *t, const void *lock, enum elide_kind kind);

/**
 * elide_short_more() - after the short way has locked and counted: hold time, elide_locked_begin().
 * @t: the calling thread
 * @row: counters of the call
 * @lock: the lock; only its address is used
 *
 * Return: 0.
 */
int elide_short_more(struct elide_thread *t, struct elide_row *row, const void *lock);

/**
 * elide_locked_more() - after an acquisition has locked and was counted: hold time, watching.
 * @t: the calling thread
 * @row: counters of the call
 * @lock: the lock; only its address is used
 * @wait: the call would have waited for ever
 */
void elide_locked_more(struct elide_thread *t, struct elide_row *row, const void *lock, bool wait);

/**
 * elide_awake_most() - how long a call waits on the processor for a held lock before it sleeps.
 * @row: counters of the call
 * @restricted: few threads wait for the lock: the holder has a processor though the process is oversubscribed
 *
 * A process that does not elide waits as it would without this library.
 *
 * Return: cycles; 0: not at all.
 */
uint32_t elide_awake_most(const struct elide_row *row, bool restricted);

/**
 * elide_awake_unit() - how long a call waits on the processor for a unit of a semaphore before it sleeps.
 * @row: counters of the call
 *
 * Return: cycles; 0: not at all.
 */
uint32_t elide_awake_unit(const struct elide_row *row);

/**
 * elide_hold_due() - is the next acquisition of the row sampled for its hold time, or watched?
 *
 * Called before the acquisition is counted. The first acquisition of a row is measured.
 */
static inline bool elide_hold_due(const struct elide_row *row)
{
	return unlikely(row->not_attempted + row->fallback >= (row->hold_next & elide_process.hold_mask));
}

#pragma GCC visibility pop

#endif
