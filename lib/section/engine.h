/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * engine.h - what the wrappers call: begin and end of an elided section.
 *
 * A lock call, in the wrapper:
 *
 *   in a section: elide_acquire() -> ELIDE_ELIDED: done
 *   else elide_try(), which has the call, asks elide_may_try() and calls
 *   elide_acquire() -> ELIDE_ELIDED: done
 *   else lock, then elide_count()
 *
 * An unlock call:
 *
 *   if elide_inside(): elide_release() -> true: done
 *   else release the lock itself
 *
 * fast-path.h does the usual case of both in few instructions, inside the wrapper. This header declares
 * functions of three files: acquire.c, retry.c and release.c.
 */
#ifndef ELIDE_ENGINE_H
#define ELIDE_ENGINE_H

#include <time.h>

#include "../compiler.h"
#include "../elide.h"
#include "../rtm.h"
#include "../state/call.h"
#include "../state/settings.h"
#include "../state/thread.h"
#include "../state/way.h"

#pragma GCC visibility push(hidden)

/* Codes of our own aborts, from aborts.def. */
enum elide_code {
#define ELIDE_CAUSE(id, code, column, help, advice) ELIDE_CODE_##id = code,
#include "../aborts.def"
#undef ELIDE_CAUSE
};

/* How a lock call came out. */
enum elide_outcome {
	ELIDE_ELIDED,       /* the lock is elided */
	ELIDE_SKIPPED,      /* lock: no attempt was made */
	ELIDE_FELL_BACK,    /* lock: attempts aborted */
	ELIDE_NOTHING_DONE, /*
			     * elide_fast_acquire(): go the long way. elide_acquire(): lock and count
			     * nothing, a transaction is open; if it is ours, elide_defer() with
			     * ELIDE_DEFER_LOCKED once it is locked
			     */
};

/**
 * struct elide_until - how long a lock call waits for a lock that is held.
 * @clock, @time: end of the wait
 *
 * elide_until_locked: until it has the lock; elide_until_now: not at all, as trylock. Only the addresses
 * of these two are compared.
 */
struct elide_until {
	clockid_t clock;
	const struct timespec *time;
};

extern const struct elide_until elide_until_locked, elide_until_now;

/**
 * elide_may_wait() - may a call wait on its processor for a held lock, for as long as the policy says?
 * @until: how long the call waits
 *
 * A timed call may if the longest such wait ends well before its time: this reads the clock.
 */
bool elide_may_wait(const struct elide_until *until);

/** elide_inside() - is a transaction of ours open in this thread? */
static inline bool elide_inside(const struct elide_thread *t)
{
	return t && t->nr_held;
}

/**
 * elide_may_try() - does the policy allow an attempt of this acquisition?
 * @t: the calling thread, outside transactions of ours; @t->arm is set
 * @call: what it knows of the call
 *
 * Called once for each acquisition: it counts the acquisition in the thread's measurement.
 */
bool elide_may_try(struct elide_thread *t, struct elide_call *call);

/**
 * elide_acquire() - try to take a lock by elision.
 * @t: the calling thread
 * @call: what it knows of the call; NULL only inside a transaction of ours
 * @word: lock word, which is also the lock's identity
 * @rule: when it is free
 * @site: return address of the lock call
 * @kind: enum elide_kind
 * @until: how long the call waits for a held lock
 *
 * Subscribes eagerly: the transaction first reads the word (Dice et al., "Pitfalls of lazy
 * subscription", 2014, show why not later).
 * The caller has made sure that the lock is not in the held list and, outside
 * transactions, that it may be elided: elide_may_try().
 *
 * Return: enum elide_outcome.
 */
enum elide_outcome elide_acquire(struct elide_thread *t, struct elide_call *call,
				 const void *word, const struct elide_rule *rule, const void *site,
				 enum elide_kind kind, const struct elide_until *until);

