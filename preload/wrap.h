/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * wrap.h - what the wrappers of all kinds of locks share.
 *
 * A wrapper must return what glibc returns, leave errno alone, and print
 * nothing. It keeps the rule of transactions in lib/state/thread.h.
 */
#ifndef ELIDE_WRAP_H
#define ELIDE_WRAP_H

#include <errno.h>

#include "adapt/crowd.h"
#include "adapt/giveup.h"
#include "check/misuse.h"
#include "check/order.h"
#include "evidence/evidence.h"
#include "evidence/moments.h"
#include "glibc-layout.h"
#include "life/fill.h"
#include "life/lock.h"
#include "life/threads.h"
#include "real.h"
#include "section/blocking.h"
#include "section/engine.h"
#include "section/held.h"
#include "section/quick.h"
#include "state/holds.h"
#include "state/settings.h"

#define WRAPPER __export

/* The call site: where the program called us. */
#define CALL_SITE() __builtin_return_address(0)

/* How a lock call waits: until it has the lock, not at all, or for a time. */
enum how { HOW_LOCK, HOW_TRY, HOW_TIMED };

/*
 * Where the engine does not run a call is glibc's from the beginning: before our
 * constructor, with ELIDE_MODE=off, in a child that is not followed.
 */
#define PASS(id, ...)                                  \
	do {                                           \
		if (unlikely(!elide_process.running))  \
			return real.id(__VA_ARGS__);   \
	} while (0)

/* PASS() of an acquisition, which passes through also if the thread has no block... */
#define PASS_ACQUIRE(id, ...)                                              \
	do {                                                               \
		if (unlikely(!elide_process.running) || elide_passes())    \
			return real.id(__VA_ARGS__);                       \
	} while (0)

/* ...and of a release. */
#define PASS_RELEASE(id, ...)                                              \
	do {                                                               \
		if (unlikely(!elide_process.running) || elide_is_refused()) \
			return real.id(__VA_ARGS__);                       \
	} while (0)

