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
 * elide_thread_own() - elide_thread_get() without a global-lock path, in elide_own_run().
 *
 * Return: NULL also if a global-lock path has to make a block.
 */
struct elide_thread *elide_thread_own(void);

/**
 * elide_threads_ahead() - a thread has begun: make blocks for the next ones, if few are left.
 *
 * Outside global-lock paths. While another thread is in one, this is left to a later thread.
 */
void elide_threads_ahead(void);

/**
 * elide_thread_refused() - refuse the calling thread if ELIDE_MAX_THREADS allows no block for it.
 *
 * Outside global-lock paths, as thousands of threads may ask. Each time some blocks are tested for threads
 * that have ended. Return: false also if a global-lock path has to find out.
 */
bool elide_thread_refused(void);

/** elide_threads_end() - the process ends: find all threads that have ended. In a global-lock path. */
void elide_threads_end(void);

/**
 * elide_thread_look() - others wait for a lock of a thread: has it ended?
 * @tid: its Linux thread id
 *
 * In a global-lock path. If it has, the locks that it still holds are counted as misuses.
 */
void elide_thread_look(uint32_t tid);

/**
 * elide_threads_reserve() - have @nr free blocks, fewer if ELIDE_MAX_THREADS or the memory allows no more.
 *
 * In a global-lock path.
 */
void elide_threads_reserve(uint32_t nr);

/**
 * elide_threads_restart() - a further data file begins: no thread has a row in it yet.
 *
 * In a global-lock path, before the file is made. Threads that are in a lock call go on with what they have
 * found there, which stays mapped: elide_data_leave().
 */
void elide_threads_restart(void);

/** elide_threads_forget() - in a forked child: the other threads are gone. */
void elide_threads_forget(void);

/**
 * elide_thread_joined() - a thread has ended, and another one knows.
 * @handle: its thread control block
 * @tid: its Linux thread id; 0: the thread is not joined yet, so no other one has that handle
 *
 * Once the thread is joined, a new one may have its control block: the id tells the two apart. The locks
 * that the thread still holds are counted as misuses; its block becomes free. Not inside a transaction.
 */
void elide_thread_joined(const void *handle, uint32_t tid);

#pragma GCC visibility pop

#endif
