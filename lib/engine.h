/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * engine.h - what the wrappers call: begin and end of an elided section.
 *
 * A lock call, in the wrapper:
 *
 *   entry = elide_cache_find() or elide_cache_fill()
 *   if elide_tried() and the lock may be elided: elide_acquire() -> ELIDE_TAKEN: done
 *   else take the lock really, then elide_count()
 *
 * An unlock call:
 *
 *   if elide_inside(): elide_release() -> true: done
 *   else release the lock really
 *
 * quick.h does what is usual of both in few instructions, inside the wrapper.
 */
#ifndef ELIDE_ENGINE_H
#define ELIDE_ENGINE_H

#include "compiler.h"
#include "elide.h"
#include "rtm.h"
#include "thread.h"

#pragma GCC visibility push(hidden)

/* Codes of our own aborts, from aborts.def. */
enum elide_code {
#define ELIDE_CAUSE(id, code, column, help, advice) ELIDE_CODE_##id = code,
#include "aborts.def"
#undef ELIDE_CAUSE
};

/* How a lock call came out. */
enum elide_outcome {
	ELIDE_TAKEN,     /* held by elision */
	ELIDE_SKIPPED,   /* take it really; nothing was tried */
	ELIDE_FELL_BACK, /* take it really; attempts aborted */
	ELIDE_INSIDE,    /* take it really and touch nothing else: a transaction is open; if it is
			  * ours, leave it to be counted with ELIDE_DEFER_REAL once it is taken
			  */
};

/* True when this process elides: mode, RTM and the watch all agree. */
extern bool elide_enabled;

/** elide_halted() - is nothing elided for now, in a process that elides? */
static inline bool elide_halted(void)
{
	return !READ_ONCE(elide_enabled) || READ_ONCE(elide_data->control);
}

/** elide_inside() - is a transaction of ours open in this thread? */
static inline bool elide_inside(const struct elide_thread *t)
{
	return t && t->nr_held;
}

/**
 * elide_start() - read the settings, detect RTM, make the tables.
 * @secure: the process is setuid: ignore the environment and stay off
 *
 * Called once, by a constructor. Before it every call passes through.
 */
void elide_start(bool secure);

/** elide_stop() - the process ends: close the data file. Later calls are still counted in it. */
void elide_stop(void);

/**
 * elide_disable() - stop eliding in this process.
 * @why: said once on standard error
 */
void elide_disable(const char *why);

/**
 * elide_tried() - is there anything to ask elide_acquire() for?
 * @t: the calling thread, outside transactions of ours
 * @entry: its entry for the call
 *
 * To be asked once for each acquisition.
 */
bool elide_tried(struct elide_thread *t, const struct elide_cache *entry);

/**
 * elide_acquire() - try to take a lock by elision.
 * @t: the calling thread
 * @entry: its entry for the call; NULL only inside a transaction of ours
 * @word: lock word, which is also the lock's identity
 * @rule: when it is free
 * @site: return address of the lock call
 * @kind: enum elide_kind
 * @wait: the call waits until it has the lock; false for trylock and timed calls
 *
 * Subscribes eagerly: the word is read as the first act in the transaction
 * (Dice et al., "Pitfalls of lazy subscription", 2014, show why not later).
 * The caller has made sure that the lock is not in the held list and, outside
 * transactions, that it may be elided: elide_tried().
 *
 * Return: enum elide_outcome.
 */
enum elide_outcome elide_acquire(struct elide_thread *t, struct elide_cache *entry,
				 const void *word, const struct elide_rule *rule, const void *site,
				 enum elide_kind kind, bool wait);

/**
 * elide_acquire_counted() - go on with an acquisition that quick.h has begun.
 * @t: the calling thread
 * @mark: of the call
 * @word: lock word
 * @rule: when it is free
 * @site: return address of the call; its acquisition is counted, and one of those that are tried
 * @kind: enum elide_kind
 * @status: of the attempt that has aborted; RTM_STARTED: none has begun, and the first is to be
 *          timed
 *
 * Return: ELIDE_TAKEN or ELIDE_FELL_BACK.
 */
enum elide_outcome elide_acquire_counted(struct elide_thread *t, struct elide_mark *mark,
					 const void *word, const struct elide_rule *rule,
					 const void *site, enum elide_kind kind,
					 unsigned int status);

