/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * mutex.h - shared by mutex.c, mutex-timed.c and c11.c.
 */
#ifndef ELIDE_MUTEX_H
#define ELIDE_MUTEX_H

#include "glibc-layout.h"
#include "section/engine.h"
#include "state/tid.h"
#include "wait.h"

#pragma GCC visibility push(hidden)

/* glibc has to lock robust, priority and process-shared mutexes, and all unknown ones: no rule. */
static inline const struct elide_rule *mutex_rule(const pthread_mutex_t *m)
{
	return glibc_mutex_elidable(m) ? &glibc_mutex_rule : NULL;
}

/*
 * Is it a relock by this thread, of a mutex of a type that answers a relock? A thread without a block may have
 * locked it before the process was attached to.
 */
static __always_inline_fn bool mutex_is_relock(const struct elide_thread *t,
					       const pthread_mutex_t *m)
{
	return unlikely(!glibc_mutex_plain(m)) && m->__data.__owner &&
	       (uint32_t)m->__data.__owner == (likely(t) ? t->tid : elide_tid_kept());
}

/*
 * Thread id in a mutex. A robust mutex, or one whose holder inherits priority, has it in the word, which the
 * kernel clears when the holder ends; __owner keeps the id of an ended holder, and has numbers that are no
 * ids while the state is not consistent.
 */
static inline uint32_t mutex_id(const pthread_mutex_t *m)
{
	if (m->__data.__kind & (MUTEX_ROBUST | MUTEX_INHERIT))
		return READ_ONCE(m->__data.__lock) & FUTEX_TID_MASK;
	return READ_ONCE(m->__data.__owner);
}

/* Thread id of its holder, 0 if it is not known. */
static inline uint32_t mutex_holder(const pthread_mutex_t *m)
{
	return glibc_layout.mutex ? mutex_id(m) : 0;
}

/* Only threads of this process wait for such a mutex, and the kernel does not know its holder. */
static inline bool mutex_may_restrict(const pthread_mutex_t *m)
{
	return glibc_mutex_elidable(m) && glibc_layout.mutex;
}

/* The largest thread id of Linux: PID_MAX_LIMIT, 2^22. */
#define ID_MAX (1u << 22)

/**
 * mutex_owner() - who has locked a mutex, or had when it ended: to be read before a call that may answer
 * EOWNERDEAD. 0 if it is not known: glibc has INT_MAX and less there while the state is not consistent.
 */
static inline uint32_t mutex_owner(const pthread_mutex_t *m)
{
	uint32_t owner = READ_ONCE(m->__data.__owner);

	return glibc_layout.mutex && owner <= ID_MAX ? owner : 0;
}

/** mutex_died() - the part of mutex_answer() that is not inlined. */
void mutex_died(int err, const pthread_mutex_t *m, const void *site, uint32_t owner);

/** mutex_answer() - count what glibc answers of a robust mutex whose owner has died. Returns @err. */
static inline int mutex_answer(int err, const pthread_mutex_t *m, const void *site, uint32_t owner)
{
	if (unlikely(err == EOWNERDEAD || err == ENOTRECOVERABLE))
		mutex_died(err, m, site, owner);
	return err;
}

/** mutex_relocked() - glibc has answered a relock, which is not an acquisition. Returns @err. */
int mutex_relocked(pthread_mutex_t *m, const void *site, int err);

/* mutex_lock_inside() leaves the call to the real function; other values are pthread's. */
#define MUTEX_REAL_ANSWERS (-1) /* do not count it: it may be no new acquisition */
#define MUTEX_REAL_COUNTED (-2) /* count it if it succeeds */

/**
 * mutex_lock_inside() - a lock call inside an elided section, up to the real function.
 * @t: the calling thread
 * @m: the mutex
 * @site: return address of the call
 * @how: how it waits
 *
 * Return: 0 or an error, which is the answer; MUTEX_REAL_ANSWERS, MUTEX_REAL_COUNTED.
 */
int mutex_lock_inside(struct elide_thread *t, pthread_mutex_t *m, const void *site, enum how how);

/**
 * mutex_answered_inside() - the real function has answered after mutex_lock_inside().
 * @why: what mutex_lock_inside() has returned
 * @err: the answer
 *
 * Other parameters are those of mutex_lock_inside(). Return: @err.
 */
int mutex_answered_inside(struct elide_thread *t, pthread_mutex_t *m, const void *site,
			  enum how how, int why, int err);

/* A mtx_t is glibc's mutex: c11.c. @clock: below 0 for the function without one */
int mutex_lock(pthread_mutex_t *m, const void *site);
int mutex_trylock(pthread_mutex_t *m, const void *site);
int mutex_timedlock(pthread_mutex_t *m, const void *site, clockid_t clock,
		    const struct timespec *until);
int mutex_unlock(pthread_mutex_t *m, const void *site);

#pragma GCC visibility pop

#endif
