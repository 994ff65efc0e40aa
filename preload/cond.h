/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * cond.h - waits for condition variables, and signals: shared by pthread's and C11's functions.
 */
#ifndef ELIDE_COND_H
#define ELIDE_COND_H

#include <pthread.h>

#include "check/order.h"
#include "glibc-layout.h"
#include "section/blocking.h"
#include "section/locked.h"

/** wrap_wait() - before a call that releases a mutex and waits: aborts an elided section around it. */
static inline void wrap_wait(const pthread_mutex_t *mutex, const void *site)
{
	struct elide_thread *t = elide_self;

	if (!t)
		return;
	if (t->nr_held)
		rtm_abort(ELIDE_CODE_cond_wait);
	elide_hold_end(t, mutex);
	if (unlikely(t->nr_acquired) && !glibc_mutex_relocked(mutex))
		elide_order_reacquired(t, mutex, site);
}

/*
 * Before a signal or a broadcast. glibc keeps the number of waiters above the flags, and changes it before
 * the mutex is released. Not for condition variables of GLIBC_2.2.5, which are another structure.
 */
static __always_inline_fn void cond_wakes(const pthread_cond_t *c, const void *site)
{
	if (unlikely(!glibc_layout.cond))
		elide_blocking_wakes(c, site);
	else if (unlikely(READ_ONCE(c->__data.__wrefs) >> COND_FLAGS))
		elide_blocking_wakes_one(c, site);
}

/**
 * cond_waited() - after the real wait for a condition variable, of pthread or of C11.
 * @b: from elide_blocking_begin_cond()
 * @c, @m: the condition variable and the mutex; only their addresses are used
 * @site: return address of the call
 * @err: the answer of the call, as an error of pthread_cond_timedwait()
 *
 * Return: @err.
 */
int cond_waited(struct elide_blocking *b, const void *c, const void *m, const void *site, int err);

#endif
