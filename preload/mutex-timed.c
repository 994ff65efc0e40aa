/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * mutex-timed.c - pthread_mutex_timedlock() and pthread_mutex_clocklock().
 *
 * As pthread_mutex_lock() in mutex.c, with an end to each wait. A free mutex is locked, or elided, without
 * reading the clock, as in glibc.
 */
#include <errno.h>

#include "count.h"
#include "inside.h"
#include "mutex.h"
#include "mutex-word.h"
#include "section/fast-path.h"
#include "wrap.h"

#define KIND ELIDE_KIND_MUTEX

static int real_timed(pthread_mutex_t *m, clockid_t clock, const struct timespec *until)
{
	/* Two functions, as glibc checks the clock only in the second. */
	return clock < 0 ? real.mutex_timedlock(m, until) : real.mutex_clocklock(m, clock, until);
}

/* The mutex is held, mostly. Return: as the real function. @clock: as for mutex_timedlock() */
static __noinline int timedlock_waiting(struct elide_thread *t, struct elide_row *row,
					pthread_mutex_t *m, clockid_t clock,
					const struct elide_until *deadline)
{
	struct crowd *crowd = NULL;
	struct wait w;
	int err = 0;

	wait_begin(&w, READ_ONCE(m->__data.__lock) != 0, t, row, m, mutex_holder(m));
	if (mutex_may_restrict(m) && deadline->time)
		crowd = wait_in_crowd(&w, row, m, KIND, mutex_looks_free, clock, deadline->time);
	if (!w.contended || !elide_may_wait(deadline) ||
	    !mutex_stay_awake(t, &w, row, crowd, m, &err)) {
		err = real_timed(m, clock, deadline->time);
		w.end = cycles_now();
	}
	crowd_leave(crowd);
	wait_end(row, &w, m, !err || err == EOWNERDEAD);
	return err;
}

/* Lock before @deadline, not by elision, and count the acquisition as @outcome says. */
static __noinline int timedlock_unelided(struct elide_row *row, pthread_mutex_t *m,
					 enum elide_outcome outcome, clockid_t clock,
					 const struct elide_until *deadline)
{
	struct elide_thread *t = elide_self;
	int err = 0;

	if (unlikely(!glibc_mutex_simple(m) || !glibc_layout.mutex || !mutex_take_free(m, t->tid)))
		err = timedlock_waiting(t, row, m, clock, deadline);
	if (is_held_error(err))
		return count_failed(row, err);
	if (!err || err == EOWNERDEAD)
		count_locked(t, row, m, outcome, false);
	return err;
}

static struct elide_until deadline_of(clockid_t clock, const struct timespec *until)
{
	return (struct elide_until){clock < 0 ? CLOCK_REALTIME : clock, until};
}

/* Every case; timedlock() does the usual one. @clock: -1 for pthread_mutex_timedlock() */
int mutex_timedlock(pthread_mutex_t *m, const void *site, clockid_t clock,
		    const struct timespec *until)
{
	struct elide_thread *t = elide_self;
	const struct elide_until deadline = deadline_of(clock, until);
	enum elide_outcome outcome;
	struct elide_call *call;
	struct elide_row *row;
	uint32_t owner;
	int err;

	if (unlikely(elide_inside(t))) {
		err = mutex_lock_inside(t, m, site, HOW_TIMED);
		if (err >= 0)
			return err;
		return mutex_answered_inside(t, m, site, HOW_TIMED, err,
					     real_timed(m, clock, until));
	}
	if (mutex_is_relock(t, m))
		return mutex_relocked(m, site, real_timed(m, clock, until));
	call = elide_call_find(t, m, site, KIND);
	outcome = elide_try(call, m, mutex_rule(m), site, KIND, &deadline, &row);
	if (outcome == ELIDE_ELIDED)
		return 0;
	if (outcome == ELIDE_NOTHING_DONE)
		return real_timed(m, clock, until);
	owner = mutex_owner(m);
	err = timedlock_unelided(row, m, outcome, clock, &deadline);
	if (is_held_error(err) && likely(call))
		elide_not_acquired(call);
	return mutex_answer(err, m, site, owner);
}

/* The first attempt has aborted, or the mutex was held when it was to be locked at once. */
static __noinline int timedlock_again(struct elide_thread *t, struct elide_call *call,
				      pthread_mutex_t *m, clockid_t clock,
				      const struct timespec *until, enum elide_outcome outcome,
				      unsigned int status)
{
	const struct elide_until deadline = deadline_of(clock, until);
	int err;

	if (outcome == ELIDE_FELL_BACK &&
	    elide_acquire_retry(t, call, m, &glibc_mutex_rule, &deadline, status) == ELIDE_ELIDED)
		return 0;
	err = timedlock_unelided(elide_call_row(call), m, outcome, clock, &deadline);
	if (is_held_error(err))
		elide_not_acquired(call);
	return err;
}

static __noinline int timedlock_long(pthread_mutex_t *m, const void *site, clockid_t clock,
				     const struct timespec *until)
{
	if (unlikely(!elide_process.running) || elide_passes())
		return real_timed(m, clock, until);
	return mutex_timedlock(m, site, clock, until);
}

/* A free mutex is locked whatever the time is. */
static __always_inline_fn int timedlock(pthread_mutex_t *m, const void *site, clockid_t clock,
					const struct timespec *until)
{
	struct elide_thread *t = elide_self_fast;
	struct elide_fast q = elide_fast(t, m, site, KIND);
	enum elide_outcome outcome;
	unsigned int status = 0;

	if (unlikely(!q.known || !glibc_mutex_plain(m)))
		return timedlock_long(m, site, clock, until);
	outcome = elide_fast_acquire(t, q, m, (struct elide_rule)MUTEX_IS_FREE, &status);
	if (likely(outcome == ELIDE_ELIDED))
		return 0;
	if (unlikely(outcome == ELIDE_NOTHING_DONE))
		return timedlock_long(m, site, clock, until);
	q.call->lock = m;
	if (outcome == ELIDE_SKIPPED && likely(mutex_take(m, t->tid, false)))
		return count_short(t, q.row, m);
	return timedlock_again(t, q.call, m, clock, until, outcome, status);
}

WRAPPER int pthread_mutex_timedlock(pthread_mutex_t *m, const struct timespec *until)
{
	return timedlock(m, CALL_SITE(), -1, until);
}

WRAPPER int pthread_mutex_clocklock(pthread_mutex_t *m, clockid_t clock,
				    const struct timespec *until)
{
	if (unlikely(!clock_known(clock)))
		return real.mutex_clocklock(m, clock, until);
	return timedlock(m, CALL_SITE(), clock, until);
}
