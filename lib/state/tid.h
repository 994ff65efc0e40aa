/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tid.h - the ids of the calling thread and its process, also after forks that libc does not know of.
 */
#ifndef ELIDE_TID_H
#define ELIDE_TID_H

#include <stdbool.h>
#include <stdint.h>

#include "thread.h"

#pragma GCC visibility push(hidden)

/**
 * elide_tid_is_own() - is @tid this thread, now or before it was forked?
 * @t: the calling thread; NULL if it has no block, then not inside a transaction
 *
 * A child of fork() may release what its parent's thread had locked, and so may a child of that. Behind more
 * forks than are remembered every id counts as own. Allowed inside a transaction.
 */
bool elide_tid_is_own(const struct elide_thread *t, uint32_t tid);

/** elide_tid_now() - the Linux thread id of the caller; 0: not known, under a filter. */
uint32_t elide_tid_now(void);

/**
 * elide_tid_kept() - the Linux thread id of the caller, as libc has it; 0: not known.
 *
 * After a fork by the bare system call, libc still has the parent's.
 */
uint32_t elide_tid_kept(void);

/** elide_pid_now() - the number of the process. */
uint32_t elide_pid_now(void);

/** elide_tid_remember() - @tid is this thread's id from now on: it is new, or was forked. */
void elide_tid_remember(uint32_t tid);

#pragma GCC visibility pop

#endif
