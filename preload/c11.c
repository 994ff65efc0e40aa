/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * c11.c - mtx_* and cnd_*, which call glibc's internals directly.
 *
 * A mtx_t is glibc's mutex under another name, and a cnd_t its condition variable.
 */
#include <errno.h>

#include "cond.h"
#include "inside.h"
#include "lifetime.h"
#include "mutex.h"
#include "wrap.h"

static pthread_mutex_t *mutex_of(mtx_t *m)
{
	return (pthread_mutex_t *)m;
}

static int to_thrd(int err)
{
	switch (err) {
	case 0:
		return thrd_success;
	case EBUSY:
		return thrd_busy;
	case ETIMEDOUT:
		return thrd_timedout;
	case ENOMEM:
		return thrd_nomem;
	default:
		return thrd_error;
	}
}

WRAPPER int mtx_init(mtx_t *m, int type)
{
	int err;

	PASS(mtx_init, m, type);
	err = real.mtx_init(m, type);
	if (err == thrd_success)
		wrap_init(m, ELIDE_KIND_MUTEX, CALL_SITE(), false);
	return err;
}

WRAPPER void mtx_destroy(mtx_t *m)
{
	bool held;

	PASS(mtx_destroy, m);
	wrap_destroy_begin(m);
	/* glibc leaves a held mutex alone, and has no way to say so. */
	held = glibc_layout.mutex && READ_ONCE(mutex_of(m)->__data.__nusers);
	real.mtx_destroy(m);
	if (held)
		misuse(ELIDE_MISUSE_DESTROY_HELD, ELIDE_KIND_MUTEX, CALL_SITE(), m);
	else
		wrap_destroy_end(m, ELIDE_KIND_MUTEX);
}

WRAPPER int mtx_lock(mtx_t *m)
{
	PASS_ACQUIRE(mtx_lock, m);
	return to_thrd(mutex_lock(mutex_of(m), CALL_SITE()));
}

WRAPPER int mtx_trylock(mtx_t *m)
{
	PASS_ACQUIRE(mtx_trylock, m);
	return to_thrd(mutex_trylock(mutex_of(m), CALL_SITE()));
}

WRAPPER int mtx_timedlock(mtx_t *m, const struct timespec *until)
{
	PASS_ACQUIRE(mtx_timedlock, m, until);
	return to_thrd(mutex_timedlock(mutex_of(m), CALL_SITE(), -1, until));
}

WRAPPER int mtx_unlock(mtx_t *m)
{
	PASS_RELEASE(mtx_unlock, m);
	return to_thrd(mutex_unlock(mutex_of(m), CALL_SITE()));
}

WRAPPER int cnd_init(cnd_t *c)
{
	int err;

	PASS(cnd_init, c);
	err = real.cnd_init(c);
	if (err == thrd_success)
		wrap_init(c, ELIDE_KIND_COND, CALL_SITE(), false);
	return err;
}

WRAPPER void cnd_destroy(cnd_t *c)
{
	PASS(cnd_destroy, c);
	real.cnd_destroy(c);
	wrap_destroy_end(c, ELIDE_KIND_COND);
}

WRAPPER int cnd_signal(cnd_t *c)
{
	cond_wakes((const pthread_cond_t *)c, CALL_SITE());
	return real.cnd_signal(c);
}

WRAPPER int cnd_broadcast(cnd_t *c)
{
	cond_wakes((const pthread_cond_t *)c, CALL_SITE());
	return real.cnd_broadcast(c);
}

/* Count a wait that has ended with @answer. Returns @answer. */
static int cnd_waited(struct elide_blocking *b, cnd_t *c, mtx_t *m, const void *site, int answer)
{
	cond_waited(b, c, m, site,
		    answer == thrd_success  ? 0 :
		    answer == thrd_timedout ? ETIMEDOUT :
					      EINVAL);
	return answer;
}

WRAPPER int cnd_wait(cnd_t *c, mtx_t *m)
{
	struct elide_blocking b;

	wrap_wait(mutex_of(m), CALL_SITE());
	elide_blocking_begin_cond(&b, c, m, CALL_SITE(), !glibc_layout.cond);
	return cnd_waited(&b, c, m, CALL_SITE(), real.cnd_wait(c, m));
}

WRAPPER int cnd_timedwait(cnd_t *c, mtx_t *m, const struct timespec *until)
{
	struct elide_blocking b;

	wrap_wait(mutex_of(m), CALL_SITE());
	elide_blocking_begin_cond(&b, c, m, CALL_SITE(), !glibc_layout.cond);
	return cnd_waited(&b, c, m, CALL_SITE(), real.cnd_timedwait(c, m, until));
}
