/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * detail.h - how an abort came about, as a record of the data file.
 *
 * In global-lock paths only.
 */
#ifndef ELIDE_DETAIL_H
#define ELIDE_DETAIL_H

#include "abort.h"

#pragma GCC visibility push(hidden)

/**
 * elide_detail_add() - write down how an abort came about.
 * @t: the calling thread
 * @row: counters of the call
 * @a: the abort
 * @weight: aborts for which it counts
 * @stack: number of the stack of the lock call, from elide_stack_save()
 */
void elide_detail_add(struct elide_thread *t, const struct elide_row *row,
		      const struct elide_aborted *a, uint64_t weight, uint32_t stack);

/**
 * elide_detail_hint() - write down a load that hints at a line of conflicts.
 * @row: counters of the call
 * @lock: address of the lock
 * @load: the sample
 */
void elide_detail_hint(const struct elide_row *row, const void *lock,
		       const struct elide_pmu_load *load);

#pragma GCC visibility pop

#endif
