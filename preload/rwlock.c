/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * rwlock.c - pthread_rwlock_*.
 *
 * Readers and writers are elided alike; otherwise glibc locks, with its preference for readers or writers. A
 * reader lock is never made exclusive.
 */
#include <errno.h>

#include "count.h"
#include "glibc-layout.h"
#include "inside.h"
#include "lifetime.h"
#include "section/fast-path.h"
#include "state/tid.h"
#include "wait.h"
#include "wrap.h"

#define CLOCK_PLAIN (-1) /* the timed functions without a clock */

static bool may_elide(const pthread_rwlock_t *rw)
{
	return glibc_layout.rwlock && !rw->__data.__shared;
}

static __always_inline_fn const struct elide_rule *rule_of(enum elide_kind kind)
{
	return kind == ELIDE_KIND_RWLOCK_READ ? &glibc_read_rule : &glibc_write_rule;
}

static __always_inline_fn bool looks_free(const pthread_rwlock_t *rw, enum elide_kind kind)
{
	uint64_t value;

	return is_free(rw, rule_of(kind), &value);
}

/* Would a try answer EBUSY? Not always if the lock does not look free. */
static bool is_held(const pthread_rwlock_t *rw, enum elide_kind kind)
{
	uint32_t word = READ_ONCE(rw->__data.__readers), writes = RWLOCK_WRPHASE | RWLOCK_WRLOCKED;

	if (!may_elide(rw) || rw->__data.__flags)
		return false;
	return kind == ELIDE_KIND_RWLOCK_READ ? (word & writes) == writes :
						word & ~(RWLOCK_WRPHASE | RWLOCK_RWAITING);
}

static bool lock_looks_free(const void *lock, enum elide_kind kind)
{
	return looks_free(lock, kind);
}

static __always_inline_fn int call_real(pthread_rwlock_t *rw, enum elide_kind kind, enum how how,
					clockid_t clock, const struct timespec *until)
{
	bool read = kind == ELIDE_KIND_RWLOCK_READ;

	switch (how) {
	case HOW_LOCK:
		return read ? real.rwlock_rdlock(rw) : real.rwlock_wrlock(rw);
	case HOW_TRY:
		return read ? real.rwlock_tryrdlock(rw) : real.rwlock_trywrlock(rw);
	default:
		if (clock == CLOCK_PLAIN)
			return read ? real.rwlock_timedrdlock(rw, until) :
				      real.rwlock_timedwrlock(rw, until);
		return read ? real.rwlock_clockrdlock(rw, clock, until) :
			      real.rwlock_clockwrlock(rw, clock, until);
	}
}

/* A call inside an elided section. False: the real function answers. */
static bool elided_inside(struct elide_thread *t, struct elide_call *call, pthread_rwlock_t *rw,
			  const void *site, enum elide_kind kind, enum how how)
{
	if (elide_find_held(t, rw))
		rtm_abort(ELIDE_CODE_relock); /* then the real function answers */
	if (!glibc_layout.rwlock || rw->__data.__shared || (how == HOW_TRY && !looks_free(rw, kind)))
		return false;
	if ((uint32_t)rw->__data.__cur_writer == t->tid)
		return false; /* EDEADLK */
	return elide_acquire(t, call, rw, rule_of(kind), site, kind,
			     how == HOW_LOCK ? &elide_until_locked : &elide_until_now) ==
	       ELIDE_ELIDED;
}

/* Lock it if it looks free: a bare try would take the cache line from the holder. */
static __noinline bool take_free(void *lock, uint32_t kind)
{
	pthread_rwlock_t *rw = lock;

	return looks_free(rw, kind) && !call_real(rw, kind, HOW_TRY, CLOCK_PLAIN, NULL);
}

/* Thread id of the writer that holds it, 0 if none does or it is not known. */
static uint32_t writer(const pthread_rwlock_t *rw)
{
	return glibc_layout.rwlock ? READ_ONCE(rw->__data.__cur_writer) : 0;
}

