/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * word.h - the wrappers of a lock with one holder: its usual calls inline, all others in word.c.
 *
 * A lock that is ADAPTER_WORD is locked and released here while nobody waits for it. The library's functions
 * do everything else, as they alone know how a thread that waits is woken.
 */
#ifndef ELIDE_ADAPTERS_WORD_H
#define ELIDE_ADAPTERS_WORD_H

#include <stdbool.h>
#include <string.h>

#include "../count.h"
#include "../wrap.h"
#include "adapters.h"
#include "section/fast-path.h"

#pragma GCC visibility push(hidden)

#define WORD_IS_FREE {.mask = ~0u, .free = 0, .size = 4}

/* The kind of all locks of other libraries. */
#define WORD_KIND ELIDE_KIND_LIBRARY

/**
 * struct word_lock - a type of lock.
 * @type: its type
 * @lock, @trylock, @unlock: where its real functions are. @trylock returns 0 if the lock is held; NULL: the
 *                           library has none, and the type is never ADAPTER_COUNTED
 */
struct word_lock {
	enum adapter_type type;
	void (**lock)(void *m);
	int (**trylock)(void *m);
	void (**unlock)(void *m);
};

/* Every case. @l: the type; @m: the lock; @site: return address of the call; @t: elide_self_fast */
void word_lock_any(const struct word_lock *l, void *m, const void *site);
void word_lock_unknown(const struct word_lock *l, void *m, const void *site);
void word_lock_nested(const struct word_lock *l, void *m, const void *site);
void word_lock_retry(const struct word_lock *l, struct elide_call *call, void *m, unsigned int status);
void word_lock_waiting(const struct word_lock *l, struct elide_thread *t, struct elide_row *row, void *m,
		       enum elide_outcome outcome);
int word_trylock_any(const struct word_lock *l, void *m, const void *site);
int word_trylock_retry(struct elide_call *call, void *m, unsigned int status);
void word_unlock_any(const struct word_lock *l, void *m, const void *site);
void word_unlock_waking(const struct word_lock *l, void *m, const void *site);

/** word_init() - after a lock was initialised by the call at @site. @stack: of elide_lock_new_from() */
void word_init(enum adapter_type type, const void *m, const void *site, const void *stack);

/** word_destroy_begin(), word_destroy_end() - before and after a lock is destroyed. */
void word_destroy_begin(enum adapter_type type, const void *m);
void word_destroy_end(enum adapter_type type, const void *m);

/** word_release_begin() - before a lock that was locked is released. Return: for elide_release_count(). */
static inline unsigned long long word_release_begin(struct elide_thread *t, const void *m)
{
	unsigned long long end = elide_hold_over(t, m);

	if (unlikely(t->watched))
		elide_locked_end(t, m);
	return end;
}

/** struct word_probe - a lock of ours, to try functions with, and bytes behind it. */
struct word_probe {
	uint32_t words[8];
};

/** word_probe_has() - is the first word @word, and all others 0? */
static inline bool word_probe_has(const struct word_probe *p, uint32_t word)
{
	static const struct word_probe zeroes;

	return p->words[0] == word && !memcmp(&p->words[1], &zeroes.words[1], sizeof(zeroes) - sizeof(word));
}

/** word_takes() - lock a free lock. False: it is held. */
static __always_inline_fn bool word_takes(void *m)
{
	uint32_t expected = 0;

	/* Acquire pairs with the release in word_releases() and the library's. */
	return __atomic_compare_exchange_n((uint32_t *)m, &expected, 1, false, __ATOMIC_ACQUIRE,
					   __ATOMIC_RELAXED);
}

/** word_releases() - release a lock for which nobody waits. False: the real function has to. */
static __always_inline_fn bool word_releases(void *m)
{
	uint32_t expected = 1;

	return __atomic_compare_exchange_n((uint32_t *)m, &expected, 0, false, __ATOMIC_RELEASE,
					   __ATOMIC_RELAXED);
}

static __always_inline_fn bool word_is(const struct word_lock *l)
{
	return likely(READ_ONCE(adapter_hows[l->type]) == ADAPTER_WORD);
}

static __always_inline_fn void word_lock_known(const struct word_lock *l, struct elide_thread *t,
					       struct elide_fast q, void *m, const void *site)
{
	unsigned int status;
	enum elide_outcome outcome = elide_fast_acquire(t, q, m, (struct elide_rule)WORD_IS_FREE, &status);

	if (likely(outcome == ELIDE_ELIDED))
		return;
	if (unlikely(outcome == ELIDE_FELL_BACK))
		return word_lock_retry(l, q.call, m, status);
	if (unlikely(outcome == ELIDE_NOTHING_DONE))
		return word_lock_any(l, m, site);
	q.call->lock = m;
	if (unlikely(!word_takes(m)))
		return word_lock_waiting(l, t, q.row, m, ELIDE_SKIPPED);
	count_short(t, q.row, m);
}

/* The wrapper of the function that locks. */
static __always_inline_fn void word_lock(const struct word_lock *l, void *m, const void *site)
{
	struct elide_thread *t = elide_self_fast;
	struct elide_fast q;

	if (unlikely(t->open))
		return word_lock_nested(l, m, site);
	q = elide_fast(t, m, site, WORD_KIND);
	if (unlikely(!q.known || !word_is(l)))
		return word_lock_unknown(l, m, site);
	word_lock_known(l, t, q, m, site);
}

/* The wrapper of the function that tries to lock. Return: 1: it is locked; 0: it is held. */
static __always_inline_fn int word_trylock(const struct word_lock *l, void *m, const void *site)
{
	struct elide_thread *t = elide_self_fast;
	struct elide_fast q = elide_fast(t, m, site, WORD_KIND);
	enum elide_outcome outcome;
	unsigned int status;

	if (unlikely(!q.known || !word_is(l)))
		return word_trylock_any(l, m, site);
	if (READ_ONCE(*(uint32_t *)m))
		return count_failed(q.row, 0);
	outcome = elide_fast_acquire(t, q, m, (struct elide_rule)WORD_IS_FREE, &status);
	if (likely(outcome == ELIDE_ELIDED))
		return 1;
	if (unlikely(outcome == ELIDE_FELL_BACK))
		return word_trylock_retry(q.call, m, status);
	if (unlikely(outcome == ELIDE_NOTHING_DONE))
		return word_trylock_any(l, m, site);
	if (unlikely(!word_takes(m))) {
		elide_not_acquired(q.call);
		return count_failed(q.row, 0);
	}
	q.call->lock = m;
	count_short(t, q.row, m);
	return 1;
}

/* The wrapper of the function that releases. */
static __always_inline_fn void word_unlock(const struct word_lock *l, void *m, const void *site)
{
	struct elide_thread *t = elide_self_fast;

	if (elide_fast_release(t, m, 4))
		return;
	if (unlikely(t->open)) {
		if (!elide_fast_release_nested(t, m, 4))
			word_unlock_any(l, m, site);
		return;
	}
	if (unlikely(!word_is(l) || t->short_tid == ELIDE_NO_TID))
		return word_unlock_any(l, m, site);
	if (unlikely(!word_releases(m)))
		word_unlock_waking(l, m, site);
}

#pragma GCC visibility pop

#endif