/* A further name of a wrapper, from symbols.def. */
#define WRAPPER_ALIAS(name, target) \
	extern __typeof__(target) name                   \
		__attribute__((nothrow, leaf, alias(#target), visibility("default")))

/**
 * struct wait - the time that a locked acquisition waits.
 * @contended: the lock was held when the call came
 * @start: cycles
 * @end: cycles; set by whoever waits
 * @thread: the calling thread
 * @awake: cycles that it stays awake at most, before it sleeps and after it is woken; set by wait_awake()
 * @who: who waits for whom, if this wait is sampled
 */
struct wait {
	bool contended;
	uint32_t awake;
	unsigned long long start;
	unsigned long long end;
	struct elide_thread *thread;
	struct elide_waits who;
};

/* @holder: thread id in the lock, 0 if it has none. */
static __always_inline_fn void wait_begin(struct wait *w, bool contended, struct elide_thread *t,
					  struct elide_row *row, const void *lock, uint32_t holder)
{
	w->contended = contended;
	w->awake = 0;
	w->who.weight = 0;
	if (likely(!contended))
		return;
	elide_due_count(t);
	w->start = cycles_now();
	w->thread = t;
	t->waits_row = row;
	/* For elide stacks, which stops the thread before it reads them. */
	WRITE_ONCE(t->waits, lock);
	elide_evidence_waits(t, row, lock, holder, &w->who);
}

/* The lock is locked, and others may wait for it: not a call unless it is sampled. */
static __always_inline_fn void wait_end(struct elide_row *row, const struct wait *w,
					const void *lock)
{
	unsigned long long cycles = w->end - w->start;

	if (likely(!w->contended))
		return;
	WRITE_ONCE(w->thread->waits, NULL);
	if (unlikely(w->who.weight))
		elide_evidence_waited(&w->who, cycles);
	elide_wait_over(w->thread, row, lock, w->end, cycles);
}

/* A trylock or a timed call has found the lock held, and has not got it. Returns @err. */
int count_failed(struct elide_row *row, int err);

/* The same after elide_try(). @call: of the call, if it was known before */
static inline int count_failed_try(const struct elide_call *call, struct elide_row *row, int err)
{
	if (likely(call))
		elide_not_acquired(call);
	return count_failed(row, err);
}

/* Has a trylock or a timed call failed because another thread holds the lock? */
static __always_inline_fn bool is_held_error(int err)
{
	return err == EBUSY || err == ETIMEDOUT;
}

/*
 * Before the wait: the call may be one of those that are restricted, and is parked if enough threads
 * wait. Return: for crowd_leave() after the wait.
 */
static __always_inline_fn struct crowd *
wait_in_crowd(const struct wait *w, struct elide_row *row, const void *lock, enum elide_kind kind,
	      bool (*looks_free)(const void *lock, enum elide_kind kind), clockid_t clock,
	      const struct timespec *until)
{
	if (likely(!w->contended) || likely(!elide_process.restricts) ||
	    !crowd_restricts(w->thread, row, lock))
		return NULL;
	/* The real function answers for a time that is none. */
	if (until && (unsigned long)until->tv_nsec >= 1000000000ul)
		return NULL;
	return crowd_enter(&(struct crowd_call){
		.t = w->thread,
		.row = row,
		.lock = lock,
		.is_free = looks_free,
		.kind = kind,
		.clock = clock < 0 ? CLOCK_REALTIME : clock,
		.until = until,
	});
}

/*
 * Wait on the processor for about as long as it would take to sleep, if the policy says so, until
 * @take(@lock, @arg) has locked the lock. False: it has not.
 */
static __always_inline_fn bool wait_awake(struct wait *w, const struct elide_row *row,
					  const struct crowd *crowd,
					  bool (*take)(void *lock, uint32_t arg), void *lock,
					  uint32_t arg)
{
	uint32_t most = w->awake = elide_awake_most(row, crowd);
	/* It may have been parked since. */
	unsigned long long start = unlikely(crowd) ? cycles_now() : w->start;

	while ((w->end = cycles_now()) - start < most) {
		if (take(lock, arg))
			return true;
		cpu_relax();
	}
	return false;
}

/* The clocks of glibc's timed calls. It refuses others before it looks at the lock. */
static inline bool clock_known(clockid_t clock)
{
	return clock == CLOCK_REALTIME || clock == CLOCK_MONOTONIC;
}

/* The lock is held and the call will wait for it: report a deadlock now, it may wait for ever. */
static __always_inline_fn void wait_locked(struct elide_thread *t, const struct elide_row *row,
					   const void *lock)
{
	if (unlikely(t->nr_acquired))
		elide_order_waits(t, row, lock);
}

/**
 * struct count - what will be counted of an acquisition that locks, found out before.
 * @counter: of its row; NULL: it is not counted
 * @more: its hold time is measured, or it is watched
 *
 * Other threads wait while it is counted.
 */
struct count {
	uint64_t *counter;
	bool more;
};

static __always_inline_fn struct count count_begin(struct elide_row *row,
						   enum elide_outcome outcome)
{
	/*
	 * In a transaction of the program's own the counters would be in its write set, and other
	 * threads' reads of them would abort it. Such an acquisition is not counted.
	 */
	if (READ_ONCE(elide_enabled) && rtm_test())
		return (struct count){NULL, false};
	return (struct count){
		.counter = likely(outcome == ELIDE_SKIPPED) ? &row->not_attempted : &row->fallback,
		.more = elide_hold_due(row) || elide_process.watch_locked,
	};
}

/*
 * The lock is locked.
 * @wait: the call would have waited for ever
 */
static __always_inline_fn void count_end(struct count count, struct elide_thread *t,
					 struct elide_row *row, const void *lock, bool wait)
{
	if (unlikely(!count.counter))
		return;
	counter_add(*count.counter, 1);
	if (unlikely(count.more))
		elide_locked_more(t, row, lock, wait);
}

/* Both, where the lock is locked already. */
static __always_inline_fn void count_locked(struct elide_thread *t, struct elide_row *row,
					    const void *lock, enum elide_outcome outcome, bool wait)
{
	count_end(count_begin(row, outcome), t, row, lock, wait);
}

/*
 * count_locked() for the short way, where no attempt was made: fewer instructions, as one count
 * serves the row and the hold time. Not counter_add(): these calls are not allowed in signal
 * handlers, so no other count can come between. Returns 0.
 */
static __always_inline_fn int count_short(struct elide_thread *t, struct elide_row *row,
					     const void *lock)
{
	uint64_t mask = elide_short_mask;
	bool more = !(READ_ONCE(row->not_attempted) & mask);

	row->not_attempted++;
	return unlikely(more) ? elide_short_more(t, row, lock) : 0;
}

/* A lock that was locked is about to be released. */
static __always_inline_fn void release_locked(struct elide_thread *t, const void *lock)
{
	if (unlikely(t->hold_lock == lock))
		elide_hold_end(t);
}

/*
 * Does the thread hold locks of a kind that it counts? Then one less from now on. The subtraction
 * itself answers, in fewer instructions than a comparison before it.
 */
static __always_inline_fn bool held_less(uint32_t *nr)
{
	if (likely((int32_t)--*nr >= 0))
		return true;
	*nr = 0;
	return false;
}

/* Inside an elided section the real function answered: count the lock if it gave it. Returns @err. */
static inline int counted_inside(struct elide_thread *t, struct elide_call *call,
				 const void *lock, const void *site, enum elide_kind kind,
				 bool wait, int err)
{
	if (!err || err == EOWNERDEAD)
		elide_defer(t, call, lock, site, kind,
			    wait ? ELIDE_DEFER_LOCKED : ELIDE_DEFER_LOCKED_TRY);
	return err;
}

/* Inside an elided section: a misuse, to be counted if the section commits. */
static inline void misuse_inside(struct elide_thread *t, enum elide_misuse_type type,
				 enum elide_kind kind, const void *site, const void *lock)
{
	elide_defer(t, NULL, lock, site, kind, ELIDE_DEFER_MISUSE + type);
}

/* The same wherever the thread is. */
static inline void misuse(enum elide_misuse_type type, enum elide_kind kind, const void *site,
			  const void *lock)
{
	struct elide_thread *t = elide_self;

	if (elide_inside(t))
		misuse_inside(t, type, kind, site, lock);
	else
		elide_misuse(type, kind, site, lock);
}

/**
 * wrap_init() - after a lock was initialised.
 * @site: return address of the wrapper
 * @stack: of elide_lock_new_from()
 * @shared: process-shared
 */
#define wrap_init(lock, kind, site, shared) \
	wrap_init_from(lock, kind, site, __builtin_dwarf_cfa(), shared)
void wrap_init_from(const void *lock, enum elide_kind kind, const void *site, const void *stack,
		    bool shared);

/**
 * wrap_destroy_begin() - before a lock is destroyed: not while it is held by elision.
 */
void wrap_destroy_begin(const void *lock);

/** wrap_destroy_end() - after it was destroyed. */
void wrap_destroy_end(const void *lock, enum elide_kind kind);

/**
 * wrap_wait() - before a call that releases a mutex and waits: no section may be elided over it.
 */
static inline void wrap_wait(const pthread_mutex_t *mutex, const void *site)
{
	struct elide_thread *t = elide_self;

	if (!t)
		return;
	if (t->nr_held)
		rtm_abort(ELIDE_CODE_cond_wait);
	if (t->hold_lock == mutex)
		elide_hold_cancel(t); /* not one critical section */
	if (unlikely(t->nr_acquired) && !glibc_mutex_relocked(mutex))
		elide_order_reacquired(t, mutex, site);
}

/*
 * Before a signal or a broadcast. glibc has the number of those that wait above the flags, and changes it before
 * the mutex is released. Not for condition variables of GLIBC_2.2.5, which are another structure.
 */
static __always_inline_fn void cond_wakes(const pthread_cond_t *c, const void *site)
{
	if (unlikely(!glibc_layout.cond))
		elide_blocking_wakes(c, site);
	else if (unlikely(READ_ONCE(c->__data.__wrefs) >> COND_FLAGS))
		elide_blocking_wakes_one(c, site);
}

/**
 * cond_waited() - after the real wait for a condition variable, of pthread or of C11.
 * @b: begun before it
 * @c, @m: the condition variable and the mutex; only their addresses are used
 * @site: return address of the call
 * @err: what the call answers, as pthread_cond_timedwait() says it
 *
 * Return: @err.
 */
int cond_waited(struct elide_blocking *b, const void *c, const void *m, const void *site, int err);

/* Shared by mutex.c and c11.c: mtx_t is glibc's mutex. */
int mutex_lock(pthread_mutex_t *m, const void *site);
int mutex_trylock(pthread_mutex_t *m, const void *site);
int mutex_timedlock(pthread_mutex_t *m, const void *site, clockid_t clock,
		    const struct timespec *until);
int mutex_unlock(pthread_mutex_t *m, const void *site);

#endif
