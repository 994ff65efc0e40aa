/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * gate.h - global-lock paths, of which a process has one at a time.
 *
 * The global-lock paths of the engine are functions that elide_global_run() calls, outside transactions.
 */
#ifndef ELIDE_GATE_H
#define ELIDE_GATE_H

#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

/*
 * This thread is in a global-lock path, or is the child of a vfork(): what it calls, and
 * handlers of a fault there, pass through.
 */
extern __thread bool elide_busy;

/**
 * elide_gate_start() - make the lock of the global-lock paths. Before that elide_global_run() refuses.
 * @ready: called with the lock held, at the beginning of each global-lock path: has the data file made,
 *         and a forked child start afresh; it returns 0, or the global-lock path is refused
 *
 * Return: 0 or -ENOMEM.
 */
int elide_gate_start(int (*ready)(void));

/** elide_gate_same_process() - is this the process for which elide_gate_adopt() was called? */
bool elide_gate_same_process(void);

/** elide_gate_adopt() - in a forked child, in its first global-lock path: the tables are its own now. */
void elide_gate_adopt(void);

/**
 * elide_global_run() - run a global-lock path: with the engine's lock, a data file, and a stack of its own.
 * @body: what is done in it
 * @arg: its argument
 *
 * Blocks all signals but those of faults while @body runs: a handler can neither
 * interrupt the global-lock path nor leave it by longjmp(), and asynchronous cancellation waits.
 * In the first global-lock path of a forked child it starts the child afresh. A thread with asynchronous
 * cancellation may end here, after @body.
 *
 * A caller of higher priority lends it to the holder (pi-lock.h). It waits for one global-lock
 * path of each thread that was there before. The longest global-lock paths are the first of a
 * process, which makes the data file, and one that finds that a thread with some
 * thousand locks has ended: milliseconds. Others take microseconds.
 *
 * Return: false if this call has to pass through and @body has not run: the engine does not run,
 * or this thread is in a global-lock path already (a handler of a fault, or a lock
 * taken by something the engine calls).
 */
bool elide_global_run(void (*body)(void *arg), void *arg);

/**
 * elide_global_try_run() - elide_global_run() unless another thread is in a global-lock path.
 * @body: what is done in it
 * @arg: its argument
 *
 * For threads that hold a lock of the program: others may wait for that one on a processor each, and
 * the thread in the global-lock path, which they have driven from its own, would not come to its end.
 *
 * Return: false also if another thread is in a global-lock path.
 */
bool elide_global_try_run(void (*body)(void *arg), void *arg);

/**
 * elide_own_run() - run what changes nothing but what is the calling thread's own.
 * @body: what is done
 * @arg: its argument
 *
 * Of a global-lock path it has that signals are blocked, and that nothing it calls is counted; it does not
 * have the engine's lock, nor another stack. So it waits for nobody: where hundreds of threads begin
 * at once, those that wait for the lock are put to sleep and woken up one by one.
 *
 * A thread without a block may get one in @body: elide_thread_own().
 *
 * Return: false if @body has not run: also under a filter, and in a forked child before its first
 * global-lock path.
 */
bool elide_own_run(void (*body)(void *arg), void *arg);

/**
 * elide_global_run_unready() - elide_global_run() without the call of @ready: the process ends.
 * @body: what is done in it
 * @arg: its argument
 *
 * Return: as elide_global_run().
 */
bool elide_global_run_unready(void (*body)(void *arg), void *arg);

/**
 * elide_gate_close() - a filter comes: from now on global-lock paths make no system call.
 *
 * Waits until the global-lock paths have ended that do, 200 ms at most. Not in a global-lock path. Until as
 * many calls of elide_gate_open(); in forked children too.
 */
void elide_gate_close(void);

/** elide_gate_open() - the filter of one elide_gate_close() has not come. */
void elide_gate_open(void);

#pragma GCC visibility pop

#endif