/*
 * The lock is held, and the call waits for it. Not inlined, so that calls that do not wait use less stack.
 * Return: as the real function.
 */
static __noinline int lock_waiting(struct elide_thread *t, struct elide_row *row,
				   pthread_rwlock_t *rw, enum elide_kind kind, enum how how,
				   clockid_t clock, const struct timespec *until)
{
	struct crowd *crowd = NULL;
	struct wait w;
	int err = 0;

	wait_begin(&w, true, t, row, rw, writer(rw));
	if (how == HOW_LOCK)
		wait_locked(t, row, rw);
	/* Not for the writer that holds it, which glibc answers at once. */
	if (may_elide(rw) && writer(rw) != t->tid)
		crowd = wait_in_crowd(&w, row, rw, kind, lock_looks_free, clock,
				      how == HOW_LOCK ? NULL : until);
	if (how != HOW_LOCK || !glibc_layout.rwlock ||
	    !wait_awake(&w, row, crowd, take_free, rw, kind)) {
		err = call_real(rw, kind, how, clock, until);
		w.end = cycles_now();
	}
	crowd_leave(crowd);
	wait_end(row, &w, rw, !err);
	return err;
}

/* Lock, not by elision, and count the acquisition as @outcome says. */
static __always_inline_fn int lock_unelided(struct elide_thread *t, struct elide_row *row,
					    pthread_rwlock_t *rw, const void *site,
					    enum elide_kind kind, enum how how, clockid_t clock,
					    const struct timespec *until, enum elide_outcome outcome)
{
	struct count count = count_begin(row, outcome);
	int err;

	/* Not reading the word first: the load would wait for the last atomic, and glibc reads it, too. */
	err = call_real(rw, kind, HOW_TRY, clock, until);
	if (err && how != HOW_TRY)
		err = lock_waiting(t, row, rw, kind, how, clock, until);
	if (err == EDEADLK)
		elide_misuse(ELIDE_MISUSE_RELOCK, kind, site, rw);
	if (err)
		return is_held_error(err) ? count_failed(row, err) : err;
	t->nr_rwlocks++;
	count_end(count, t, row, rw, how == HOW_LOCK);
	return 0;
}

static __always_inline_fn int lock(pthread_rwlock_t *rw, const void *site, enum elide_kind kind,
				   enum how how, clockid_t clock, const struct timespec *until)
{
	const struct elide_until deadline = {clock < 0 ? CLOCK_REALTIME : clock, until};
	struct elide_thread *t = elide_self;
	struct elide_call *call = elide_call_find(t, rw, site, kind);
	enum elide_outcome outcome;
	struct elide_row *row;
	int err;

	if (unlikely(!elide_process.running) || elide_passes())
		return call_real(rw, kind, how, clock, until);
	/* As glibc does for rwlocks, even if the lock is free. */
	if (how == HOW_TIMED && until && (unsigned long)until->tv_nsec >= 1000000000ul)
		return EINVAL;
	if (unlikely(elide_inside(t))) {
		if (elided_inside(t, call, rw, site, kind, how))
			return 0;
		err = call_real(rw, kind, how, clock, until);
		if (err == EDEADLK)
			misuse_inside(t, ELIDE_MISUSE_RELOCK, kind, site, rw);
		return counted_inside(t, call, rw, site, kind, how == HOW_LOCK, err);
	}
	if (how == HOW_TRY && elide_may_fail(call) && is_held(rw, kind))
		return count_failed(elide_call_row(call), EBUSY);
	outcome = elide_try(call, rw, may_elide(rw) ? rule_of(kind) : NULL, site, kind,
			    how == HOW_LOCK ? &elide_until_locked :
			    how == HOW_TRY  ? &elide_until_now :
					      &deadline, &row);
	if (outcome == ELIDE_ELIDED)
		return 0;
	if (outcome == ELIDE_NOTHING_DONE)
		return call_real(rw, kind, how, clock, until);
	err = lock_unelided(elide_self, row, rw, site, kind, how, clock, until, outcome);
	if (how == HOW_TRY && err && likely(call))
		elide_not_acquired(call);
	return err;
}

