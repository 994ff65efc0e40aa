/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * evidence.h - why it aborted and who is to blame, sampled: ELIDE_STACKS.
 *
 * Of the aborts of a row by one cause the first ones are sampled (elide_evidence_first()), and then
 * each with a probability of 1 / ELIDE_STACKS. A sample counts as one abort, later as ELIDE_STACKS
 * aborts, so that the expected sums are right. Waits of a row, and releases of locks that others
 * waited for, are sampled in the same way. A sample goes into the records of stacks, details and
 * blame in the data file, where equal ones are merged.
 *
 * An event that was drawn while another thread is in a slow path is postponed: the next of its kind
 * counts for both. Only those that are sampled for certain wait, among at most EVIDENCE_CROWD threads.
 *
 * Everything here is a slow path, outside transactions, and does nothing where nothing is sampled.
 * The policy's decisions are never sampled: decisions.h has all of them.
 */
#ifndef ELIDE_EVIDENCE_H
#define ELIDE_EVIDENCE_H

#include "../base/heap.h"
#include "../emulator.h"
#include "../state/registry.h"
#include "../state/thread.h"
#include "../state/waker.h"
#include "pmu.h"
#include "table.h"

#pragma GCC visibility push(hidden)

/*
 * In the first EVIDENCE_THREADS threads the first EVIDENCE_FIRST events of each kind are sampled,
 * in later threads the very first, and after EVIDENCE_MANY threads chance alone decides. Slow paths
 * exclude each other: if many threads that begin at once sampled 8 events each, they would wait for each
 * other, and of some thousand threads a sample of each kind takes longer than all else that they need
 * at their beginning. The numbers were chosen here.
 */
#define EVIDENCE_FIRST   8
#define EVIDENCE_THREADS 4
#define EVIDENCE_MANY    256

/* Threads above which no sample waits for another thread's slow path. Chosen here. */
#define EVIDENCE_CROWD   64

/** elide_evidence_first() - events of each kind that are always sampled, in thread @nr from 1. */
static inline uint32_t elide_evidence_first(uint32_t nr)
{
	return nr <= EVIDENCE_THREADS ? EVIDENCE_FIRST : nr <= EVIDENCE_MANY;
}

/**
 * elide_evidence_start() - make the tables.
 * @look: called in a slow path with the id of a thread that holds a lock for which another one
 *        waits; if that thread has ended, @look does what its end requires
 *
 * Return: 0 or -ENOMEM.
 */
int elide_evidence_start(void (*look)(uint32_t tid));

/**
 * elide_evidence_weight() - draw whether this event is sampled.
 * @t: the calling thread
 * @nth: events of its kind so far, this one included
 *
 * Return: events that it counts as, 0 if it is not sampled.
 */
uint64_t elide_evidence_weight(struct elide_thread *t, uint64_t nth);

/**
 * struct elide_aborted - an abort, as it is known right after it.
 * @lock:   address of the lock
 * @cause:  enum elide_cause
 * @cycles: cycles that it adds to the row's wasted ones: the emulator's count of the attempt; on a
 *          processor, for one in ELIDE_TIME_PERIOD attempts, that many times its length; else 0
 * @held:   the lock is locked now
 * @brief:  the beginning of the emulator's record, NULL if there is none
 * @detail: all of it, in the slow path of a sample; NULL elsewhere, and if there is none
 * @sampled: the processor's sample, NULL if there is none
 */
struct elide_aborted {
	const void *lock;
	enum elide_cause cause;
	unsigned long long cycles;
	bool held;
	const struct rtmgrind_brief *brief;
	const struct rtmgrind_abort *detail;
	const struct elide_pmu_abort *sampled;
};

/**
 * elide_evidence_abort() - sample an abort, which is counted already.
 * @t: the calling thread
 * @row: counters of the call
 * @a: the abort
 */
