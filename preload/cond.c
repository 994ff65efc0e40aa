/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * cond.c - condition variables, in both versions glibc exports.
 *
 * A section that waits cannot be elided: the mutex must be locked when glibc releases it. If a thread waits,
 * a signal inside an elided section aborts the section by its system call.
 */
#include <errno.h>

#include "cond.h"
#include "lifetime.h"
#include "wrap.h"

#define KIND ELIDE_KIND_COND

/* The two versions have different condition variables; each call is forwarded to its own version. */
int cond_init_old(pthread_cond_t *c, const pthread_condattr_t *attr);
int cond_destroy_old(pthread_cond_t *c);
int cond_wait_old(pthread_cond_t *c, pthread_mutex_t *m);
int cond_timedwait_old(pthread_cond_t *c, pthread_mutex_t *m, const struct timespec *until);
int cond_signal_old(pthread_cond_t *c);
int cond_broadcast_old(pthread_cond_t *c);
int cond_init(pthread_cond_t *c, const pthread_condattr_t *attr);
int cond_destroy(pthread_cond_t *c);
int cond_wait(pthread_cond_t *c, pthread_mutex_t *m);
int cond_timedwait(pthread_cond_t *c, pthread_mutex_t *m, const struct timespec *until);
int cond_signal(pthread_cond_t *c);
int cond_broadcast(pthread_cond_t *c);

__asm__(".symver cond_init, pthread_cond_init@@GLIBC_2.3.2");
__asm__(".symver cond_destroy, pthread_cond_destroy@@GLIBC_2.3.2");
__asm__(".symver cond_wait, pthread_cond_wait@@GLIBC_2.3.2");
__asm__(".symver cond_timedwait, pthread_cond_timedwait@@GLIBC_2.3.2");
__asm__(".symver cond_signal, pthread_cond_signal@@GLIBC_2.3.2");
__asm__(".symver cond_broadcast, pthread_cond_broadcast@@GLIBC_2.3.2");
__asm__(".symver cond_init_old, pthread_cond_init@GLIBC_2.2.5");
__asm__(".symver cond_destroy_old, pthread_cond_destroy@GLIBC_2.2.5");
__asm__(".symver cond_wait_old, pthread_cond_wait@GLIBC_2.2.5");
__asm__(".symver cond_timedwait_old, pthread_cond_timedwait@GLIBC_2.2.5");
__asm__(".symver cond_signal_old, pthread_cond_signal@GLIBC_2.2.5");
__asm__(".symver cond_broadcast_old, pthread_cond_broadcast@GLIBC_2.2.5");

/* A condition variable was initialised. Returns @err. */
static int initialised(pthread_cond_t *c, const pthread_condattr_t *attr, const void *site, int err)
{
	int shared = PTHREAD_PROCESS_PRIVATE;

	if (err)
		return err;
	if (attr)
		pthread_condattr_getpshared(attr, &shared);
	wrap_init(c, KIND, site, shared == PTHREAD_PROCESS_SHARED);
	return 0;
}

static int destroyed(pthread_cond_t *c, int err)
{
	if (!err)
		wrap_destroy_end(c, KIND);
	return err;
}

int cond_waited(struct elide_blocking *b, const void *c, const void *m, const void *site, int err)
{
	if (!err)
		elide_blocking_reacquired(b, c, m, site);
	else if (err == ETIMEDOUT)
		elide_blocking_failed(b);
	else
		elide_blocking_refused(b);
	return err;
}

WRAPPER int cond_init(pthread_cond_t *c, const pthread_condattr_t *attr)
{
	PASS(cond_init, c, attr);
	return initialised(c, attr, CALL_SITE(), real.cond_init(c, attr));
}

WRAPPER int cond_init_old(pthread_cond_t *c, const pthread_condattr_t *attr)
{
	PASS(cond_init_old, c, attr);
	return initialised(c, attr, CALL_SITE(), real.cond_init_old(c, attr));
}

WRAPPER int cond_destroy(pthread_cond_t *c)
{
	PASS(cond_destroy, c);
	return destroyed(c, real.cond_destroy(c));
}

WRAPPER int cond_destroy_old(pthread_cond_t *c)
{
	PASS(cond_destroy_old, c);
	return destroyed(c, real.cond_destroy_old(c));
}

WRAPPER int cond_signal(pthread_cond_t *c)
{
	cond_wakes(c, CALL_SITE());
	return real.cond_signal(c);
}

WRAPPER int cond_signal_old(pthread_cond_t *c)
{
	elide_blocking_wakes(c, CALL_SITE());
	return real.cond_signal_old(c);
}

WRAPPER int cond_broadcast(pthread_cond_t *c)
{
	cond_wakes(c, CALL_SITE());
	return real.cond_broadcast(c);
}

WRAPPER int cond_broadcast_old(pthread_cond_t *c)
{
	elide_blocking_wakes(c, CALL_SITE());
	return real.cond_broadcast_old(c);
}

WRAPPER int cond_wait(pthread_cond_t *c, pthread_mutex_t *m)
{
	struct elide_blocking b;

	wrap_wait(m, CALL_SITE());
	elide_blocking_begin_cond(&b, c, m, CALL_SITE(), !glibc_layout.cond);
	return cond_waited(&b, c, m, CALL_SITE(), real.cond_wait(c, m));
}

WRAPPER int cond_timedwait(pthread_cond_t *c, pthread_mutex_t *m, const struct timespec *until)
{
	struct elide_blocking b;

	wrap_wait(m, CALL_SITE());
	elide_blocking_begin_cond(&b, c, m, CALL_SITE(), !glibc_layout.cond);
	return cond_waited(&b, c, m, CALL_SITE(), real.cond_timedwait(c, m, until));
}

WRAPPER int cond_wait_old(pthread_cond_t *c, pthread_mutex_t *m)
{
	struct elide_blocking b;

	wrap_wait(m, CALL_SITE());
	elide_blocking_begin_cond(&b, c, m, CALL_SITE(), true);
	return cond_waited(&b, c, m, CALL_SITE(), real.cond_wait_old(c, m));
}

WRAPPER int cond_timedwait_old(pthread_cond_t *c, pthread_mutex_t *m,
			       const struct timespec *until)
{
	struct elide_blocking b;

	wrap_wait(m, CALL_SITE());
	elide_blocking_begin_cond(&b, c, m, CALL_SITE(), true);
	return cond_waited(&b, c, m, CALL_SITE(), real.cond_timedwait_old(c, m, until));
}

WRAPPER int pthread_cond_clockwait(pthread_cond_t *c, pthread_mutex_t *m, clockid_t clock,
				   const struct timespec *until)
{
	struct elide_blocking b;

	wrap_wait(m, CALL_SITE());
	elide_blocking_begin_cond(&b, c, m, CALL_SITE(), !glibc_layout.cond);
	return cond_waited(&b, c, m, CALL_SITE(), real.cond_clockwait(c, m, clock, until));
}
