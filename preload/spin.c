/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * spin.c - pthread_spin_*.
 *
 * A spinlock does not say whether it is process-shared: its class remembers that from its initialisation.
 */
#include <errno.h>

#include "base/syscalls.h"
#include "count.h"
#include "glibc-layout.h"
#include "inside.h"
#include "lifetime.h"
#include "section/fast-path.h"
#include "wait.h"
#include "wrap.h"

#define KIND ELIDE_KIND_SPIN

/*
 * glibc's word: 1: free; 0: held; less: held, and others wait. The thread that brings it from 1 to 0 has the
 * lock; a release writes 1 whatever the word is.
 */
static __always_inline_fn bool take(pthread_spinlock_t *s)
{
	/* Acquire pairs with the release in pthread_spin_unlock(), ours and glibc's. */
	return __atomic_sub_fetch(s, 1, __ATOMIC_ACQUIRE) == 0;
}

static const struct elide_rule *rule(void)
{
	return glibc_layout.spin ? &glibc_spin_rule : NULL;
}

static bool looks_free(const void *lock, enum elide_kind kind)
{
	return READ_ONCE(*(const pthread_spinlock_t *)lock) == SPIN_FREE;
}

/* Lock it if it looks free: a bare try would take the cache line from the holder. */
static bool take_free(void *lock, uint32_t unused)
{
	return looks_free(lock, KIND) && take(lock);
}

/*
 * Wait as one of few threads, while the others are parked. The holder may have no processor, so this thread
 * yields its own.
 */
static int lock_yielding(struct wait *w, const struct elide_row *row, const struct crowd *crowd,
			 pthread_spinlock_t *s)
{
	int saved = errno;

	while (!take_free((void *)s, 0) && !wait_awake(w, row, crowd, take_free, (void *)s, 0))
		sys_call(sched_yield, 0, 0, 0, 0, 0, 0);
	errno = saved;
	return 0;
}

static __noinline int wait_for(struct elide_thread *t, struct elide_row *row, pthread_spinlock_t *s)
{
	struct crowd *crowd = NULL;
	struct wait w;
	int err;

	wait_begin(&w, READ_ONCE(*s) != SPIN_FREE, t, row, (const void *)s, 0);
	wait_locked(t, row, (const void *)s);
	if (glibc_layout.spin)
		crowd = wait_in_crowd(&w, row, (const void *)s, KIND, looks_free, -1, NULL);
	err = crowd ? lock_yielding(&w, row, crowd, s) : real.spin_lock(s);
	crowd_leave(crowd);
	w.end = cycles_now();
	wait_end(row, &w, (const void *)s, true);
	return err;
}

static __noinline int lock_waiting(struct elide_thread *t, struct elide_row *row,
				   pthread_spinlock_t *s, enum elide_outcome outcome)
{
	struct count count = count_begin(row, outcome);
	int err = wait_for(t, row, s);

	count_end(count, t, row, (const void *)s, true);
	return err;
}

WRAPPER int pthread_spin_init(pthread_spinlock_t *s, int pshared)
{
	int err;

	PASS(spin_init, s, pshared);
	err = real.spin_init(s, pshared);
	if (!err)
		wrap_init((const void *)s, KIND, CALL_SITE(), pshared == PTHREAD_PROCESS_SHARED);
	return err;
}

WRAPPER int pthread_spin_destroy(pthread_spinlock_t *s)
{
	bool held;
	int err;

	PASS(spin_destroy, s);
	wrap_destroy_begin((const void *)s);
	held = glibc_layout.spin && READ_ONCE(*s) != SPIN_FREE;
	err = real.spin_destroy(s);
	if (held)
		misuse(ELIDE_MISUSE_DESTROY_HELD, KIND, CALL_SITE(), (const void *)s);
	wrap_destroy_end((const void *)s, KIND);
	return err;
}

/* Lock, not by elision, and count the acquisition as @outcome says. */
static __noinline int lock_unelided(struct elide_thread *t, struct elide_row *row,
				    pthread_spinlock_t *s, enum elide_outcome outcome)
{
	struct count count = count_begin(row, outcome);

	if (unlikely(!glibc_layout.spin || !take(s)))
		return lock_waiting(t, row, s, outcome);
	count_end(count, t, row, (const void *)s, true);
	return 0;
}

