/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * mutex.c - pthread_mutex_*.
 *
 * mutex-word.h locks and releases mutexes without extras, as glibc does; glibc does everything else. Must
 * never decide whether to elide: lib/ does.
 */
#include <errno.h>

#include "count.h"
#include "inside.h"
#include "life/lock.h"
#include "lifetime.h"
#include "mutex.h"
#include "mutex-word.h"
#include "section/fast-path.h"
#include "state/tid.h"
#include "wrap.h"

#define KIND ELIDE_KIND_MUTEX

int mutex_relocked(pthread_mutex_t *m, const void *site, int err)
{
	if (err == EDEADLK)
		elide_misuse(ELIDE_MISUSE_RELOCK, KIND, site, m);
	return err;
}

__cold void mutex_died(int err, const pthread_mutex_t *m, const void *site, uint32_t owner)
{
	if (err == EOWNERDEAD)
		elide_misuse_died(owner, KIND, site, m);
	else
		elide_misuse(ELIDE_MISUSE_NOT_RECOVERABLE, KIND, site, m);
}

/* The mutex is held, mostly. Return: as the real function. */
static __noinline int lock_waiting(struct elide_thread *t, struct elide_row *row,
				   pthread_mutex_t *m, const void *site)
{
	struct crowd *crowd = NULL;
	struct wait w;
	int err = 0;

	wait_begin(&w, READ_ONCE(m->__data.__lock) != 0, t, row, m, mutex_holder(m));
	if (unlikely(mutex_holder(m) == t->tid))
		elide_misuse(ELIDE_MISUSE_RELOCK, KIND, site, m); /* for ever */
	wait_locked(t, row, m);
	if (mutex_may_restrict(m))
		crowd = wait_in_crowd(&w, row, m, KIND, mutex_looks_free, -1, NULL);
	if (!w.contended || !mutex_stay_awake(t, &w, row, crowd, m, &err)) {
		if (!mutex_sleep(m, t->tid, &w))
			err = real.mutex_lock(m);
		w.end = cycles_now();
	}
	crowd_leave(crowd);
	wait_end(row, &w, m, !err || err == EOWNERDEAD);
	return err;
}

int mutex_lock_inside(struct elide_thread *t, pthread_mutex_t *m, const void *site, enum how how)
{
	struct elide_held *held = elide_find_held(t, m);
	bool try = how == HOW_TRY;

	if (held && glibc_mutex_elidable(m)) {
		switch (glibc_mutex_type(m)) {
		case PTHREAD_MUTEX_RECURSIVE_NP:
			held->depth++;
			t->odd = true;
			return 0;
		case PTHREAD_MUTEX_ERRORCHECK_NP:
			if (!try)
				misuse_inside(t, ELIDE_MISUSE_RELOCK, KIND, site, m);
			return try ? EBUSY : EDEADLK;
		default:
			if (try)
				return EBUSY;
			rtm_abort(ELIDE_CODE_relock);
		}
	}
	if (mutex_is_relock(t, m) || (try && READ_ONCE(m->__data.__lock)))
		return MUTEX_REAL_ANSWERS; /* busy, or a relock of a mutex that is locked */
	if (!glibc_mutex_elidable(m))
		return MUTEX_REAL_COUNTED;
	return elide_acquire(t, elide_call_find(t, m, site, KIND), m, &glibc_mutex_rule, site, KIND,
			     how == HOW_LOCK ? &elide_until_locked : &elide_until_now) ==
			       ELIDE_ELIDED ? 0 : MUTEX_REAL_COUNTED;
}

int mutex_answered_inside(struct elide_thread *t, pthread_mutex_t *m, const void *site,
			  enum how how, int why, int err)
{
	if (err == EDEADLK)
		misuse_inside(t, ELIDE_MISUSE_RELOCK, KIND, site, m);
	else if (err == EOWNERDEAD || err == ENOTRECOVERABLE)
		misuse_inside(t, err == EOWNERDEAD ? ELIDE_MISUSE_OWNER_DIED :
						     ELIDE_MISUSE_NOT_RECOVERABLE, KIND, site, m);
	if (why != MUTEX_REAL_COUNTED)
		return err;
	return counted_inside(t, elide_call_find(t, m, site, KIND), m, site, KIND, how == HOW_LOCK,
			      err);
}