/**
 * elide_try() - a lock call outside sections of ours, up to the point where the wrapper locks.
 * @call: what the thread knows of the call; NULL: look it up, or make it
 * @word: lock word
 * @rule: when it is free; NULL: a lock of this type is not elided
 * @site: return address of the lock call
 * @kind: enum elide_kind
 * @until: how long the call waits for a held lock
 * @row: set to the counters of the call, which stay where they are whatever a signal handler does
 *
 * Return: as elide_acquire(), and ELIDE_NOTHING_DONE also for a call that passes through uncounted: @row
 * is not set then. elide_self may change.
 */
enum elide_outcome elide_try(struct elide_call *call, const void *word,
			     const struct elide_rule *rule, const void *site,
			     enum elide_kind kind, const struct elide_until *until,
			     struct elide_row **row);

/**
 * elide_may_fail() - may a trylock that has found the lock held return at once, uncounted?
 * @call: what the thread knows of the call, or NULL
 *
 * Return: false if the call is not known, or if elide_fast_acquire() has counted its countdown down to 0:
 * then the long way has to go on.
 */
static inline bool elide_may_fail(const struct elide_call *call)
{
	const struct adapt_thread *adapt;

	if (unlikely(!call))
		return false;
	adapt = READ_ONCE(call->adapt);
	return adapt && adapt->countdown;
}

/**
 * elide_not_acquired() - a trylock that was counted as a section has failed: take that back.
 * @call: its call, after elide_fast_acquire(), elide_acquire_retry() or elide_try()
 *
 * The policy compares arms by the number of sections.
 */
static inline void elide_not_acquired(const struct elide_call *call)
{
	struct adapt_thread *adapt = READ_ONCE(call->adapt);

	if (call->way == ELIDE_WAY_ELIDE && likely(adapt))
		counter_add(adapt->goal, -1ull);
}

/**
 * elide_acquire_retry() - go on with an acquisition that fast-path.h has begun: its attempt has aborted.
 * @t: the calling thread
 * @call: the call
 * @word: lock word
 * @rule: when it is free
 * @until: as for elide_acquire()
 * @status: of the attempt
 *
 * Return: ELIDE_ELIDED or ELIDE_FELL_BACK.
 */
enum elide_outcome elide_acquire_retry(struct elide_thread *t, struct elide_call *call,
				       const void *word, const struct elide_rule *rule,
				       const struct elide_until *until, unsigned int status);

/**
 * elide_release() - release a lock if it is held by elision.
 * @t: the calling thread, inside a transaction of ours
 * @word: lock word
 *
 * Commits if it was the last one. Aborts if the word has changed since the subscription: then this
 * transaction has acquired or released the lock itself, unseen, and a commit would publish that.
 *
 * Return: false if the lock is not in the held list: release the lock itself.
 */
bool elide_release(struct elide_thread *t, const void *word);

/**
 * elide_locked_inside() - was a lock locked, not elided, in the open section, and not released since?
 * @t: the calling thread, inside a transaction of ours
 * @lock: the lock; only its address is used
 *
 * A section that releases a lock which was locked before it began, as hand-over-hand locking does, has to
 * abort with ELIDE_CODE_unelidable: other threads would see the lock free only after the commit.
 */
bool elide_locked_inside(const struct elide_thread *t, const void *lock);

/**
 * elide_defer() - inside a transaction of ours: leave something to be done after the commit.
 * @t: the calling thread
 * @call: what the thread knows of the call, else NULL
 * @lock: the lock
 * @site: return address of the call
 * @kind: enum elide_kind
 * @what: enum elide_deferred
 */
void elide_defer(struct elide_thread *t, const struct elide_call *call, const void *lock,
		 const void *site, enum elide_kind kind, enum elide_deferred what);

/**
 * elide_find_held() - is the lock held by elision?
 * @t: the calling thread, inside a transaction of ours
 *
 * Return: its entry in the held list or NULL.
 */
struct elide_held *elide_find_held(struct elide_thread *t, const void *word);

#pragma GCC visibility pop

#endif
