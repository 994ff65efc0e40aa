/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * sem.c - POSIX semaphores.
 *
 * sem_post() may be called in signal handlers: it notes where it was called in a fixed table, without a
 * lock or memory of its own. sem_wait() and the timed calls are glibc's, which act upon cancellation;
 * nothing of ours is held meanwhile. A semaphore of sem_open(), or one that other processes post, is
 * counted; who posted is known of this process only.
 */
#include <semaphore.h>

#include "wrap.h"

#define KIND ELIDE_KIND_SEM

/* Will a wait have to wait, as far as can be seen now? */
static bool is_empty(sem_t *s)
{
	int value = 1;

	return !sem_getvalue(s, &value) && value <= 0;
}

/* The real function has answered inside an elided section. Returns @err. */
static int answered_inside(sem_t *s, const void *site, int err)
{
	struct elide_thread *t = elide_self;

	if (!err)
		elide_defer(t, elide_cache_find(t, s, site, KIND), s, site, KIND,
			    ELIDE_DEFER_LOCKED_TRY);
	return err;
}

/* It has answered elsewhere. Returns @err. */
static int answered(struct elide_blocking *b, sem_t *s, int err)
{
	if (!err)
		elide_blocking_end(b, s);
	else if (errno == ETIMEDOUT || errno == EAGAIN)
		elide_blocking_failed(b);
	else
		elide_blocking_refused(b);
	return err;
}

WRAPPER int sem_init(sem_t *s, int shared, unsigned int value)
{
	int err;

	PASS(sem_init, s, shared, value);
	err = real.sem_init(s, shared, value);
	if (!err)
		wrap_init(s, KIND, CALL_SITE(), shared);
	return err;
}

WRAPPER int sem_destroy(sem_t *s)
{
	int err;

	PASS(sem_destroy, s);
	err = real.sem_destroy(s);
	if (!err)
		wrap_destroy_end(s, KIND);
	return err;
}

WRAPPER int sem_wait(sem_t *s)
{
	struct elide_blocking b;

	PASS(sem_wait, s);
	if (unlikely(elide_inside(elide_self)))
		return answered_inside(s, CALL_SITE(), real.sem_wait(s));
	elide_blocking_begin(&b, s, CALL_SITE(), KIND, is_empty(s));
	return answered(&b, s, real.sem_wait(s));
}

WRAPPER int sem_trywait(sem_t *s)
{
	struct elide_blocking b;

	PASS(sem_trywait, s);
	if (unlikely(elide_inside(elide_self)))
		return answered_inside(s, CALL_SITE(), real.sem_trywait(s));
	elide_blocking_begin(&b, s, CALL_SITE(), KIND, false);
	return answered(&b, s, real.sem_trywait(s));
}

WRAPPER int sem_timedwait(sem_t *s, const struct timespec *until)
{
	struct elide_blocking b;

	PASS(sem_timedwait, s, until);
	if (unlikely(elide_inside(elide_self)))
		return answered_inside(s, CALL_SITE(), real.sem_timedwait(s, until));
	elide_blocking_begin(&b, s, CALL_SITE(), KIND, is_empty(s));
	return answered(&b, s, real.sem_timedwait(s, until));
}

WRAPPER int sem_clockwait(sem_t *s, clockid_t clock, const struct timespec *until)
{
	struct elide_blocking b;

	PASS(sem_clockwait, s, clock, until);
	if (unlikely(elide_inside(elide_self)))
		return answered_inside(s, CALL_SITE(), real.sem_clockwait(s, clock, until));
	elide_blocking_begin(&b, s, CALL_SITE(), KIND, is_empty(s));
	return answered(&b, s, real.sem_clockwait(s, clock, until));
}

WRAPPER int sem_post(sem_t *s)
{
	elide_blocking_wakes(s, CALL_SITE());
	return real.sem_post(s);
}