/* Lock, not by elision, and count the acquisition as @outcome says. */
static __noinline int lock_unelided(struct elide_thread *t, struct elide_row *row,
				    pthread_mutex_t *m, const void *site,
				    enum elide_outcome outcome)
{
	struct count count = count_begin(row, outcome);
	int err = 0;

	if (unlikely(!glibc_mutex_simple(m) || !glibc_layout.mutex || !mutex_take_free(m, t->tid)))
		err = lock_waiting(t, row, m, site);
	if (likely(!err || err == EOWNERDEAD))
		count_end(count, t, row, m, true);
	return err;
}

/* Every case; pthread_mutex_lock() does the usual ones. */
__noinline int mutex_lock(pthread_mutex_t *m, const void *site)
{
	struct elide_thread *t = elide_self;
	struct elide_call *call;
	enum elide_outcome outcome;
	struct elide_row *row;
	uint32_t owner;

	if (unlikely(elide_inside(t))) {
		int err = mutex_lock_inside(t, m, site, HOW_LOCK);

		if (err >= 0)
			return err;
		return mutex_answered_inside(t, m, site, HOW_LOCK, err, real.mutex_lock(m));
	}
	if (mutex_is_relock(t, m))
		return mutex_relocked(m, site, real.mutex_lock(m));
	call = elide_call_find(t, m, site, KIND);
	outcome = elide_try(call, m, mutex_rule(m), site, KIND, &elide_until_locked, &row);
	if (outcome == ELIDE_ELIDED)
		return 0;
	if (outcome == ELIDE_NOTHING_DONE)
		return real.mutex_lock(m);
	owner = mutex_owner(m);
	return mutex_answer(lock_unelided(elide_self, row, m, site, outcome), m, site, owner);
}

/* The first attempt has aborted. */
static __noinline int lock_retry(struct elide_thread *t, struct elide_call *call,
				 pthread_mutex_t *m, const void *site, unsigned int status)
{
	if (elide_acquire_retry(t, call, m, &glibc_mutex_rule, &elide_until_locked, status) ==
	    ELIDE_ELIDED)
		return 0;
	return lock_unelided(t, elide_call_row(call), m, site, ELIDE_FELL_BACK);
}

/* @plain: glibc_mutex_plain() is known to be true */
static __always_inline_fn int lock_known(struct elide_thread *t, struct elide_fast q,
					 pthread_mutex_t *m, const void *site, bool plain)
{
	unsigned int status;
	enum elide_outcome outcome =
		elide_fast_acquire(t, q, m, (struct elide_rule)MUTEX_IS_FREE, &status);

	if (likely(outcome == ELIDE_ELIDED))
		return 0;
	if (unlikely(outcome == ELIDE_FELL_BACK))
		return lock_retry(t, q.call, m, site, status);
	if (unlikely(outcome == ELIDE_NOTHING_DONE))
		return mutex_lock(m, site);
	q.call->lock = m;
	if (unlikely(!(mutex_take(m, t->tid, !plain))))
		return lock_unelided(t, q.row, m, site, ELIDE_SKIPPED);
	return count_short(t, q.row, m);
}

/* A mutex with extras, which is never elided. */
static __noinline int lock_extra(struct elide_thread *t, struct elide_row *row, pthread_mutex_t *m,
				 const void *site)
{
	struct count count = count_begin(row, ELIDE_SKIPPED);
	uint32_t owner = mutex_owner(m);
	int err;

	if (unlikely(READ_ONCE(m->__data.__lock)))
		err = lock_waiting(t, row, m, site);
	else
		err = real.mutex_lock(m);
	if (likely(!err || err == EOWNERDEAD))
		count_end(count, t, row, m, true);
	return mutex_answer(err, m, site, owner);
}

