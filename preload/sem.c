/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * sem.c - POSIX semaphores.
 *
 * Signal handlers may call sem_post(): it notes its call site in a fixed table, without a lock or an
 * allocation. glibc's functions take units, and sleep for them, where cancellation is acted upon; nothing of
 * ours is held meanwhile. Semaphores of sem_open(), and those that other processes post, are counted, too;
 * which call posted is known for this process only.
 */
#include <errno.h>
#include <semaphore.h>

#include "glibc-layout.h"
#include "lifetime.h"
#include "section/blocking.h"
#include "section/locked.h"
#include "section/fast-path.h"
#include "wait.h"
#include "wrap.h"

#define KIND ELIDE_KIND_SEM

/* Would a call have to wait, as far as can be seen now? glibc has the value in the low half of a word. */
static __always_inline_fn bool is_empty(sem_t *s)
{
	int value = 1;

	if (likely(glibc_layout.sem))
		return !(uint32_t)READ_ONCE(s->__align);
	return !sem_getvalue(s, &value) && value <= 0;
}

/* The real function has answered inside an elided section. Returns @err. */
static int answered_inside(sem_t *s, const void *site, int err)
{
	struct elide_thread *t = elide_self;

	if (!err)
		elide_defer(t, elide_call_find(t, s, site, KIND), s, site, KIND,
			    ELIDE_DEFER_LOCKED_TRY);
	return err;
}

/* Has a call failed because there was no unit? */
static bool is_none(int err)
{
	return err && (errno == ETIMEDOUT || errno == EAGAIN);
}

/* The real function has answered outside of sections. Returns @err. */
static int answered(struct elide_blocking *b, sem_t *s, int err)
{
	if (!err)
		elide_blocking_end(b, s);
	else if (is_none(err))
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

static int call_real(sem_t *s, enum how how, clockid_t clock, const struct timespec *until)
{
	if (how == HOW_TRY)
		return real.sem_trywait(s);
	if (how == HOW_LOCK)
		return real.sem_wait(s);
	return clock < 0 ? real.sem_timedwait(s, until) : real.sem_clockwait(s, clock, until);
}

/*
 * Wait on the processor for a unit of a semaphore that the thread uses as a lock. Not of another semaphore:
 * threads that poll it would abort each transaction that posts it. A pending cancellation is acted upon
 * first, as by the real function. Return: it has a unit; else the caller calls the real function.
 */
static bool stay_awake(const struct elide_blocking *b, sem_t *s)
{
	uint32_t most = elide_has_posted(elide_self, s) ? elide_awake_unit(b->row) : 0;
	bool taken = false;
	int saved = errno;

	if (!most)
		return false;
	pthread_testcancel();
	for (; cycles_now() - b->start < most; cpu_relax()) {
		taken = !is_empty(s) && !real.sem_trywait(s);
		if (taken)
			break;
	}
	errno = saved;
	return taken;
}

/*
 * May the call stay awake? Not a timed call whose clock or time the real function refuses, or whose time
 * ends soon.
 */
static bool may_stay(enum how how, clockid_t clock, const struct elide_until *deadline)
{
	return how == HOW_LOCK ||
	       ((clock < 0 || clock_known(clock)) && elide_may_wait(deadline));
}

/* Every case. @clock: -1 for sem_timedwait() */
static __noinline int wait_long(sem_t *s, const void *site, enum how how, clockid_t clock,
				const struct timespec *until)
{
	const struct elide_until deadline = {clock < 0 ? CLOCK_REALTIME : clock, until};
	struct elide_blocking b;

	if (unlikely(!elide_process.running) || elide_passes())
		return call_real(s, how, clock, until);
	if (unlikely(elide_inside(elide_self)))
		return answered_inside(s, site, call_real(s, how, clock, until));
	elide_blocking_begin(&b, s, site, KIND, how != HOW_TRY && is_empty(s));
	if (b.waits && may_stay(how, clock, &deadline) && stay_awake(&b, s))
		return answered(&b, s, 0);
	return answered(&b, s, call_real(s, how, clock, until));
}

/* The usual case: the thread knows the call, and there is a unit. */
static __always_inline_fn int wait_unit(sem_t *s, const void *site, enum how how, clockid_t clock,
					const struct timespec *until)
{
	struct elide_fast q = elide_fast(elide_self_fast, s, site, KIND);
	int err;

	if (unlikely(!q.known || is_empty(s) || (READ_ONCE(elide_enabled) && rtm_test())))
		return wait_long(s, site, how, clock, until);
	/* A thread that takes units is a peer of those that wait for them. */
	elide_note_waited(elide_self, s);
	err = call_real(s, how, clock, until);
	if (likely(!err))
		counter_add(q.row->not_attempted, 1);
	else if (is_none(err))
		counter_add(q.row->failed, 1);
	return err;
}

WRAPPER int sem_wait(sem_t *s)
{
	return wait_unit(s, CALL_SITE(), HOW_LOCK, -1, NULL);
}

WRAPPER int sem_trywait(sem_t *s)
{
	return wait_unit(s, CALL_SITE(), HOW_TRY, -1, NULL);
}

WRAPPER int sem_timedwait(sem_t *s, const struct timespec *until)
{
	return wait_unit(s, CALL_SITE(), HOW_TIMED, -1, until);
}

WRAPPER int sem_clockwait(sem_t *s, clockid_t clock, const struct timespec *until)
{
	return wait_unit(s, CALL_SITE(), HOW_TIMED, clock, until);
}

WRAPPER int sem_post(sem_t *s)
{
	struct elide_thread *t = elide_self;
	int err;

	elide_blocking_wakes(s, CALL_SITE());
	err = real.sem_post(s);
	/* Not in a transaction. */
	if (likely(t && !t->open)) {
		elide_note_posted(t, s);
		elide_due_released(t, s);
	}
	return err;
}
