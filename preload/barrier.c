/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * barrier.c - pthread_barrier_*.
 *
 * Each call arrives and waits for the last one, which does not wait: glibc gives it
 * PTHREAD_BARRIER_SERIAL_THREAD.
 */
#include "lifetime.h"
#include "section/blocking.h"
#include "wrap.h"

#define KIND ELIDE_KIND_BARRIER

WRAPPER int pthread_barrier_init(pthread_barrier_t *barrier, const pthread_barrierattr_t *attr,
				 unsigned int nr)
{
	int err, shared = PTHREAD_PROCESS_PRIVATE;

	PASS(barrier_init, barrier, attr, nr);
	err = real.barrier_init(barrier, attr, nr);
	if (err)
		return err;
	if (attr)
		pthread_barrierattr_getpshared(attr, &shared);
	wrap_init(barrier, KIND, CALL_SITE(), shared == PTHREAD_PROCESS_SHARED);
	return 0;
}

WRAPPER int pthread_barrier_destroy(pthread_barrier_t *barrier)
{
	int err;

	PASS(barrier_destroy, barrier);
	err = real.barrier_destroy(barrier);
	if (!err)
		wrap_destroy_end(barrier, KIND);
	return err;
}

static bool has_passed(int err)
{
	return !err || err == PTHREAD_BARRIER_SERIAL_THREAD;
}

static int wait_inside(pthread_barrier_t *barrier, const void *site)
{
	struct elide_thread *t = elide_self;
	int err = real.barrier_wait(barrier);

	if (has_passed(err))
		elide_defer(t, elide_call_find(t, barrier, site, KIND), barrier, site, KIND,
			    ELIDE_DEFER_LOCKED_TRY);
	return err;
}

WRAPPER int pthread_barrier_wait(pthread_barrier_t *barrier)
{
	struct elide_blocking b;
	int err;

	PASS_ACQUIRE(barrier_wait, barrier);
	if (unlikely(elide_inside(elide_self)))
		return wait_inside(barrier, CALL_SITE());
	elide_blocking_begin(&b, barrier, CALL_SITE(), KIND, true);
	elide_blocking_wakes(barrier, CALL_SITE());
	err = real.barrier_wait(barrier);
	b.waits &= !err;
	if (has_passed(err))
		elide_blocking_end(&b, barrier);
	else
		elide_blocking_refused(&b);
	return err;
}
