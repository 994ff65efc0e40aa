/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * waker.h - who woke whom: the last call that signalled, posted, arrived, or released to a waiter.
 *
 * One table of fixed size for the process. A later call may take the place of an earlier one, whose wait then
 * has no known waker. No locks and no allocation, so that sem_post() may use it in signal handlers. Written
 * without synchronisation: a record that two threads write at once may name either call, for one wait.
 */
#ifndef ELIDE_WAKER_H
#define ELIDE_WAKER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../compiler.h"

#pragma GCC visibility push(hidden)

/* Objects whose wakers are known at the same time, if no two share a place: 32 KiB. Chosen, not measured. */
#define ELIDE_NR_WAKERS 1024

/**
 * struct elide_waker - the last call that may have ended a wait.
 * @object: address of the condition variable, semaphore, barrier or mutex
 * @by:     return address of the call; for a mutex, the id of the thread that released it
 * @time:   time-stamp counter, before the call did its work
 * @peer:   the thread of that call has itself waited there
 * @stack:  that of this thread, as in struct elide_thread_record
 */
struct elide_waker {
	const void *object;
	uint64_t by;
	uint64_t time;
	uint32_t peer;
	uint32_t stack;
};

extern struct elide_waker elide_wakers[ELIDE_NR_WAKERS];

/* Threads that wait at the objects of a place: 4 KiB, read by each call that may wake one. */
extern uint32_t elide_waiters[ELIDE_NR_WAKERS];

/* The mutex with which a thread waited last at a condition variable of a place: 8 KiB. */
extern const void *elide_waited_with[ELIDE_NR_WAKERS];

/**
 * struct elide_futex_place - the futex of a place at which a thread waited last, and what is not in an object's data.
 * @word: its address
 * @as:   what stands for it in the registry: elide_blocking_begin_futex()
 * @to:   the futex to which a call has moved its waiters last; NULL: none
 */
struct elide_futex_place {
	const void *word;
	const void *as;
	const void *to;
};

extern struct elide_futex_place elide_futex_places[ELIDE_NR_WAKERS];

/* Multiplicative hashing (TAOCP vol. 3, 6.4) with 2^64 / phi; objects are aligned to 8 or more. */
static inline unsigned int elide_waker_place(const void *object)
{
	return ((uintptr_t)object >> 3) * 0x9e3779b97f4a7c15ull >> 54;
}

_Static_assert(ELIDE_NR_WAKERS == 1 << (64 - 54), "bits of the hash");

static inline struct elide_waker *elide_waker_of(const void *object)
{
	return &elide_wakers[elide_waker_place(object)];
}

/**
 * elide_waiters_add() - a thread begins (1) or ends (-1) a wait at an object that is not a mutex.
 *
 * A thread whose wait is cancelled, or left by longjmp(), stays counted: from then on each call at that
 * place is noted, even if no thread waits.
 */
static inline void elide_waiters_add(const void *object, int nr)
{
	__atomic_fetch_add(&elide_waiters[elide_waker_place(object)], nr, __ATOMIC_RELAXED);
}

/**
 * elide_waiters_any() - may a thread of this process wait there?
 *
 * A wait that begins at the same time as a call without the mutex may be missed: then its waker is not known.
 */
static inline bool elide_waiters_any(const void *object)
{
	return READ_ONCE(elide_waiters[elide_waker_place(object)]);
}

/** elide_waker_note() - a call is about to wake waiters. Async-signal-safe. */
static inline void elide_waker_note(const void *object, uint64_t by, bool peer, uint32_t stack)
{
	struct elide_waker *w = elide_waker_of(object);

	WRITE_ONCE(w->object, NULL);
	WRITE_ONCE(w->by, by);
	WRITE_ONCE(w->peer, peer);
	WRITE_ONCE(w->stack, stack);
	WRITE_ONCE(w->time, cycles_now());
	barrier();
	WRITE_ONCE(w->object, object);
}

/**
 * elide_waker_find() - which call woke the waiters for an object in that time?
 * @from, @to: time-stamp counter
 * @waker: filled if it returns true
 *
 * A call before @from or after @to has not ended the wait: perhaps one in another process that shares the
 * object did.
 */
static inline bool elide_waker_find(const void *object, uint64_t from, uint64_t to,
				    struct elide_waker *waker)
{
	const struct elide_waker *w = elide_waker_of(object);

	waker->object = READ_ONCE(w->object);
	barrier();
	waker->by = READ_ONCE(w->by);
	waker->time = READ_ONCE(w->time);
	waker->peer = READ_ONCE(w->peer);
	waker->stack = READ_ONCE(w->stack);
	return waker->object == object && waker->time >= from && waker->time <= to;
}

/**
 * elide_waker_find_moved() - elide_waker_find() for a futex, whose waiters a call may have moved to another one.
 */
static inline bool elide_waker_find_moved(const void *word, uint64_t from, uint64_t to, struct elide_waker *waker)
{
	const void *other = READ_ONCE(elide_futex_places[elide_waker_place(word)].to);
	struct elide_waker moved = {0};
	bool known;

	known = elide_waker_find(word, from, to, waker);
	if (unlikely(other) && known && elide_waker_find(other, waker->time, to, &moved))
		*waker = moved;
	return known;
}

/* Cycles: a thread that has waited for a shorter time has not slept. 6 us at 2.7 GHz. */
#define ELIDE_LATE_MIN (1u << 14)

/**
 * elide_waker_late() - of a wait for a lock, the cycles since the release after which the thread could lock.
 * @from, @to: time-stamp counter when the wait began and ended
 *
 * Between the two the thread was woken, and waited for a processor, not for the lock. 0: not known, or the
 * thread has not slept.
 */
static inline uint64_t elide_waker_late(const void *lock, uint64_t from, uint64_t to)
{
	struct elide_waker released;

	return to - from >= ELIDE_LATE_MIN && elide_waker_find(lock, from, to, &released) ? to - released.time : 0;
}

#pragma GCC visibility pop

#endif