/* Lock a mutex that is not plain, by a call that the thread knows. The thread may hold it already. */
static __noinline int lock_typed(struct elide_thread *t, struct elide_call *call,
				 pthread_mutex_t *m, const void *site)
{
	struct elide_fast q = elide_fast_known(call, site, KIND);

	if (unlikely(!q.known || !glibc_layout.mutex))
		return mutex_lock(m, site);
	if (unlikely(mutex_is_relock(t, m)))
		return mutex_relock(m) ? 0 : mutex_lock(m, site);
	if (unlikely(!glibc_mutex_simple(m)))
		return lock_extra(t, q.row, m, site);
	return lock_known(t, q, m, site, false);
}

/*
 * The first guess was wrong, or the thread relocks the mutex: such calls are not counted, so they are not
 * known.
 */
static __noinline int lock_unknown(pthread_mutex_t *m, const void *site)
{
	struct elide_thread *t = elide_self_fast;
	struct elide_fast q;

	if (!t->open && mutex_is_relock(t, m) && mutex_relock(m))
		return 0;
	q = elide_fast_look(t, m, site, KIND);
	if (likely(q.known))
		return likely(glibc_mutex_plain(m)) ? lock_known(t, q, m, site, true) :
						      lock_typed(t, q.call, m, site);
	PASS_ACQUIRE(mutex_lock, m);
	return mutex_lock(m, site);
}

/* In a section. Not inlined: so pthread_mutex_lock() need not save registers. */
static __noinline int lock_nested(struct elide_thread *t, pthread_mutex_t *m, const void *site)
{
	if (likely(glibc_mutex_plain(m)) &&
	    elide_fast_nested(t, m, (struct elide_rule)MUTEX_IS_FREE, site, KIND))
		return 0;
	return lock_unknown(m, site);
}

WRAPPER int pthread_mutex_lock(pthread_mutex_t *m)
{
	struct elide_thread *t = elide_self_fast;
	struct elide_fast q;

	if (unlikely(t->open))
		return lock_nested(t, m, CALL_SITE());
	q = elide_fast(t, m, CALL_SITE(), KIND);
	if (unlikely(!q.known))
		return lock_unknown(m, CALL_SITE());
	if (unlikely(!glibc_mutex_plain(m)))
		return lock_typed(t, q.call, m, CALL_SITE());
	return lock_known(t, q, m, CALL_SITE(), true);
}

/* Would a trylock answer EBUSY? Not for a robust mutex, whose holder may have ended. */
static __always_inline_fn bool is_held(const pthread_mutex_t *m)
{
	return glibc_mutex_elidable(m) && READ_ONCE(m->__data.__lock);
}

int mutex_trylock(pthread_mutex_t *m, const void *site)
{
	struct elide_thread *t = elide_self;
	struct elide_call *call;
	enum elide_outcome outcome;
	struct elide_row *row;
	uint32_t owner;
	int err;

	if (unlikely(elide_inside(t))) {
		err = mutex_lock_inside(t, m, site, HOW_TRY);
		if (err >= 0)
			return err;
		return mutex_answered_inside(t, m, site, HOW_TRY, err, real.mutex_trylock(m));
	}
	if (mutex_is_relock(t, m))
		return real.mutex_trylock(m);
	call = elide_call_find(t, m, site, KIND);
	if (elide_may_fail(call) && is_held(m))
		return count_failed(elide_call_row(call), EBUSY);
	outcome = elide_try(call, m, mutex_rule(m), site, KIND, &elide_until_now, &row);
	if (outcome == ELIDE_ELIDED)
		return 0;
	owner = mutex_owner(m);
	err = real.mutex_trylock(m);
	if (outcome == ELIDE_NOTHING_DONE)
		return err;
	if (!err || err == EOWNERDEAD)
		count_locked(elide_self, row, m, outcome, false);
	else if (is_held_error(err))
		count_failed_try(call, row, err);
	return mutex_answer(err, m, site, owner);
}

static enum elide_misuse_type unlock_misuse(uint32_t owner)
{
	return owner ? ELIDE_MISUSE_UNLOCK_FOREIGN : ELIDE_MISUSE_UNLOCK_FREE;
}

/* The mutex does not look like this thread's: a misuse, or it was held across a fork. */
static __cold int unlock_odd(struct elide_thread *t, pthread_mutex_t *m, const void *site)
{
	uint32_t owner = m->__data.__owner;

	if (elide_may_judge() && !(owner && elide_tid_is_own(t, owner)))
		elide_misuse(unlock_misuse(owner), KIND, site, m);
	return real.mutex_unlock(m);
}

