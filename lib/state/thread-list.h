/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * thread-list.h - the blocks of all threads: one after the other, and by thread id.
 */
#ifndef ELIDE_THREAD_LIST_H
#define ELIDE_THREAD_LIST_H

#include <stdint.h>

#include "thread.h"

#pragma GCC visibility push(hidden)

/** elide_threads_all() - the first of all blocks of threads, also of those that have ended. */
struct elide_thread *elide_threads_all(void);

/**
 * elide_thread_of() - the block of the thread with that id, if it is known; NULL.
 *
 * If elide_thread.tid is not @tid, that thread has ended, or another one has the block.
 */
struct elide_thread *elide_thread_of(uint32_t tid);

/** elide_thread_known() - elide_thread_of() finds @t from now on by its id. */
void elide_thread_known(struct elide_thread *t);

/** elide_threads_head() - address of the pointer to the first block, for elide_inspect_fill(). */
const void *elide_threads_head(void);

/** elide_threads_add() - a new block: put it in front of the others. */
void elide_threads_add(struct elide_thread *t);

/** elide_threads_clear() - in a forked child: there are no blocks. */
void elide_threads_clear(void);

#pragma GCC visibility pop

#endif