void elide_evidence_abort(struct elide_thread *t, struct elide_row *row,
			  const struct elide_aborted *a);

/**
 * struct elide_waits - a wait that may be sampled.
 * @weight: waits it counts as, 0 if it is not sampled
 * @sample, @blame: its records, NULL if there was no room
 */
struct elide_waits {
	uint64_t weight;
	struct elide_sample *sample;
	struct elide_blame *blame;
};

/**
 * elide_evidence_waits() - a thread has found a lock held and is about to wait for it.
 * @t: the calling thread
 * @row: counters of the call
 * @lock: the lock; only its address is used
 * @holder: thread id in the lock, 0 if it has none
 * @w: filled
 */
void elide_evidence_waits(struct elide_thread *t, struct elide_row *row, const void *lock,
			  uint32_t holder, struct elide_waits *w);

/**
 * elide_evidence_waited() - a thread has locked the lock that it waited for.
 * @w: from elide_evidence_waits()
 * @cycles: length of the wait
 *
 * Not called for a timed call that gave up: such a wait is not counted.
 */
void elide_evidence_waited(const struct elide_waits *w, unsigned long long cycles);

/**
 * elide_evidence_sleeps() - a thread is about to wait where nothing is held afterwards.
 * @t: the calling thread
 * @row: counters of the call
 * @w: filled
 *
 * Who ends the wait is known only at its end: elide_evidence_woken().
 */
void elide_evidence_sleeps(struct elide_thread *t, struct elide_row *row, struct elide_waits *w);

/**
 * elide_evidence_woken() - such a wait, which is sampled, is over.
 * @row: counters of the call
 * @waker: the call that ended it, NULL if that is not known
 * @w: from elide_evidence_sleeps()
 * @cycles: length of the wait
 */
void elide_evidence_woken(struct elide_row *row, const struct elide_waker *waker,
			  struct elide_waits *w, unsigned long long cycles);

/**
 * elide_evidence_reacquired() - a wait for a condition variable has waited for its mutex, too.
 * @t: the calling thread, which holds the mutex
 * @row: counters of the call, of kind ELIDE_KIND_REACQUIRE, in which the wait is counted
 * @mutex: the mutex; only its address is used
 * @tid: the thread that held it before
 * @cycles: length of the wait
 */
void elide_evidence_reacquired(struct elide_thread *t, struct elide_row *row, const void *mutex,
			       uint32_t tid, unsigned long long cycles);

/**
 * elide_evidence_blocked() - a lock was released that others waited for.
 * @t: the calling thread
 * @lock: the lock; only its address is used
 * @kind: enum elide_kind of the call that had locked it
 * @site: return address of the unlock call
 */
void elide_evidence_blocked(struct elide_thread *t, const void *lock, enum elide_kind kind,
			    const void *site);

/* Bits by class: threads have waited for its locks, or transactions were aborted at them. */
extern uint8_t elide_contended_classes[ELIDE_TAG_HOT / 8];

/**
 * elide_evidence_locked() - note by which call a lock was locked, in a process that elides.
 * @row: counters of the call
 * @lock: the lock
 *
 * Only of classes that are contended: to find the lock may be a cache miss, and nobody is to blame
 * for what does not happen. So the holders at the first wait or abort of a class are not known.
 */
static inline void elide_evidence_locked(const struct elide_row *row, const void *lock)
{
	if (likely(!(READ_ONCE(elide_contended_classes[row->class_index / 8]) >>
		     row->class_index % 8 & 1)))
		return;
	if (row->kind)
		elide_registry_set_holder(lock, (const void *)row->site, row->kind);
}

/**
 * elide_evidence_loads() - write down a load that was sampled in a locked section, at its end.
 * @t: the calling thread, in that section
 *
 * Only if attempts of its row, which is of this thread, have aborted by conflicts.
 */
void elide_evidence_loads(struct elide_thread *t);

#pragma GCC visibility pop

#endif