static __noinline int unlock_real(struct elide_thread *t, pthread_mutex_t *m, const void *site)
{
	uint32_t owner = mutex_id(m);
	int err = real.mutex_unlock(m);

	if (err == EPERM && elide_may_judge())
		elide_misuse(unlock_misuse(owner), KIND, site, m);
	return err;
}

/* Inside an elided section, of a mutex that is not elided: locked before or in the section, or a misuse. */
static __noinline int unlock_inside(struct elide_thread *t, pthread_mutex_t *m, const void *site)
{
	uint32_t owner = mutex_id(m);
	bool own = owner && elide_tid_is_own(t, owner), relocked = glibc_mutex_relocked(m);
	int err;

	if (own && !relocked && !elide_locked_inside(t, m))
		rtm_abort(ELIDE_CODE_unelidable);
	err = real.mutex_unlock(m);
	if (!own && (err == EPERM || (glibc_mutex_plain(m) && glibc_layout.mutex)))
		misuse_inside(t, unlock_misuse(owner), KIND, site, m);
	else if (!err && !relocked)
		elide_defer(t, NULL, m, site, KIND, ELIDE_DEFER_RELEASED);
	return err;
}

/* Outside of sections. */
static __always_inline_fn int unlock_locked(struct elide_thread *t, pthread_mutex_t *m,
					    const void *site)
{
	if (t && unlikely(t->nr_holds || t->watched) && !glibc_mutex_relocked(m)) {
		elide_hold_end(t, m);
		elide_locked_end(t, m);
	}
	if (!glibc_mutex_plain(m) || !glibc_layout.mutex)
		return unlock_real(t, m, site);
	if (!t || (uint32_t)m->__data.__owner != t->tid)
		return unlock_odd(t, m, site);
	return mutex_release(m, site);
}

__noinline int mutex_unlock(pthread_mutex_t *m, const void *site)
{
	struct elide_thread *t = elide_self;
	int err;

	if (elide_inside(t) && elide_release(t, m))
		return 0;
	if (elide_inside(t))
		return unlock_inside(t, m, site);
	err = unlock_locked(t, m, site);
	if (t)
		elide_due_released(t, m);
	return err;
}

/* Every case; pthread_mutex_unlock() does the usual ones. */
static __noinline int unlock_long(pthread_mutex_t *m, const void *site)
{
	struct elide_thread *t = elide_self_fast;

	/* Count after the release, as other threads may wait for the mutex. */
	if (!t->open && (uint32_t)m->__data.__owner == t->tid && likely(glibc_mutex_plain(m))) {
		unsigned long long end = elide_hold_over(t, m);

		mutex_release(m, site);
		elide_release_count(t, m, end);
		return 0;
	}
	PASS_RELEASE(mutex_unlock, m);
	return mutex_unlock(m, site);
}

WRAPPER int pthread_mutex_unlock(pthread_mutex_t *m)
{
	struct elide_thread *t = elide_self_fast;

	if (elide_fast_release(t, m, 4))
		return 0;
	if (unlikely(t->open))
		return elide_fast_release_nested(t, m, 4) ? 0 : unlock_long(m, CALL_SITE());
	if (unlikely((uint32_t)m->__data.__owner != t->short_tid))
		return unlock_long(m, CALL_SITE());
	if (likely(glibc_mutex_plain(m)))
		return mutex_release(m, CALL_SITE());
	return glibc_mutex_simple(m) ? mutex_release_typed(m, CALL_SITE()) :
				       unlock_long(m, CALL_SITE());
}

WRAPPER int pthread_mutex_init(pthread_mutex_t *m, const pthread_mutexattr_t *attr)
{
	struct elide_thread *t = elide_self_fast;
	int err;

	/* A mutex without attributes is all zeroes, by glibc_layout. */
	if (likely(!attr && !t->open && glibc_layout.mutex) &&
	    elide_lock_renew(t, m, KIND, CALL_SITE(), false)) {
		*m = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
		return 0;
	}
	PASS(mutex_init, m, attr);
	err = real.mutex_init(m, attr);
	if (!err)
		wrap_init(m, KIND, CALL_SITE(), m->__data.__kind & MUTEX_UNELIDABLE);
	return err;
}

