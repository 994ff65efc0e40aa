/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * waits.h - the evidence of a wait: where a thread waits, for which call, and for how long.
 */
#ifndef ELIDE_WAITS_H
#define ELIDE_WAITS_H

#include "../state/thread.h"
#include "../state/waker.h"

#pragma GCC visibility push(hidden)

/**
 * struct elide_waits - a wait that may be sampled.
 * @weight: waits for which it counts, 0 if it is not sampled
 * @sample, @blame: its records, NULL if there was no room
 */
struct elide_waits {
	uint64_t weight;
	struct elide_sample *sample;
	struct elide_blame *blame;
};

/**
 * elide_evidence_waits() - a thread has found a lock held, and is about to wait for it.
 * @t: the calling thread
 * @row: counters of the call
 * @lock: the lock; only its address is used
 * @holder: thread id in the lock, 0 if it has none
 * @w: filled
 */
void elide_evidence_waits(struct elide_thread *t, struct elide_row *row, const void *lock,
			  uint32_t holder, struct elide_waits *w);

/**
 * elide_evidence_waited() - a thread has locked the lock for which it waited.
 * @w: from elide_evidence_waits()
 * @cycles: length of the wait
 *
 * Not called for a timed call that gave up: such a wait is not counted.
 */
void elide_evidence_waited(const struct elide_waits *w, unsigned long long cycles);

/**
 * elide_evidence_sleeps() - a thread is about to wait in a call after which it holds no lock.
 * @t: the calling thread
 * @row: counters of the call
 * @w: filled
 *
 * Which call ends the wait is known only at its end: elide_evidence_woken().
 */
void elide_evidence_sleeps(struct elide_thread *t, struct elide_row *row, struct elide_waits *w);

/**
 * elide_evidence_woken() - a sampled wait of elide_evidence_sleeps() is over.
 * @row: counters of the call
 * @waker: the call that ended it, NULL if that is not known
 * @w: from elide_evidence_sleeps()
 * @cycles: length of the wait
 */
void elide_evidence_woken(struct elide_row *row, const struct elide_waker *waker,
			  struct elide_waits *w, unsigned long long cycles);

/**
 * elide_evidence_reacquired() - after a wait for a condition variable a thread has waited for the mutex, too.
 * @t: the calling thread, which holds the mutex
 * @row: counters of the call, of kind ELIDE_KIND_REACQUIRE, in which the wait is counted
 * @mutex: the mutex; only its address is used
 * @tid: the thread that held it before
 * @cycles: length of the wait
 */
void elide_evidence_reacquired(struct elide_thread *t, struct elide_row *row, const void *mutex,
			       uint32_t tid, unsigned long long cycles);

/**
 * elide_evidence_blocked() - a lock for which others waited was released.
 * @t: the calling thread
 * @lock: the lock; only its address is used
 * @kind: enum elide_kind of the call that had locked it
 * @site: return address of the unlock call
 */
void elide_evidence_blocked(struct elide_thread *t, const void *lock, enum elide_kind kind,
			    const void *site);

#pragma GCC visibility pop

#endif
