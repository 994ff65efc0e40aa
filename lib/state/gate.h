/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * gate.h - global-lock paths: functions that elide_global_run() calls, one at a time in a process, outside
 * transactions.
 */
#ifndef ELIDE_GATE_H
#define ELIDE_GATE_H

#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

/*
 * This thread is in a global-lock path, or is the child of a vfork(): its lock calls, also in handlers of a
 * fault, pass through.
 */
extern __thread bool elide_busy;

/**
 * elide_gate_start() - make the lock of the global-lock paths. Before that elide_global_run() refuses.
 * @ready: called at the beginning of each global-lock path, with the lock held: makes the data file, and
 *         has a forked child start afresh; if it does not return 0, the global-lock path is refused
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
 * @body: the function
 * @arg: its argument
 *
 * Blocks all signals but those of faults while @body runs: a handler can neither interrupt the global-lock
 * path nor leave it by longjmp(), and asynchronous cancellation waits: it may end the thread here, after
 * @body. The first global-lock path of a forked child starts the child afresh.
 *
 * The caller lends its priority to the holder (pi-lock.h), and waits for one global-lock path of each
 * thread before it. The longest ones are the first of a process, which makes the data file, and one that
 * finds that a thread with some thousand locks has ended: milliseconds. Others take microseconds.
 *
 * Return: false if this call has to pass through and @body has not run: the engine does not run,
 * or this thread is in a global-lock path already (a handler of a fault, or a lock
 * taken by something the engine calls).
 */
bool elide_global_run(void (*body)(void *arg), void *arg);

/**
 * elide_global_try_run() - elide_global_run() unless another thread is in a global-lock path.
 * @body: the function
 * @arg: its argument
 *
 * For threads that hold a lock of the program: others may spin for that lock on all processors, so that the
 * thread in the global-lock path gets none and does not end.
 *
 * Return: false also if another thread is in a global-lock path.
 */
bool elide_global_try_run(void (*body)(void *arg), void *arg);

/**
 * elide_own_run() - run a function that changes only what is the calling thread's own.
 * @body: the function
 * @arg: its argument
 *
 * As in a global-lock path signals are blocked, and lock calls pass through, but there is neither the
 * engine's lock nor another stack. So it waits for nobody: if hundreds of threads begin at once, those that
 * wait for the engine's lock are put to sleep and woken up one by one.
 *
 * A thread without a block may get one in @body: elide_thread_own().
 *
 * Return: false if @body has not run: also under a filter, and in a forked child before its first
 * global-lock path.
 */
bool elide_own_run(void (*body)(void *arg), void *arg);

/**
 * elide_global_run_unready() - elide_global_run() without the call of @ready: the process ends.
 * @body: the function
 * @arg: its argument
 *
 * Return: as elide_global_run().
 */
bool elide_global_run_unready(void (*body)(void *arg), void *arg);

/**
 * elide_gate_close() - a filter comes: from now on global-lock paths make no system call.
 *
 * Waits for the end of those that do, 200 ms at most. Not in a global-lock path. Holds until
 * elide_gate_open() was called as often, in forked children, too.
 */
void elide_gate_close(void);

/** elide_gate_open() - the filter of one elide_gate_close() has not come. */
void elide_gate_open(void);

#pragma GCC visibility pop

#endif
