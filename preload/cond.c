/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * cond.c - waiting on condition variables, in both versions glibc exports.
 *
 * A section that waits cannot be elided: the mutex must be locked when
 * glibc releases it. Signal and broadcast need no wrapper: inside an elided
 * section their futex call aborts it.
 */
#include "wrap.h"

/* The two versions have different condition variables; each is forwarded to its own. */
int cond_wait_old(pthread_cond_t *c, pthread_mutex_t *m);
int cond_timedwait_old(pthread_cond_t *c, pthread_mutex_t *m, const struct timespec *until);
int cond_wait(pthread_cond_t *c, pthread_mutex_t *m);
int cond_timedwait(pthread_cond_t *c, pthread_mutex_t *m, const struct timespec *until);

__asm__(".symver cond_wait, pthread_cond_wait@@GLIBC_2.3.2");
__asm__(".symver cond_timedwait, pthread_cond_timedwait@@GLIBC_2.3.2");
__asm__(".symver cond_wait_old, pthread_cond_wait@GLIBC_2.2.5");
__asm__(".symver cond_timedwait_old, pthread_cond_timedwait@GLIBC_2.2.5");

WRAPPER int cond_wait(pthread_cond_t *c, pthread_mutex_t *m)
{
	wrap_wait(m, CALL_SITE());
	return real.cond_wait(c, m);
}

WRAPPER int cond_timedwait(pthread_cond_t *c, pthread_mutex_t *m, const struct timespec *until)
{
	wrap_wait(m, CALL_SITE());
	return real.cond_timedwait(c, m, until);
}

WRAPPER int cond_wait_old(pthread_cond_t *c, pthread_mutex_t *m)
{
	wrap_wait(m, CALL_SITE());
	return real.cond_wait_old(c, m);
}

WRAPPER int cond_timedwait_old(pthread_cond_t *c, pthread_mutex_t *m,
			       const struct timespec *until)
{
	wrap_wait(m, CALL_SITE());
	return real.cond_timedwait_old(c, m, until);
}

WRAPPER int pthread_cond_clockwait(pthread_cond_t *c, pthread_mutex_t *m, clockid_t clock,
				   const struct timespec *until)
{
	wrap_wait(m, CALL_SITE());
	return real.cond_clockwait(c, m, clock, until);
}
