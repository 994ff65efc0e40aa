/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * call.h - finds the struct elide_call of a lock call.
 *
 * The call is guessed by the site, or, at a site with locks of several classes, by site and lock. The guess
 * is right if the call has that site and kind, and the tag of the lock's word. So the counters' address
 * depends on nothing but the addresses of site and lock; what is loaded for the lock is only compared, and
 * a processor that predicts the branch does not wait for it.
 *
 * Functions that only read are allowed inside transactions.
 */
#ifndef ELIDE_CALL_H
#define ELIDE_CALL_H

#include "modules.h"
#include "settings.h"
#include "thread.h"

#pragma GCC visibility push(hidden)

/* Low bits of a key that hold the kind; its fourth bit, which the locks of libc do not need, is bit 63. */
#define ELIDE_KEY_KIND 7

_Static_assert(ELIDE_NR_KINDS <= 2 * (ELIDE_KEY_KIND + 1), "one bit more is used");

/* Site and kind as one number. */
static inline uint64_t elide_call_key(const void *site, enum elide_kind kind)
{
	return (uintptr_t)site * (ELIDE_KEY_KIND + 1) | (kind & ELIDE_KEY_KIND) |
	       (uint64_t)(kind / (ELIDE_KEY_KIND + 1)) << 63;
}

static inline const void *elide_key_site(uint64_t key)
{
	return (const void *)((key & ~(1ull << 63)) / (ELIDE_KEY_KIND + 1));
}

static inline enum elide_kind elide_key_kind(uint64_t key)
{
	return (key & ELIDE_KEY_KIND) + (key >> 63) * (ELIDE_KEY_KIND + 1);
}

/* Index of the guess by site. The low bits of a return address are as good a hash as any. */
static __always_inline_fn uint32_t elide_guess(const void *site)
{
	return (uintptr_t)site % ELIDE_NR_GUESSES;
}

/* The guess by site and lock. */
static __always_inline_fn uint16_t *elide_second_guess(struct elide_thread *t, const void *lock,
						       uint64_t key)
{
	uint64_t hash = ((uintptr_t)lock + key) * ELIDE_HASH_FACTOR;

	return &t->second_guesses[hash >> ELIDE_HASH_SHIFT & (ELIDE_NR_SECOND_GUESSES - 1)];
}

/* The guess by site and tag. */
static __always_inline_fn uint16_t *elide_tag_guess(struct elide_thread *t, uint32_t tag, uint64_t key)
{
	uint64_t hash = (key + tag * 2654435761ull) * ELIDE_HASH_FACTOR;

	return &t->tag_guesses[hash >> ELIDE_HASH_SHIFT & (ELIDE_NR_TAG_GUESSES - 1)];
}

/* The call of a guess; one without a key if there is none. */
static __always_inline_fn struct elide_call *elide_guess_call(struct elide_thread *t, uint16_t guess)
{
	return (struct elide_call *)((char *)t + guess);
}

/* The call guessed by site. */
static __always_inline_fn struct elide_call *elide_guessed(struct elide_thread *t, const void *site)
{
	const char *guesses = (const char *)t + elide_guess(site) * sizeof(t->guesses[0]);

	/* Written so that the compiler uses one addressing mode. */
	guesses += offsetof(struct elide_thread, guesses);
	return elide_guess_call(t, READ_ONCE(*(const uint16_t *)guesses));
}

/** elide_call_at() - a call of a thread by its number, from 1 to elide_thread.nr_calls. */
static inline struct elide_call *elide_call_at(struct elide_thread *t, uint32_t nr)
{
	struct elide_more *more;

	if (nr < ELIDE_FIRST_CALLS)
		return &t->calls[nr];
	more = READ_ONCE(t->more);
	return likely(more) ? &more->calls[nr - ELIDE_FIRST_CALLS] : &elide_no_call;
}

/** elide_call_tag() - the tag of the locks of a call. */
static inline uint32_t elide_call_tag(const struct elide_call *call)
{
	return elide_word_tag(call->mark);
}

/**
 * elide_call_find() - the call of (lock, site, kind) if the thread has it, and the lock is registered.
 *
 * Return: the call or NULL. Reads only: allowed inside a transaction.
 */
struct elide_call *elide_call_find(struct elide_thread *t, const void *lock, const void *site,
				   enum elide_kind kind);

/**
 * elide_call_look() - elide_call_find() that registers the lock if its class is known.
 * @t: the calling thread, outside transactions
 *
 * Does so without the engine's lock, on which a process with thousands of locks would serialise.
 *
 * Return: the call; NULL: something is to be made in a global-lock path.
 */
struct elide_call *elide_call_look(struct elide_thread *t, const void *lock, const void *site,
				   enum elide_kind kind);

/** elide_call_of_row() - elide_call_find() by a lock and a row. */
static inline struct elide_call *elide_call_of_row(struct elide_thread *t, const void *lock,
						   const struct elide_row *row)
{
	return elide_call_find(t, lock, elide_at_run_time(row->site), row->kind);
}

/**
 * elide_call_known() - search the calls of a thread.
 * @t: the calling thread
 * @tag: of the lock
 * @recorded: the site as it is recorded
 *
 * Return: the call or NULL.
 */
struct elide_call *elide_call_known(struct elide_thread *t, uint32_t tag, uint64_t recorded,
				    enum elide_kind kind);

/**
 * elide_call_add() - a new call of the thread, all zeroes, not yet counted in nr_calls.
 *
 * Outside transactions, with signals blocked. Return: NULL if there is no room.
 */
struct elide_call *elide_call_add(struct elide_thread *t);

/** elide_call_publish() - the call from elide_call_add() is whole: it is found from now on. */
void elide_call_publish(struct elide_thread *t, struct elide_call *call);

/** elide_call_guess() - guess that call for the lock the next time. */
void elide_call_guess(struct elide_thread *t, struct elide_call *call, const void *lock);

/** elide_more() - the further part of the thread's block, made if need be. NULL: no memory. */
struct elide_more *elide_more(struct elide_thread *t);

/**
 * elide_calls_forget() - an object was unloaded: no call at its addresses is found any more.
 * @start, @end: its addresses
 *
 * Lock-free, async-signal-safe.
 */
void elide_calls_forget(uintptr_t start, uintptr_t end);

/**
 * elide_window() - the thread's judgement of a lock at a call: policy hpca.
 *
 * Return: without memory, a dummy.
 */
struct policy_window *elide_window(struct elide_thread *t, const void *lock,
				   const struct elide_call *call);

#pragma GCC visibility pop

#endif