WRAPPER int pthread_rwlock_init(pthread_rwlock_t *rw, const pthread_rwlockattr_t *attr)
{
	int err;

	PASS(rwlock_init, rw, attr);
	err = real.rwlock_init(rw, attr);
	if (!err)
		wrap_init(rw, ELIDE_KIND_RWLOCK_READ, CALL_SITE(), rw->__data.__shared);
	return err;
}

WRAPPER int pthread_rwlock_destroy(pthread_rwlock_t *rw)
{
	bool held;
	int err;

	PASS(rwlock_destroy, rw);
	wrap_destroy_begin(rw);
	held = glibc_layout.rwlock && !looks_free(rw, ELIDE_KIND_RWLOCK_WRITE);
	err = real.rwlock_destroy(rw);
	if (held)
		misuse(ELIDE_MISUSE_DESTROY_HELD, ELIDE_KIND_RWLOCK_WRITE, CALL_SITE(), rw);
	wrap_destroy_end(rw, ELIDE_KIND_RWLOCK_READ);
	return err;
}

static __noinline int lock_long(pthread_rwlock_t *rw, const void *site, enum elide_kind kind)
{
	return lock(rw, site, kind, HOW_LOCK, CLOCK_PLAIN, NULL);
}

/*
 * The plain states of glibc's rwlock are handled here as glibc does: a reader comes or goes while no writer
 * holds or waits for the lock and no reader sleeps; a writer comes or goes while no other thread holds or
 * waits for it. glibc handles all other states, and another preference.
 *
 *   words of glibc         free, after readers  free, after a writer  one writer
 *   __readers              0                    WRPHASE               WRPHASE | WRLOCKED
 *   __wrphase_futex        0                    1                     1
 *   __writers_futex        0                    0                     1
 *   __cur_writer           0                    0                     its thread id
 */
#define NOT_PLAIN (RWLOCK_WRPHASE | RWLOCK_WRLOCKED | RWLOCK_RWAITING)
#define READER    (1u << RWLOCK_READER_SHIFT)
#define ONE_WRITER (RWLOCK_WRPHASE | RWLOCK_WRLOCKED)
/* Far below glibc's own limit, where it answers EAGAIN. */
#define MANY_READERS (1u << 30)

