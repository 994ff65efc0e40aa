/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * wait.h - how a lock call waits for a held lock, and what is recorded of that.
 */
#ifndef ELIDE_PRELOAD_WAIT_H
#define ELIDE_PRELOAD_WAIT_H

#include <time.h>

#include "adapt/crowd.h"
#include "check/order.h"
#include "evidence/waits.h"
#include "section/locked.h"
#include "state/settings.h"
#include "state/thread-record.h"

/* How a lock call waits: until it has the lock, not at all, or for a time. */
enum how { HOW_LOCK, HOW_TRY, HOW_TIMED };

/**
 * struct wait - the time that a locked acquisition waits.
 * @contended: the lock was held when the call came
 * @start: cycles
 * @end: cycles; set after the wait
 * @thread: the calling thread
 * @awake: cycles that it stays awake at most, before it sleeps and after it is woken; set by wait_awake()
 * @who: the evidence, if this wait is sampled
 */
struct wait {
	bool contended;
	uint32_t awake;
	unsigned long long start;
	unsigned long long end;
	struct elide_thread *thread;
	struct elide_waits who;
};

/* @holder: thread id in the lock, 0 if it has none. */
static __always_inline_fn void wait_begin(struct wait *w, bool contended, struct elide_thread *t,
					  struct elide_row *row, const void *lock, uint32_t holder)
{
	w->contended = contended;
	w->awake = 0;
	w->who.weight = 0;
	if (likely(!contended))
		return;
	elide_due_count(t);
	w->start = cycles_now();
	w->thread = t;
	t->waits_row = row;
	/* For elide stacks, which stops the thread before it reads both. */
	WRITE_ONCE(t->waits, lock);
	elide_wait_opens(t, row, holder, w->start);
	elide_evidence_waits(t, row, lock, holder, &w->who);
}

/*
 * The wait is over. If the call has @locked the lock, others may wait for it now, so no function is called
 * unless the wait is sampled. Else the call fails, and the wait is not counted.
 */
static __always_inline_fn void wait_end(struct elide_row *row, const struct wait *w,
					const void *lock, bool locked)
{
	unsigned long long cycles, late;

	if (likely(!w->contended))
		return;
	WRITE_ONCE(w->thread->waits, NULL);
	elide_wait_closes(w->thread);
	if (unlikely(!locked))
		return;
	late = elide_process.mode == ELIDE_RUN_PROFILE ? elide_waker_late(lock, w->start, w->end) : 0;
	cycles = w->end - w->start - late;
	if (unlikely(w->who.weight))
		elide_evidence_waited(&w->who, cycles);
	w->thread->found_held = w->end & elide_hold_contended;
	elide_wait_over(w->thread, row, lock, w->end - late, cycles, late);
}

/*
 * Before the wait: if the call is restricted, and enough threads wait, park the thread. Return: for
 * crowd_leave() after the wait.
 */
static __always_inline_fn struct crowd *
wait_in_crowd(const struct wait *w, struct elide_row *row, const void *lock, enum elide_kind kind,
	      bool (*looks_free)(const void *lock, enum elide_kind kind), clockid_t clock,
	      const struct timespec *until)
{
	if (likely(!w->contended) || likely(!elide_process.restricts) ||
	    !crowd_restricts(w->thread, row, lock))
		return NULL;
	/* The time is invalid: the real function returns the error. */
	if (until && (unsigned long)until->tv_nsec >= 1000000000ul)
		return NULL;
	return crowd_enter(&(struct crowd_call){
		.t = w->thread,
		.row = row,
		.lock = lock,
		.is_free = looks_free,
		.kind = kind,
		.clock = clock < 0 ? CLOCK_REALTIME : clock,
		.until = until,
	});
}

/*
 * Wait on the processor for at most elide_awake_most() cycles until @take(@lock, @arg) has locked the lock.
 * False: it has not.
 */
static __always_inline_fn bool wait_awake(struct wait *w, const struct elide_row *row,
					  const struct crowd *crowd,
					  bool (*take)(void *lock, uint32_t arg), void *lock,
					  uint32_t arg)
{
	uint32_t most = w->awake = elide_awake_most(row, crowd);
	/* It may have been parked since @start. */
	unsigned long long start = unlikely(crowd) ? cycles_now() : w->start;

	while ((w->end = cycles_now()) - start < most) {
		if (take(lock, arg))
			return true;
		cpu_relax();
	}
	return false;
}

/* The clocks of glibc's timed calls, which refuse others before they read the lock. */
static inline bool clock_known(clockid_t clock)
{
	return clock == CLOCK_REALTIME || clock == CLOCK_MONOTONIC;
}

/* The lock is held, and the call will wait for it, perhaps for ever: report a deadlock before. */
static __always_inline_fn void wait_locked(struct elide_thread *t, const struct elide_row *row,
					   const void *lock)
{
	if (unlikely(t->nr_acquired))
		elide_order_waits(t, row, lock);
}

#endif
