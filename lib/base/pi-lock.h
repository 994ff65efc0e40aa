/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * pi-lock.h - a lock whose holder inherits the priority of its waiters.
 *
 * A priority-inheriting futex (futex(2), FUTEX_LOCK_PI): the word holds the thread id
 * of the holder, 0 if there is none. A real-time thread that waits lends the holder its priority, so it
 * waits at most as long as the holder's critical section takes to run. Spinning, or yielding, it would
 * starve the holder.
 */
#ifndef ELIDE_PI_LOCK_H
#define ELIDE_PI_LOCK_H

#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

/**
 * struct elide_pi_lock - a lock in private memory; all 0: it is free.
 * @word:     of the futex
 * @sleepers: threads that may sleep in the kernel until it is released
 * @refused:  the kernel has refused to release it: no thread sleeps in the kernel any more
 */
struct elide_pi_lock {
	uint32_t word;
	uint32_t sleepers;
	uint32_t refused;
};

/**
 * elide_pi_lock() - acquire.
 * @lock: the lock
 * @tid:  Linux thread id of the caller, which does not hold the lock
 *
 * Asynchronous signals must be blocked: neither a handler that leaves by longjmp() nor
 * cancellation may end the section. Changes errno. Acquire pairs with the release in
 * elide_pi_unlock().
 *
 * Return: false if the lock will never be free again: its holder has ended with it.
 */
bool elide_pi_lock(struct elide_pi_lock *lock, uint32_t tid);

/**
 * elide_pi_trylock() - acquire if nobody holds the lock. Parameters as of elide_pi_lock().
 *
 * Return: whether it was acquired.
 */
bool elide_pi_trylock(struct elide_pi_lock *lock, uint32_t tid);

/** elide_pi_unlock() - release. Parameters as of elide_pi_lock(). Changes errno. */
void elide_pi_unlock(struct elide_pi_lock *lock, uint32_t tid);

#pragma GCC visibility pop

#endif
