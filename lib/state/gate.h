/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * gate.h - begin and end of a slow path, of which a process has one at a time.
 *
 * The slow paths of the engine run between elide_slow_enter() and elide_slow_leave(), outside
 * transactions.
 */
#ifndef ELIDE_GATE_H
#define ELIDE_GATE_H

#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

/*
 * This thread is in a slow path, or is the child of a vfork(): what it calls, and
 * handlers of a fault there, pass through.
 */
extern __thread bool elide_busy;

/**
 * elide_gate_start() - make the lock of the slow paths. Before that elide_slow_enter() refuses.
 * @ready: called with the lock held, at the beginning of each slow path: has the data file made,
 *         and a forked child start afresh; it returns 0, or the slow path is refused
 *
 * Return: 0 or -ENOMEM.
 */
int elide_gate_start(int (*ready)(void));

/** elide_gate_same_process() - is this the process for which elide_gate_adopt() was called? */
bool elide_gate_same_process(void);

/** elide_gate_adopt() - in a forked child, in its first slow path: the tables are its own now. */
void elide_gate_adopt(void);

/**
 * struct elide_slow - what a slow path gives back when it ends.
 * @signals: mask of blocked signals
 * @tid: Linux thread id, under which the lock is held
 * @saved_errno: errno
 */
struct elide_slow {
	uint64_t signals;
	uint32_t tid;
	int saved_errno;
};

/**
 * elide_slow_enter() - begin a slow path: acquire the engine's lock, have a data file.
 * @slow: kept until elide_slow_leave()
 *
 * Blocks all signals but those of faults until elide_slow_leave(): a handler can neither
 * interrupt the slow path nor leave it by longjmp(), and asynchronous cancellation waits.
 * In the first slow path of a forked child it starts the child afresh.
 *
 * A caller of higher priority lends it to the holder (pi-lock.h). It waits for one slow
 * path of each thread that was there before. The longest slow paths are the first of a
 * process, which makes the data file, and one that finds that a thread with some
 * thousand locks has ended: milliseconds. Others take microseconds.
 *
 * Return: false if this call has to pass through: the engine does not run,
 * or this thread is in a slow path already (a handler of a fault, or a lock
 * taken by something the engine calls).
 */
bool elide_slow_enter(struct elide_slow *slow);

/**
 * elide_slow_try_enter() - elide_slow_enter() unless another thread is in a slow path.
 * @slow: kept until elide_slow_leave()
 *
 * For threads that hold a lock of the program: others may wait for that one on a processor each, and
 * the thread in the slow path, which they have driven from its own, would not come to its end.
 *
 * Return: false also if another thread is in a slow path.
 */
bool elide_slow_try_enter(struct elide_slow *slow);

/**
 * elide_slow_is_taken() - is a thread in a slow path now? For callers that prepare something for
 * their slow path: if one is, elide_slow_try_enter() would refuse.
 */
bool elide_slow_is_taken(void);

/**
 * elide_slow_lock() - elide_slow_enter() without the call of @ready: the process ends.
 * @slow: kept until elide_slow_leave()
 *
 * Return: as elide_slow_enter().
 */
bool elide_slow_lock(struct elide_slow *slow);

/**
 * elide_slow_leave() - end a slow path.
 *
 * A thread with asynchronous cancellation may end here.
 */
void elide_slow_leave(const struct elide_slow *slow);

#pragma GCC visibility pop

#endif
