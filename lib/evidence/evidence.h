/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * evidence.h - why it aborted and who is to blame, sampled: ELIDE_STACKS.
 *
 * Of every cause of a row in a thread the first few aborts are looked at, and
 * then each with the chance of one in STACKS; each sample stands for as many
 * as its chance says, so that sums of counts are right in expectation. The
 * same for waits. What is seen of one goes into the records of stacks,
 * details and blame in the data file; equal ones are merged.
 *
 * Everything here is a slow path, outside transactions, and does nothing
 * where nothing is sampled; but the policy's decisions are always told.
 */
#ifndef ELIDE_EVIDENCE_H
#define ELIDE_EVIDENCE_H

#include "../base/heap.h"
#include "../emulator.h"
#include "../state/thread.h"
#include "pmu.h"
#include "table.h"

#pragma GCC visibility push(hidden)

/*
 * Of these each is looked at, in the first threads. Many threads that begin at
 * once would otherwise keep each other waiting for as long as the first of
 * them all are looked at; of a further one it is the very first.
 */
#define EVIDENCE_FIRST   8
#define EVIDENCE_THREADS 4

/** elide_evidence_first() - how many are looked at for certain in thread number @nr, from 1. */
static inline uint32_t elide_evidence_first(uint32_t nr)
{
	return nr <= EVIDENCE_THREADS ? EVIDENCE_FIRST : 1;
}

/**
 * elide_evidence_start() - make the tables.
 * @look: called in a slow path with the id of a thread for whose lock another one waits: if that
 *        thread has ended, what belongs to its end is done
 *
 * Return: 0 or -ENOMEM.
 */
int elide_evidence_start(void (*look)(uint32_t tid));

/**
 * elide_evidence_weight() - is this event looked at?
 * @t: the calling thread
 * @nth: events of its kind so far, this one included
 *
 * Return: events that it stands for, 0 if it is not looked at.
 */
uint64_t elide_evidence_weight(struct elide_thread *t, uint64_t nth);

/**
 * struct elide_aborted - an abort, as it is known right after it.
 * @lock:   address of the lock
 * @cause:  enum elide_cause
 * @cycles: that it has wasted
 * @held:   the lock is locked now
 * @detail: the emulator's record, NULL if there is none
 * @sampled: the processor's sample, NULL if there is none
 */
struct elide_aborted {
	const void *lock;
	enum elide_cause cause;
	unsigned long long cycles;
	bool held;
	const struct rtmgrind_abort *detail;
	const struct elide_pmu_abort *sampled;
};

/**
 * elide_evidence_abort() - an attempt has aborted; it is counted already.
 * @t: the calling thread
 * @row: counters of the call
 * @a: the abort
 */
void elide_evidence_abort(struct elide_thread *t, struct elide_row *row,
			  const struct elide_aborted *a);

/**
 * struct elide_waits - a wait that is looked at.
 * @weight: waits it stands for, 0 if it is not looked at
 * @sample, @blame: its records, NULL if there was no room
 */
struct elide_waits {
	uint64_t weight;
	struct elide_sample *sample;
	struct elide_blame *blame;
};

/**
 * elide_evidence_waits() - a lock was found held, and the thread is about to wait for it.
 * @t: the calling thread
 * @row: counters of the call
 * @lock: the lock; only its address is used
 * @holder: thread id in the lock, 0 if it has none
 * @w: filled
 */
void elide_evidence_waits(struct elide_thread *t, struct elide_row *row, const void *lock,
			  uint32_t holder, struct elide_waits *w);

/**
 * elide_evidence_waited() - it has the lock now.
 * @w: from elide_evidence_waits()
 * @cycles: waited
 *
 * Not called where the call gave up: then nothing is counted.
 */
void elide_evidence_waited(const struct elide_waits *w, unsigned long long cycles);

/**
 * elide_evidence_blocked() - a lock was released that others waited for.
 * @t: the calling thread
 * @lock: the lock; only its address is used
 * @kind: enum elide_kind of the call that had taken it
 * @site: return address of the unlock call
 */
void elide_evidence_blocked(struct elide_thread *t, const void *lock, enum elide_kind kind,
			    const void *site);

/**
 * elide_evidence_locked() - a lock was locked in a process that elides: remember by which call.
 * @row: counters of the call
 * @lock: the lock
 */
void elide_evidence_locked(const struct elide_row *row, const void *lock);

/**
 * elide_evidence_loads() - a section under the real lock ends: what has been sampled in it?
 * @t: the calling thread, in that section
 *
 * Only where calls of its row, in this thread, abort by conflicts.
 */
void elide_evidence_loads(struct elide_thread *t);

#pragma GCC visibility pop

#endif
