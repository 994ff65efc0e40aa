/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * blocking.h - calls that wait for another thread to signal, to post or to arrive.
 *
 * Nothing is held after them, and they are never elided: they are counted, timed and sampled. A
 * wrapper calls elide_blocking_begin(), the real function, and then elide_blocking_end() or
 * elide_blocking_failed(). A wait that is cancelled, or left by longjmp(), is not counted: nothing has
 * to be undone.
 */
#ifndef ELIDE_BLOCKING_H
#define ELIDE_BLOCKING_H

#include "../evidence/evidence.h"
#include "../state/gate.h"
#include "../state/waker.h"
#include "engine.h"

#pragma GCC visibility push(hidden)

/**
 * struct elide_blocking - a call that may wait.
 * @row:   its counters; NULL if it is not counted
 * @waits: the thread has to wait
 * @object: what it waits for, where it counts as a waiter; NULL elsewhere
 * @start: time-stamp counter before the wait
 * @before: cycles that the thread has waited there in calls just before, which timed out
 * @known: what the thread knows of its last wait at a condition variable, which is this one; or NULL
 * @who:   its sample
 */
struct elide_blocking {
	struct elide_row *row;
	struct elide_cond_call *known;
	bool waits;
	const void *object;
	uint64_t start, before;
	struct elide_waits who;
};

/**
 * elide_blocking_begin() - before the real function.
 * @b: filled
 * @object: the condition variable, semaphore or barrier; only its address is used
 * @site: return address of the call
 * @kind: ELIDE_KIND_SEM or _BARRIER
 * @waits: the thread will have to wait, or it is not known yet
 *
 * Counts nothing in a transaction, ours or the program's.
 */
void elide_blocking_begin(struct elide_blocking *b, const void *object, const void *site,
			  enum elide_kind kind, bool waits);

/**
 * elide_blocking_begin_cond() - the same for a condition variable. The calling thread holds the mutex.
 * @mutex: that it releases; only its address is used
 *
 * Other parameters are those of elide_blocking_begin(). What was found out for the thread's last such
 * call is used again: while it finds it out, other threads wait for the mutex.
 */
void elide_blocking_begin_cond(struct elide_blocking *b, const void *object, const void *mutex,
			       const void *site);

/**
 * elide_blocking_end() - the call has got what it waited for.
 * @b: of the call; @b->waits may have become false
 * @object: as before
 */
void elide_blocking_end(struct elide_blocking *b, const void *object);

/**
 * elide_blocking_failed() - the call has timed out, or would have had to wait.
 * @b: of the call
 *
 * The time of a call that timed out counts as part of the thread's next wait, if that is for the same
 * object: many programs wait in a loop of calls that time out.
 */
void elide_blocking_failed(struct elide_blocking *b);

/**
 * elide_blocking_refused() - the call has returned another error: it has not waited.
 * @b: of the call
 */
void elide_blocking_refused(struct elide_blocking *b);

/**
 * elide_blocking_reacquired() - elide_blocking_end() for a condition variable, which has also locked
 * the mutex again.
 * @b: of the call
 * @object: the condition variable
 * @mutex: the mutex; only its address is used
 * @site: return address of the call
 *
 * The mutex was contended if a thread has released it to a waiter since the signal. Then the wait for
 * the condition variable ends with the signal, and that for the mutex begins there: when the thread
 * was scheduled in between is not known.
 */
void elide_blocking_reacquired(struct elide_blocking *b, const void *object, const void *mutex,
			       const void *site);

/**
 * elide_blocking_wakes() - a thread is about to signal, to post, or to arrive at a barrier.
 * @object: the condition variable, semaphore or barrier; only its address is used
 * @site: return address of the call
 *
 * Async-signal-safe. Does nothing if no thread waits: many programs signal at each release. Does nothing
 * in a transaction, which the number of waiters must not become a part of: if a thread waits, the call's
 * system call aborts that.
 */
static inline void elide_blocking_wakes(const void *object, const void *site)
{
	const struct elide_thread *t = elide_self;
	bool peer = false;

	if (!elide_process.running || elide_busy || (READ_ONCE(elide_enabled) && rtm_test()))
		return;
	if (likely(!elide_waiters_any(object)))
		return;
	for (int i = 0; t && i < ELIDE_NR_WAITED; i++)
		peer |= t->waited[i] == object;
	elide_waker_note(object, (uintptr_t)site, peer);
}

#pragma GCC visibility pop

#endif
