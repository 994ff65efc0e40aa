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

#include "emulator.h"
#include "pmu.h"
#include "evidence-table.h"
#include "heap.h"
#include "thread.h"

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
 *
 * Return: 0 or -ENOMEM.
 */
int elide_evidence_start(void);

/** elide_evidence_forget() - in a forked child: what is in the tables is the parent's. */
void elide_evidence_forget(void);

/** elide_evidence_events_start() - make room for decisions. Return: 0 or -ENOMEM. */
int elide_evidence_events_start(void);

/** elide_evidence_events_forget() - in a forked child: they are the parent's. */
void elide_evidence_events_forget(void);

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
 * @held:   the lock is really held now
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
 * elide_evidence_taken() - a lock was taken really in a process that elides: remember by whom.
 * @row: counters of the call
 * @lock: the lock
 */
void elide_evidence_taken(const struct elide_row *row, const void *lock);

/**
 * elide_evidence_loads() - a section under the real lock ends: what has been sampled in it?
 * @t: the calling thread, in that section
 *
 * Only where calls of its row, in this thread, abort by conflicts.
 */
void elide_evidence_loads(struct elide_thread *t);

/**
 * elide_evidence_event() - the policy has decided something.
 * @type: enum elide_event_type
 * @row: counters of the call, NULL if it is about the whole process; as @lock and @policy
 * @lock: the lock
 * @policy: its state
 * @window: what it was decided on
 */
void elide_evidence_event(enum elide_event_type type, const struct elide_row *row,
			  const void *lock, const struct policy_lock *policy,
			  const struct policy_window *window);

/**
 * elide_evidence_chose() - the adaptive policy has decided something.
 * @class_index: of the locks
 * @lock: address of the lock, if it is about this one alone; 0
 * @site, @kind: call site it is about; NULL and the kind of the first for all
 * @decision: what was decided
 */
void elide_evidence_chose(uint32_t class_index, uint64_t lock, const void *site,
			  enum elide_kind kind, const struct learn_decision *decision);

/*
 * For evidence.c's other half, detail.c. In a slow path.
 */

/**
 * elide_detail_add() - write down how an abort came about.
 * @t: the calling thread
 * @row: counters of the call
 * @a: the abort
 * @weight: aborts it stands for
 * @stack: of the lock call
 */
void elide_detail_add(struct elide_thread *t, const struct elide_row *row,
		      const struct elide_aborted *a, uint64_t weight, uint32_t stack);

/**
 * elide_detail_hint() - write down a load that hints at the line of conflicts.
 * @row: counters of the call
 * @lock: address of the lock
 * @load: as it was sampled
 */
void elide_detail_hint(const struct elide_row *row, const void *lock,
		       const struct elide_pmu_load *load);

/** elide_stack_top() - end of the calling thread's stack, whose id is @tid. */
uint64_t elide_stack_top(uint32_t tid);

/**
 * elide_place() - what an address of this process lies in, if it is no object's.
 *
 * What is no stack's is the heap's; of a stack only its last MiB is known as such.
 *
 * In a slow path.
 *
 * Return: ELIDE_DATA_STACK, ELIDE_DATA_HEAP or ELIDE_DATA_UNKNOWN.
 */
enum elide_data_type elide_place(uint64_t address);

#pragma GCC visibility pop

#endif