/**
 * elide_release() - release a lock if it is held by elision.
 * @t: the calling thread, inside a transaction of ours
 * @word: lock word
 *
 * Commits when it was the last one. Aborts if the word has changed since it
 * was subscribed to: then some hidden path took or released it inside this
 * transaction, and a commit would publish that.
 *
 * Return: false if the lock is not in the held list: release it really.
 */
bool elide_release(struct elide_thread *t, const void *word);

/**
 * elide_defer() - inside a transaction of ours: leave something to be done after the commit.
 * @t: the calling thread
 * @entry: cache entry of the call if it is known, else NULL
 * @lock: the lock
 * @site: return address of the call
 * @kind: enum elide_kind
 * @what: enum elide_deferred
 */
void elide_defer(struct elide_thread *t, struct elide_cache *entry, const void *lock,
		 const void *site, enum elide_kind kind, enum elide_deferred what);

/**
 * elide_find_held() - is the lock held by elision?
 * @t: the calling thread, inside a transaction of ours
 *
 * Return: its entry in the held list or NULL.
 */
struct elide_held *elide_find_held(struct elide_thread *t, const void *word);

/**
 * elide_count() - a lock was taken really.
 * @row: counters of the call
 * @outcome: what elide_acquire() had said, ELIDE_SKIPPED or ELIDE_FELL_BACK
 */
static inline void elide_count(struct elide_row *row, enum elide_outcome outcome)
{
	if (likely(outcome == ELIDE_SKIPPED))
		counter_add(row->not_attempted, 1);
	else
		counter_add(row->fallback, 1);
}

/**
 * elide_taken() - a lock was taken really, and it is watched who does so.
 * @t: the calling thread, outside a transaction
 * @row: counters of the call
 * @lock: the lock; only its address is used
 * @wait: the call would have waited for ever
 */
void elide_taken(struct elide_thread *t, const struct elide_row *row, const void *lock, bool wait);

/** elide_untaken() - it is released: the other end of elide_taken(). Any lock will do. */
void elide_untaken(struct elide_thread *t, const void *lock);

/** elide_time_add() - add a measurement of @cycles to a distribution. */
void elide_time_add(struct elide_times *times, unsigned long long cycles);

/** elide_hold_begin() - measure from now how long @lock is held, for @row. */
void elide_hold_begin(struct elide_thread *t, struct elide_row *row, const void *lock);

/** elide_hold_end() - it was released. */
void elide_hold_end(struct elide_thread *t);

/**
 * elide_released() - a lock that was held really is about to be released, or was.
 * @t: the calling thread, outside a transaction
 * @lock: the lock; only its address is used
 * @kind: ELIDE_KIND_RWLOCK_WRITE for any holder of a rwlock
 */
void elide_released(struct elide_thread *t, const void *lock, enum elide_kind kind);

/** elide_hold_cancel() - do not count the measurement under way. */
void elide_hold_cancel(struct elide_thread *t);

/* Period of the acquisitions whose hold time is measured, a power of two, less one. */
extern uint64_t elide_hold_mask;

/* The same of those about which there is more to be done than to count them: all if watched. */
extern uint64_t elide_short_mask;

/**
 * elide_short_more() - that, after a lock was taken on the wrapper's short way and counted.
 * @t: the calling thread
 * @row: counters of the call
 * @lock: the lock; only its address is used
 *
 * Return: 0.
 */
int elide_short_more(struct elide_thread *t, struct elide_row *row, const void *lock);

/**
 * elide_hold_due() - is the next acquisition one whose hold time is measured?
 *
 * Asked before it is counted. By a row's own count, so the first of a row is one.
 */
static inline bool elide_hold_due(const struct elide_row *row)
{
	return unlikely(!((row->not_attempted + row->fallback) & elide_hold_mask));
}

/**
 * elide_lock_new() - a lock was initialised.
 * @lock: address
 * @kind: enum elide_kind, ELIDE_KIND_RWLOCK_READ for a rwlock
 * @site: return address of the call
 * @shared: process-shared: never elided
 */
void elide_lock_new(const void *lock, enum elide_kind kind, const void *site, bool shared);

/** elide_lock_gone() - a lock was destroyed. */
void elide_lock_gone(const void *lock);

/**
 * elide_misuse() - count a misuse and remember where.
 * @type: enum elide_misuse_type
 * @kind: enum elide_kind
 * @site: return address of the call
 * @lock: the lock
 *
 * Not inside a transaction.
 */
void elide_misuse(enum elide_misuse_type type, enum elide_kind kind, const void *site,
		  const void *lock);

#pragma GCC visibility pop

#endif