/* Every case; pthread_spin_lock() does the usual ones. */
static __noinline int lock(pthread_spinlock_t *s, const void *site)
{
	const void *word = (const void *)s;
	struct elide_thread *t = elide_self;
	struct elide_call *call = elide_call_find(t, word, site, KIND);
	enum elide_outcome outcome;
	struct elide_row *row;

	if (unlikely(elide_inside(t))) {
		if (elide_find_held(t, word))
			rtm_abort(ELIDE_CODE_relock);
		if (glibc_layout.spin &&
		    elide_acquire(t, call, word, &glibc_spin_rule, site, KIND,
				  &elide_until_locked) == ELIDE_ELIDED)
			return 0;
		return counted_inside(t, call, word, site, KIND, true, real.spin_lock(s));
	}
	outcome = elide_try(call, word, rule(), site, KIND, &elide_until_locked, &row);
	if (outcome == ELIDE_ELIDED)
		return 0;
	if (outcome == ELIDE_NOTHING_DONE)
		return real.spin_lock(s);
	return lock_unelided(elide_self, row, s, outcome);
}

/* The first attempt has aborted. */
static __noinline int lock_retry(struct elide_thread *t, struct elide_call *call,
				 pthread_spinlock_t *s, unsigned int status)
{
	if (elide_acquire_retry(t, call, (const void *)s, &glibc_spin_rule, &elide_until_locked,
				status) == ELIDE_ELIDED)
		return 0;
	return lock_unelided(t, elide_call_row(call), s, ELIDE_FELL_BACK);
}

static __always_inline_fn int lock_known(struct elide_thread *t, struct elide_fast q,
					 pthread_spinlock_t *s, const void *site)
{
	const void *word = (const void *)s;
	unsigned int status;
	enum elide_outcome outcome =
		elide_fast_acquire(t, q, word, (struct elide_rule)SPIN_IS_FREE, &status);

	if (likely(outcome == ELIDE_ELIDED))
		return 0;
	if (unlikely(outcome == ELIDE_FELL_BACK))
		return lock_retry(t, q.call, s, status);
	if (unlikely(outcome == ELIDE_NOTHING_DONE))
		return lock(s, site);
	q.call->lock = word;
	if (unlikely(!take(s)))
		return lock_waiting(t, q.row, s, ELIDE_SKIPPED);
	t->nr_spins++;
	return count_short(t, q.row, word);
}

static __noinline int lock_unknown(pthread_spinlock_t *s, const void *site)
{
	struct elide_thread *t = elide_self_fast;
	struct elide_fast q;

	q = elide_fast_look(t, (const void *)s, site, KIND);
	if (likely(q.known))
		return lock_known(t, q, s, site);
	PASS_ACQUIRE(spin_lock, s);
	return lock(s, site);
}

/* In a section. Not inlined: so pthread_spin_lock() need not save registers. */
static __noinline int lock_nested(struct elide_thread *t, pthread_spinlock_t *s, const void *site)
{
	return elide_fast_nested(t, (const void *)s, (struct elide_rule)SPIN_IS_FREE, site, KIND) ?
		       0 : lock_unknown(s, site);
}

WRAPPER int pthread_spin_lock(pthread_spinlock_t *s)
{
	struct elide_thread *t = elide_self_fast;
	struct elide_fast q;

	if (unlikely(t->open))
		return lock_nested(t, s, CALL_SITE());
	q = elide_fast(t, (const void *)s, CALL_SITE(), KIND);
	if (unlikely(!q.known))
		return lock_unknown(s, CALL_SITE());
	return lock_known(t, q, s, CALL_SITE());
}

/* Would a trylock answer EBUSY? */
static __always_inline_fn bool is_held(const pthread_spinlock_t *s)
{
	return glibc_layout.spin && READ_ONCE(*s) != SPIN_FREE;
}

/* Every case; pthread_spin_trylock() does the usual ones. */
static __noinline int trylock(pthread_spinlock_t *s, const void *site)
{
	const void *word = (const void *)s;
	struct elide_thread *t = elide_self;
	struct elide_call *call = elide_call_find(t, word, site, KIND);
	enum elide_outcome outcome;
	struct elide_row *row;
	int err;

	PASS_ACQUIRE(spin_trylock, s);
	if (unlikely(elide_inside(t))) {
		if (elide_find_held(t, word))
			return EBUSY;
		if (glibc_layout.spin && READ_ONCE(*s) == SPIN_FREE &&
		    elide_acquire(t, call, word, &glibc_spin_rule, site, KIND,
				  &elide_until_now) == ELIDE_ELIDED)
			return 0;
		return counted_inside(t, call, word, site, KIND, false, real.spin_trylock(s));
	}
	if (elide_may_fail(call) && is_held(s))
		return count_failed(elide_call_row(call), EBUSY);
	outcome = elide_try(call, word, rule(), site, KIND, &elide_until_now, &row);
	if (outcome == ELIDE_ELIDED)
		return 0;
	err = real.spin_trylock(s);
	if (outcome == ELIDE_NOTHING_DONE)
		return err;
	if (!err)
		count_locked(elide_self, row, word, outcome, false);
	else if (is_held_error(err))
		count_failed_try(call, row, err);
	return err;
}