static __always_inline_fn bool reader_comes(pthread_rwlock_t *rw)
{
	uint32_t word = READ_ONCE(rw->__data.__readers);

	/* Acquire pairs with the release of a writer, ours in writer_goes() and glibc's. */
	return !(word & NOT_PLAIN) && word < MANY_READERS && !rw->__data.__flags &&
	       __atomic_compare_exchange_n(&rw->__data.__readers, &word, word + READER, false,
					   __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
}

static __always_inline_fn bool reader_goes(pthread_rwlock_t *rw)
{
	uint32_t word = READ_ONCE(rw->__data.__readers);

	/* Release pairs with the acquire of a writer, ours in writer_comes() and glibc's. */
	return !(word & NOT_PLAIN) && word >= READER &&
	       __atomic_compare_exchange_n(&rw->__data.__readers, &word, word - READER, false,
					   __ATOMIC_RELEASE, __ATOMIC_RELAXED);
}

static __always_inline_fn bool writer_comes(pthread_rwlock_t *rw, uint32_t tid)
{
	uint32_t word = READ_ONCE(rw->__data.__readers);

	/* Acquire pairs with the release of readers and writers, ours and glibc's. */
	if ((word & ~RWLOCK_WRPHASE) ||
	    !__atomic_compare_exchange_n(&rw->__data.__readers, &word, ONE_WRITER, false,
					 __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
		return false;
	WRITE_ONCE(rw->__data.__writers_futex, 1);
	if (unlikely(!word))
		WRITE_ONCE(rw->__data.__wrphase_futex, 1);
	WRITE_ONCE(rw->__data.__cur_writer, tid);
	return true;
}

/*
 * A waiter shows in one of the two words that are exchanged here. Then this restores the lock, and glibc
 * releases it: a waiting writer neither sleeps nor changes __writers_futex while that is 0.
 */
static __always_inline_fn bool writer_goes(pthread_rwlock_t *rw, uint32_t tid)
{
	uint32_t word = ONE_WRITER, waits;

	if (rw->__data.__flags)
		return false;
	WRITE_ONCE(rw->__data.__cur_writer, 0);
	waits = __atomic_exchange_n(&rw->__data.__writers_futex, 0, __ATOMIC_RELAXED);
	/* Release pairs with the acquire of readers and writers, ours and glibc's. */
	if (likely(waits == 1) &&
	    likely(__atomic_compare_exchange_n(&rw->__data.__readers, &word, RWLOCK_WRPHASE, false,
					       __ATOMIC_RELEASE, __ATOMIC_RELAXED)))
		return true;
	WRITE_ONCE(rw->__data.__writers_futex, waits);
	WRITE_ONCE(rw->__data.__cur_writer, tid);
	return false;
}

/* Release the lock if it is in a plain state. */
static __always_inline_fn bool goes(const struct elide_thread *t, pthread_rwlock_t *rw)
{
	/* Not the word of the readers: its load would wait for the writer's atomic. */
	uint32_t writer = rw->__data.__cur_writer;

	if (writer)
		return likely(writer == t->tid) && writer_goes(rw, writer);
	return reader_goes(rw);
}

/* Release a lock for which a thread sleeps. After that it may be gone. */
static __cold int release_waking(struct elide_thread *t, pthread_rwlock_t *rw, const void *site)
{
	enum elide_kind kind = writer(rw) ? ELIDE_KIND_RWLOCK_WRITE : ELIDE_KIND_RWLOCK_READ;
	int err;

	elide_waker_note(rw, t ? t->tid : 0, false, 0);
	err = real.rwlock_unlock(rw);
	if (glibc_layout.rwlock)
		elide_evidence_blocked(t, rw, kind, site);
	return err;
}

static __always_inline_fn int release_real(struct elide_thread *t, pthread_rwlock_t *rw,
					   const void *site)
{
	if (unlikely((READ_ONCE(rw->__data.__wrphase_futex) |
		      READ_ONCE(rw->__data.__writers_futex)) & RWLOCK_FUTEX_USED))
		return release_waking(t, rw, site);
	return real.rwlock_unlock(rw);
}

/* Take the lock if that is possible without waiting. */
static __always_inline_fn bool take(const struct elide_thread *t, pthread_rwlock_t *rw,
				    enum elide_kind kind)
{
	return likely(kind == ELIDE_KIND_RWLOCK_READ ? reader_comes(rw) :
						       writer_comes(rw, t->tid)) ||
	       likely(!call_real(rw, kind, HOW_TRY, CLOCK_PLAIN, NULL));
}

static __noinline int lock_skipped(struct elide_thread *t, struct elide_row *row,
				   pthread_rwlock_t *rw, const void *site, enum elide_kind kind)
{
	return lock_unelided(t, row, rw, site, kind, HOW_LOCK, CLOCK_PLAIN, NULL, ELIDE_SKIPPED);
}

/* The first attempt has aborted. */
static __noinline int lock_retry(struct elide_thread *t, struct elide_call *call,
				 pthread_rwlock_t *rw, const void *site, enum elide_kind kind,
				 unsigned int status)
{
	if (elide_acquire_retry(t, call, rw, rule_of(kind), &elide_until_locked, status) ==
	    ELIDE_ELIDED)
		return 0;
	return lock_unelided(t, elide_call_row(call), rw, site, kind, HOW_LOCK, CLOCK_PLAIN, NULL,
			     ELIDE_FELL_BACK);
}

static __always_inline_fn struct elide_rule free_if(enum elide_kind kind)
{
	return kind == ELIDE_KIND_RWLOCK_READ ? (struct elide_rule)READ_IS_FREE :
						(struct elide_rule)WRITE_IS_FREE;
}

static __always_inline_fn int lock_known(struct elide_thread *t, struct elide_fast q,
					 pthread_rwlock_t *rw, const void *site,
					 enum elide_kind kind)
{
	enum elide_outcome outcome;
	unsigned int status;

	outcome = elide_fast_acquire(t, q, rw, free_if(kind), &status);
	if (likely(outcome == ELIDE_ELIDED))
		return 0;
	if (unlikely(outcome == ELIDE_FELL_BACK))
		return lock_retry(t, q.call, rw, site, kind, status);
	if (unlikely(outcome == ELIDE_NOTHING_DONE))
		return lock_long(rw, site, kind);
	q.call->lock = rw;
	if (unlikely(!take(t, rw, kind)))
		return lock_skipped(t, q.row, rw, site, kind);
	t->nr_rwlocks++;
	return count_short(t, q.row, rw);
}

/* The first guess was wrong, or the lock is process-shared, and so never elided. */
static __always_inline_fn int lock_unknown(pthread_rwlock_t *rw, const void *site,
					   enum elide_kind kind)
{
	struct elide_thread *t = elide_self_fast;
	struct elide_fast q = {0};

	if (likely(!rw->__data.__shared))
		q = elide_fast_look(t, rw, site, kind);
	if (likely(q.known))
		return lock_known(t, q, rw, site, kind);
	if (unlikely(!elide_process.running) || elide_passes())
		return call_real(rw, kind, HOW_LOCK, CLOCK_PLAIN, NULL);
	return lock_long(rw, site, kind);
}

static __noinline int read_unknown(pthread_rwlock_t *rw, const void *site)
{
	return lock_unknown(rw, site, ELIDE_KIND_RWLOCK_READ);
}

static __noinline int write_unknown(pthread_rwlock_t *rw, const void *site)
{
	return lock_unknown(rw, site, ELIDE_KIND_RWLOCK_WRITE);
}

static __always_inline_fn int lock_fast(pthread_rwlock_t *rw, const void *site,
					 enum elide_kind kind)
{
	struct elide_thread *t = elide_self_fast;
	struct elide_fast q;

	if (unlikely(t->open)) {
		if (likely(!rw->__data.__shared) &&
		    elide_fast_nested(t, rw, free_if(kind), site, kind))
			return 0;
		return kind == ELIDE_KIND_RWLOCK_READ ? read_unknown(rw, site) : write_unknown(rw, site);
	}
	q = elide_fast(t, rw, site, kind);
	/* A process-shared lock is never elided. */
	if (unlikely(!q.known || rw->__data.__shared))
		return kind == ELIDE_KIND_RWLOCK_READ ? read_unknown(rw, site) : write_unknown(rw, site);
	return lock_known(t, q, rw, site, kind);
}

static __noinline int try_long(pthread_rwlock_t *rw, const void *site, enum elide_kind kind)
{
	return lock(rw, site, kind, HOW_TRY, CLOCK_PLAIN, NULL);
}

static __noinline int try_skipped(struct elide_thread *t, const struct elide_call *call,
				  pthread_rwlock_t *rw, const void *site, enum elide_kind kind)
{
	int err = lock_unelided(t, elide_call_row(call), rw, site, kind, HOW_TRY, CLOCK_PLAIN, NULL,
				ELIDE_SKIPPED);

	if (err)
		elide_not_acquired(call);
	return err;
}

/* A try whose first attempt has aborted. */
static __noinline int try_retry(struct elide_thread *t, struct elide_call *call,
				pthread_rwlock_t *rw, const void *site, enum elide_kind kind,
				unsigned int status)
{
	int err;

	if (elide_acquire_retry(t, call, rw, rule_of(kind), &elide_until_now, status) ==
	    ELIDE_ELIDED)
		return 0;
	err = is_held(rw, kind) ? count_failed(elide_call_row(call), EBUSY) :
				  lock_unelided(t, elide_call_row(call), rw, site, kind, HOW_TRY,
						CLOCK_PLAIN, NULL, ELIDE_FELL_BACK);
	if (err)
		elide_not_acquired(call);
	return err;
}

static __always_inline_fn int try_fast(pthread_rwlock_t *rw, const void *site,
					enum elide_kind kind)
{
	struct elide_thread *t = elide_self_fast;
	enum elide_outcome outcome;
	struct elide_fast q;
	unsigned int status;

	if (unlikely(t->open) && likely(!rw->__data.__shared) &&
	    elide_fast_nested(t, rw, free_if(kind), site, kind))
		return 0;
	q = elide_fast(t, rw, site, kind);
	if (unlikely(!q.known || rw->__data.__shared))
		return try_long(rw, site, kind);
	outcome = elide_fast_acquire(t, q, rw, free_if(kind), &status);
	if (likely(outcome == ELIDE_ELIDED))
		return 0;
	if (unlikely(outcome == ELIDE_FELL_BACK))
		return try_retry(t, q.call, rw, site, kind, status);
	if (unlikely(outcome == ELIDE_NOTHING_DONE))
		return try_long(rw, site, kind);
	if (unlikely(!(kind == ELIDE_KIND_RWLOCK_READ ? reader_comes(rw) :
							writer_comes(rw, t->tid))))
		return try_skipped(t, q.call, rw, site, kind);
	t->nr_rwlocks++;
	return count_short(t, q.row, rw);
}

WRAPPER int pthread_rwlock_rdlock(pthread_rwlock_t *rw)
{
	return lock_fast(rw, CALL_SITE(), ELIDE_KIND_RWLOCK_READ);
}

WRAPPER int pthread_rwlock_tryrdlock(pthread_rwlock_t *rw)
{
	return try_fast(rw, CALL_SITE(), ELIDE_KIND_RWLOCK_READ);
}

WRAPPER int pthread_rwlock_timedrdlock(pthread_rwlock_t *rw, const struct timespec *until)
{
	return lock(rw, CALL_SITE(), ELIDE_KIND_RWLOCK_READ, HOW_TIMED, CLOCK_PLAIN, until);
}

WRAPPER int pthread_rwlock_clockrdlock(pthread_rwlock_t *rw, clockid_t clock,
				       const struct timespec *until)
{
	if (!clock_known(clock))
		return real.rwlock_clockrdlock(rw, clock, until);
	return lock(rw, CALL_SITE(), ELIDE_KIND_RWLOCK_READ, HOW_TIMED, clock, until);
}

WRAPPER int pthread_rwlock_wrlock(pthread_rwlock_t *rw)
{
	return lock_fast(rw, CALL_SITE(), ELIDE_KIND_RWLOCK_WRITE);
}

WRAPPER int pthread_rwlock_trywrlock(pthread_rwlock_t *rw)
{
	return try_fast(rw, CALL_SITE(), ELIDE_KIND_RWLOCK_WRITE);
}

WRAPPER int pthread_rwlock_timedwrlock(pthread_rwlock_t *rw, const struct timespec *until)
{
	return lock(rw, CALL_SITE(), ELIDE_KIND_RWLOCK_WRITE, HOW_TIMED, CLOCK_PLAIN, until);
}

WRAPPER int pthread_rwlock_clockwrlock(pthread_rwlock_t *rw, clockid_t clock,
				       const struct timespec *until)
{
	if (!clock_known(clock))
		return real.rwlock_clockwrlock(rw, clock, until);
	return lock(rw, CALL_SITE(), ELIDE_KIND_RWLOCK_WRITE, HOW_TIMED, clock, until);
}

/*
 * As far as is known the thread holds no rwlock: does it release a free one, or another writer's? Readers
 * leave no id in the lock.
 */
static __cold void unlock_odd(const struct elide_thread *t, pthread_rwlock_t *rw, const void *site)
{
	uint32_t writer = READ_ONCE(rw->__data.__cur_writer);

	if (!elide_may_judge() || !glibc_layout.rwlock)
		return;
	if (looks_free(rw, ELIDE_KIND_RWLOCK_WRITE))
		misuse(ELIDE_MISUSE_UNLOCK_FREE, ELIDE_KIND_RWLOCK_WRITE, site, rw);
	else if (writer && !elide_tid_is_own(t, writer))
		misuse(ELIDE_MISUSE_UNLOCK_FOREIGN, ELIDE_KIND_RWLOCK_WRITE, site, rw);
}

static __noinline int unlock_long(pthread_rwlock_t *rw, const void *site)
{
	struct elide_thread *t = elide_self;

	if (elide_inside(t) && elide_release(t, rw))
		return 0;
	if (!t || !t->nr_rwlocks)
		unlock_odd(t, rw, site);
	if (elide_inside(t)) {
		if (t->nr_rwlocks && !elide_locked_inside(t, rw))
			rtm_abort(ELIDE_CODE_unelidable);
		elide_defer(t, NULL, rw, site, ELIDE_KIND_RWLOCK_WRITE, ELIDE_DEFER_RELEASED);
		return real.rwlock_unlock(rw);
	}
	if (t)
		elide_released(t, rw, ELIDE_KIND_RWLOCK_WRITE);
	return release_real(t, rw, site);
}

/* Release, and count hold time and wait after that, as other threads may wait for the lock. */
static __noinline int unlock_counted(struct elide_thread *t, pthread_rwlock_t *rw, const void *site)
{
	unsigned long long end = elide_hold_over(t, rw);
	int err = likely(goes(t, rw)) ? 0 : release_real(t, rw, site);

	elide_release_count(t, rw, end);
	return err;
}

WRAPPER int pthread_rwlock_unlock(pthread_rwlock_t *rw)
{
	struct elide_thread *t = elide_self_fast;

	if (elide_fast_release(t, rw, 4))
		return 0;
	if (unlikely(t->open) && elide_fast_release_nested(t, rw, 4))
		return 0;
	if (unlikely(t->open || t->short_tid == ELIDE_NO_TID || !held_less(&t->nr_rwlocks))) {
		if (!t->open && t->short_tid == ELIDE_NO_TID && held_less(&t->nr_rwlocks))
			return unlock_counted(t, rw, CALL_SITE());
		PASS_RELEASE(rwlock_unlock, rw);
		return unlock_long(rw, CALL_SITE());
	}
	return likely(goes(t, rw)) ? 0 : release_real(t, rw, CALL_SITE());
}

WRAPPER_ALIAS(__pthread_rwlock_init, pthread_rwlock_init);
WRAPPER_ALIAS(__pthread_rwlock_destroy, pthread_rwlock_destroy);
WRAPPER_ALIAS(__pthread_rwlock_rdlock, pthread_rwlock_rdlock);
WRAPPER_ALIAS(__pthread_rwlock_tryrdlock, pthread_rwlock_tryrdlock);
WRAPPER_ALIAS(__pthread_rwlock_wrlock, pthread_rwlock_wrlock);
WRAPPER_ALIAS(__pthread_rwlock_trywrlock, pthread_rwlock_trywrlock);
WRAPPER_ALIAS(__pthread_rwlock_unlock, pthread_rwlock_unlock);
