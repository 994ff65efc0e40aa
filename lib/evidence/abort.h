/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * abort.h - the evidence of an abort: where and how it happened, and which call is to blame.
 */
#ifndef ELIDE_ABORT_H
#define ELIDE_ABORT_H

#include "../emulator.h"
#include "../state/thread.h"
#include "pmu.h"

#pragma GCC visibility push(hidden)

/**
 * struct elide_aborted - what is known of an abort right after it.
 * @lock:   address of the lock
 * @cause:  enum elide_cause
 * @cycles: cycles that it adds to the row's wasted ones: the emulator's count of the attempt; on a
 *          processor, for one in ELIDE_TIME_PERIOD attempts, its length times that number; else 0
 * @held:   the lock is locked now
 * @brief:  the beginning of the emulator's record, NULL if there is none
 * @detail: the whole record, in the global-lock path of a sample; NULL elsewhere, and if there is none
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
 * elide_evidence_abort() - sample an abort that is counted already.
 * @t: the calling thread
 * @row: counters of the call
 * @a: the abort
 */
void elide_evidence_abort(struct elide_thread *t, struct elide_row *row,
			  const struct elide_aborted *a);

/**
 * elide_evidence_loads() - write down a load that was sampled in a locked section, at its end.
 * @t: the calling thread, in that section
 *
 * Only if conflicts have aborted attempts of its row.
 */
void elide_evidence_loads(struct elide_thread *t);

#pragma GCC visibility pop

#endif