/* A trylock whose first attempt has aborted. */
static __noinline int trylock_retry(struct elide_thread *t, struct elide_call *call,
				    pthread_spinlock_t *s, unsigned int status)
{
	const void *word = (const void *)s;
	int err;

	if (elide_acquire_retry(t, call, word, &glibc_spin_rule, &elide_until_now, status) ==
	    ELIDE_ELIDED)
		return 0;
	err = is_held(s) ? EBUSY : real.spin_trylock(s);
	if (!err) {
		count_locked(t, elide_call_row(call), word, ELIDE_FELL_BACK, false);
		return 0;
	}
	elide_not_acquired(call);
	return is_held_error(err) ? count_failed(elide_call_row(call), err) : err;
}

WRAPPER int pthread_spin_trylock(pthread_spinlock_t *s)
{
	const void *word = (const void *)s;
	struct elide_thread *t = elide_self_fast;
	struct elide_fast q = elide_fast(t, word, CALL_SITE(), KIND);
	enum elide_outcome outcome;
	unsigned int status;

	if (unlikely(!q.known))
		return trylock(s, CALL_SITE());
	if (is_held(s))
		return count_failed(q.row, EBUSY);
	outcome = elide_fast_acquire(t, q, word, (struct elide_rule)SPIN_IS_FREE, &status);
	if (likely(outcome == ELIDE_ELIDED))
		return 0;
	if (likely(outcome == ELIDE_SKIPPED && READ_ONCE(*s) == SPIN_FREE && take(s))) {
		q.call->lock = word;
		t->nr_spins++;
		return count_short(t, q.row, word);
	}
	if (unlikely(outcome == ELIDE_FELL_BACK))
		return trylock_retry(t, q.call, s, status);
	if (outcome == ELIDE_SKIPPED && glibc_layout.spin) {
		elide_not_acquired(q.call);
		return count_failed(q.row, EBUSY);
	}
	return trylock(s, CALL_SITE());
}

static __noinline int unlock(pthread_spinlock_t *s, const void *site)
{
	const void *word = (const void *)s;
	struct elide_thread *t = elide_self;

	if (elide_inside(t) && elide_release(t, word))
		return 0;
	if (glibc_layout.spin && READ_ONCE(*s) == SPIN_FREE && elide_may_judge())
		misuse(ELIDE_MISUSE_UNLOCK_FREE, KIND, site, word);
	else if (elide_inside(t) && t->nr_spins && !elide_locked_inside(t, word))
		rtm_abort(ELIDE_CODE_unelidable);
	if (elide_inside(t))
		elide_defer(t, NULL, word, site, KIND, ELIDE_DEFER_RELEASED);
	else if (t)
		elide_released(t, word, KIND);
	return real.spin_unlock(s);
}

/* Release, and count hold time and wait after that, as other threads may wait for the lock. */
static __noinline int unlock_counted(struct elide_thread *t, pthread_spinlock_t *s)
{
	unsigned long long end = elide_hold_over(t, (const void *)s);

	__atomic_store_n(s, SPIN_FREE, __ATOMIC_RELEASE); /* pairs with take() */
	elide_release_count(t, (const void *)s, end);
	return 0;
}

WRAPPER int pthread_spin_unlock(pthread_spinlock_t *s)
{
	struct elide_thread *t = elide_self_fast;

	if (elide_fast_release(t, (const void *)s, 4))
		return 0;
	if (unlikely(t->open) && elide_fast_release_nested(t, (const void *)s, 4))
		return 0;
	/*
	 * Reading the word would wait for the locked instruction that took the lock, which costs more than
	 * all the rest: only a thread that holds no spinlock checks whether it releases a free one.
	 */
	if (unlikely(t->open || t->short_tid == ELIDE_NO_TID || !held_less(&t->nr_spins))) {
		if (!t->open && t->short_tid == ELIDE_NO_TID && held_less(&t->nr_spins))
			return unlock_counted(t, s);
		PASS_RELEASE(spin_unlock, s);
		return unlock(s, CALL_SITE());
	}
	__atomic_store_n(s, SPIN_FREE, __ATOMIC_RELEASE); /* pairs with take() */
	return 0;
}
