/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * latch-tatas.h - a test-and-test-and-set spin lock whose word names its holder.
 *
 * Shore-MT's tatas_lock, "for lightly contended critical sections" (Cervini et al., DaMoN 2015,
 * section 3.2); Rudolph and Segall, ISCA 1984.
 */
#ifndef DEMO_TATP_LATCH_TATAS_H
#define DEMO_TATP_LATCH_TATAS_H

#include "latch-base.h"

/* struct latch_tatas - @holder: address of the holder's counters; 0: free */
struct latch_tatas {
	uint64_t holder;
};

static inline void latch_tatas_init(struct latch_tatas *l)
{
	l->holder = 0;
}

static inline void latch_tatas_destroy(struct latch_tatas *l)
{
}

static inline bool latch_tatas_try(struct latch_tatas *l, enum latch_mode mode,
				   struct latch_hold *h)
{
	uint64_t free = 0;

	/* Acquire: pairs with the release in latch_tatas_release(). */
	return !READ_ONCE(l->holder) &&
	       __atomic_compare_exchange_n(&l->holder, &free, (uintptr_t)latch_thread, false,
					   __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
}

static inline uint64_t latch_tatas_acquire(struct latch_tatas *l, enum latch_mode mode,
					   struct latch_hold *h)
{
	uint64_t since = 0;
	unsigned int n = 0;

	while (unlikely(!latch_tatas_try(l, mode, h))) {
		latch_wait(&since);
		latch_pause(&n);
	}
	return latch_waited(since);
}

static inline void latch_tatas_release(struct latch_tatas *l, struct latch_hold *h)
{
	__atomic_store_n(&l->holder, 0, __ATOMIC_RELEASE);
}

static inline uint64_t latch_tatas_state(const struct latch_tatas *l)
{
	return READ_ONCE(l->holder) != 0;
}

LATCH_EXCLUSIVE_KIND(tatas)

#endif
