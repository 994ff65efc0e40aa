/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * latch-mcs.h - a queue of threads, each of which spins on a node of its own.
 *
 * Mellor-Crummey and Scott, ACM TOCS 9(1), 1991, figure 5; Shore-MT's mcs_lock, "for short,
 * contended critical sections" (Cervini et al., DaMoN 2015, section 3.2).
 */
#ifndef DEMO_TATP_LATCH_MCS_H
#define DEMO_TATP_LATCH_MCS_H

#include "latch-base.h"

/* struct latch_mcs - @tail: the thread that came last; NULL: free */
struct latch_mcs {
	struct latch_node *tail;
};

static inline void latch_mcs_init(struct latch_mcs *l)
{
	l->tail = NULL;
}

static inline void latch_mcs_destroy(struct latch_mcs *l)
{
}

/* Acquire the latch if nobody holds it. */
static inline bool latch_mcs_try(struct latch_mcs *l, enum latch_mode mode, struct latch_hold *h)
{
	struct latch_node *free = NULL;

	if (READ_ONCE(l->tail))
		return false;
	h->node.next = NULL;
	/* Acquire: pairs with the release in latch_mcs_release(); release: @node is complete. */
	return __atomic_compare_exchange_n(&l->tail, &free, &h->node, false, __ATOMIC_ACQ_REL,
					   __ATOMIC_RELAXED);
}

static inline uint64_t latch_mcs_acquire(struct latch_mcs *l, enum latch_mode mode,
					 struct latch_hold *h)
{
	struct latch_node *before;
	uint64_t since = 0;
	unsigned int n = 0;

	h->node.next = NULL;
	h->node.waiting = true;
	/* Acquire and release as in latch_mcs_try(). */
	before = __atomic_exchange_n(&l->tail, &h->node, __ATOMIC_ACQ_REL);
	if (likely(!before))
		return 0;
	latch_wait(&since);
	__atomic_store_n(&before->next, &h->node, __ATOMIC_RELEASE);
	/* Acquire: pairs with the release in latch_mcs_release(). */
	while (__atomic_load_n(&h->node.waiting, __ATOMIC_ACQUIRE))
		latch_pause(&n);
	return latch_waited(since);
}

static inline void latch_mcs_release(struct latch_mcs *l, struct latch_hold *h)
{
	struct latch_node *next = __atomic_load_n(&h->node.next, __ATOMIC_ACQUIRE);
	struct latch_node *self = &h->node;
	unsigned int n = 0;

	if (likely(!next)) {
		if (likely(__atomic_compare_exchange_n(&l->tail, &self, NULL, false,
						       __ATOMIC_RELEASE, __ATOMIC_RELAXED)))
			return;
		/* A thread has come that has not linked its node yet. */
		while (!(next = __atomic_load_n(&h->node.next, __ATOMIC_ACQUIRE)))
			latch_pause(&n);
	}
	__atomic_store_n(&next->waiting, false, __ATOMIC_RELEASE);
}

static inline uint64_t latch_mcs_state(const struct latch_mcs *l)
{
	return READ_ONCE(l->tail) != NULL;
}

LATCH_EXCLUSIVE_KIND(mcs)

#endif
