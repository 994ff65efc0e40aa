/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * crowd.h - the arm "restrict": few threads wait for a contended lock, the others are parked.
 *
 * policy/crowd.h decides, and has the states of a parked thread; this half keeps the crowds and makes
 * threads sleep. Only calls that have found a lock held come here. Nothing here waits for another
 * thread, but for a bounded time: a parked thread wakes up by itself. The memory of the lock is
 * only read, by threads that are in a call for it.
 *
 * A crowd is a place in a table of 64, for a lock; further locks at a time are not restricted, nor are
 * further threads than 128 at a lock: ELIDE_DROPPED_CROWDS counts their acquisitions. The table is in
 * memory that a fork wipes: a child has no crowd, and a thread that was parked there is not, any more.
 */
#ifndef ELIDE_CROWD_H
#define ELIDE_CROWD_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include "../state/thread.h"

#pragma GCC visibility push(hidden)

struct crowd;

/**
 * struct crowd_call - a lock call that has found its lock held.
 * @t: the calling thread, outside transactions
 * @row: counters of the call
 * @lock: address of the lock
 * @is_free: could the call have the lock now? Reads it only
 * @kind: enum elide_kind
 * @clock, @until: deadline of a timed call, which @clock is the clock of; @until is NULL without
 */
struct crowd_call {
	struct elide_thread *t;
	struct elide_row *row;
	const void *lock;
	bool (*is_free)(const void *lock, enum elide_kind kind);
	enum elide_kind kind;
	clockid_t clock;
	const struct timespec *until;
};

/** crowd_start() - make room for the table. Return: 0 or -ENOMEM. */
int crowd_start(void);

/** crowd_restricts() - is the arm of the call of @row, for @lock, "restrict" now? */
bool crowd_restricts(struct elide_thread *t, const struct elide_row *row, const void *lock);

/**
 * crowd_enter() - the lock is held: may the call wait for it? If not now, it is parked until it may.
 * @call: the call, whose arm is "restrict"
 *
 * errno stays as it is. Signal handlers run while the thread is parked. No cancellation point;
 * asynchronous cancellation ends the thread there, and what it leaves is found by others.
 *
 * Return: for crowd_leave(), once the call has the lock or an error; NULL: the call is not restricted.
 */
struct crowd *crowd_enter(const struct crowd_call *call);

/** crowd_left() - use crowd_leave(). */
void crowd_left(struct crowd *crowd);

/** crowd_leave() - the call no longer waits. @crowd: may be NULL */
static inline void crowd_leave(struct crowd *crowd)
{
	if (unlikely(crowd))
		crowd_left(crowd);
}

#pragma GCC visibility pop

#endif
