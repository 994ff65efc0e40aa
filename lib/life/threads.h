/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * threads.h - birth and end of threads.
 */
#ifndef ELIDE_THREADS_H
#define ELIDE_THREADS_H

#include <stdint.h>

#include "../state/thread.h"

#pragma GCC visibility push(hidden)

/**
 * elide_thread_get() - the calling thread's block, made if it has none.
 *
 * In a global-lock path. Return: the block; NULL if there is no room for one more, which is counted.
 */
struct elide_thread *elide_thread_get(void);

/**
 * elide_thread_own() - the same without a global-lock path, in elide_own_run().
 *
 * Return: NULL also if a global-lock path has to make a block.
 */
struct elide_thread *elide_thread_own(void);

/**
 * elide_threads_ahead() - a thread has begun: make blocks for the next ones, if few are left.
 *
 * Outside global-lock paths. Not if another thread is in a global-lock path: then a later thread does so.
 */
void elide_threads_ahead(void);

/**
 * elide_thread_refused() - is there no block for the calling thread, which has none? Then it is
 * refused.
 *
 * Outside global-lock paths, as thousands of threads may ask. At the limit a thread looks at some blocks
 * each time, whether their threads have ended. Return: false also if a global-lock path has to find out.
 */
bool elide_thread_refused(void);

/** elide_threads_end() - the process ends: look at all threads that have ended. In a global-lock path. */
void elide_threads_end(void);

/**
 * elide_thread_look() - a thread's lock is waited for: has the thread ended?
 * @tid: its Linux thread id
 *
 * In a global-lock path. If it has, the locks that it still holds are counted as misuses.
 */
void elide_thread_look(uint32_t tid);

/**
 * elide_threads_reserve() - have blocks for @nr further threads. In a global-lock path.
 * @nr: threads; fewer if there is no memory, or with those there are more than MAX_THREADS
 */
void elide_threads_reserve(uint32_t nr);

/** elide_threads_forget() - in a forked child: the other threads are gone. */
void elide_threads_forget(void);

/**
 * elide_thread_joined() - a thread has ended, and another one knows.
 * @handle: its thread control block
 * @tid: its Linux thread id; 0: the thread is not joined yet, so no other one has that handle
 *
 * As soon as a thread is joined its control block may be that of a new one, which runs: the
 * id tells the two apart. The locks that the thread holds still are counted as misuses; its
 * block is the next thread's. Not inside a transaction.
 */
void elide_thread_joined(const void *handle, uint32_t tid);

#pragma GCC visibility pop

#endif