WRAPPER int pthread_mutex_destroy(pthread_mutex_t *m)
{
	struct elide_thread *t = elide_self_fast;
	int err;

	if (likely(!t->open && glibc_layout.mutex && glibc_mutex_plain(m) && !m->__data.__nusers) &&
	    elide_lock_retire(t, m)) {
		m->__data.__kind = MUTEX_DESTROYED;
		return 0;
	}
	PASS(mutex_destroy, m);
	wrap_destroy_begin(m);
	err = real.mutex_destroy(m);
	if (!err)
		wrap_destroy_end(m, KIND);
	else if (err == EBUSY)
		misuse(ELIDE_MISUSE_DESTROY_HELD, KIND, CALL_SITE(), m);
	return err;
}

/* A trylock whose first attempt has aborted. */
static __noinline int trylock_retry(struct elide_thread *t, struct elide_call *call,
				    pthread_mutex_t *m, unsigned int status)
{
	int err;

	if (elide_acquire_retry(t, call, m, &glibc_mutex_rule, &elide_until_now, status) ==
	    ELIDE_ELIDED)
		return 0;
	err = READ_ONCE(m->__data.__lock) ? EBUSY : real.mutex_trylock(m);
	if (!err) {
		count_locked(t, elide_call_row(call), m, ELIDE_FELL_BACK, false);
		return 0;
	}
	elide_not_acquired(call);
	return is_held_error(err) ? count_failed(elide_call_row(call), err) : err;
}

/* Every case; pthread_mutex_trylock() does the usual ones. */
static __noinline int trylock_long(struct elide_thread *t, pthread_mutex_t *m, const void *site)
{
	PASS_ACQUIRE(mutex_trylock, m);
	if (t->open && likely(glibc_mutex_plain(m)) &&
	    elide_fast_nested(t, m, (struct elide_rule)MUTEX_IS_FREE, site, KIND))
		return 0;
	return mutex_trylock(m, site);
}

WRAPPER int pthread_mutex_trylock(pthread_mutex_t *m)
{
	struct elide_thread *t = elide_self_fast;
	struct elide_fast q = elide_fast(t, m, CALL_SITE(), KIND);
	enum elide_outcome outcome;
	unsigned int status;
	uint8_t locks;

	if (unlikely(!q.known || !glibc_mutex_plain(m)))
		return trylock_long(t, m, CALL_SITE());
	locks = elide_fast_locks(q);
	if (unlikely(locks)) {
		if (!mutex_take(m, t->tid, false))
			return count_failed(q.row, EBUSY);
		q.call->lock = m;
		elide_fast_locked(q, locks);
		return count_short(t, q.row, m);
	}
	if (READ_ONCE(m->__data.__lock))
		return count_failed(q.row, EBUSY);
	outcome = elide_fast_acquire(t, q, m, (struct elide_rule)MUTEX_IS_FREE, &status);
	if (likely(outcome == ELIDE_ELIDED))
		return 0;
	if (unlikely(outcome == ELIDE_FELL_BACK))
		return trylock_retry(t, q.call, m, status);
	if (unlikely(outcome == ELIDE_NOTHING_DONE))
		return trylock_long(t, m, CALL_SITE());
	if (likely(mutex_take(m, t->tid, false))) {
		q.call->lock = m;
		return count_short(t, q.row, m);
	}
	elide_not_acquired(q.call);
	return count_failed(q.row, EBUSY);
}

WRAPPER_ALIAS(__pthread_mutex_init, pthread_mutex_init);
WRAPPER_ALIAS(__pthread_mutex_destroy, pthread_mutex_destroy);
WRAPPER_ALIAS(__pthread_mutex_lock, pthread_mutex_lock);
WRAPPER_ALIAS(__pthread_mutex_trylock, pthread_mutex_trylock);
WRAPPER_ALIAS(__pthread_mutex_unlock, pthread_mutex_unlock);
