/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * latch-srw.h - a spinning read-write lock; threads that wait queue in an mcs latch.
 *
 * Shore-MT's srwlock, for pages (Cervini et al., DaMoN 2015, section 3.2). A writer that waits
 * keeps further readers out.
 *
 *	holders		WRITER		who changes it
 *	0		0		free
 *	2 * readers	0		readers by CAS; the head of the queue by addition
 *	2 * readers + 1	1		a writer waits for these readers; only they change it, by
 *					leaving
 *	1		1		a writer holds it, and alone changes it
 */
#ifndef DEMO_TATP_LATCH_SRW_H
#define DEMO_TATP_LATCH_SRW_H

#include "latch-mcs.h"

/* The state of a shared latch: readers in units of LATCH_READER, plus LATCH_WRITER. */
#define LATCH_WRITER 1ull
#define LATCH_READER 2ull

/* struct latch_srw - @holders: see above; @queue: who waits, and who changes @holders next */
struct latch_srw {
	uint64_t holders;
	struct latch_mcs queue;
};

static inline void latch_srw_init(struct latch_srw *l)
{
	l->holders = 0;
	latch_mcs_init(&l->queue);
}

static inline void latch_srw_destroy(struct latch_srw *l)
{
}

/* Acquires pair with the releases in latch_srw_release() and latch_srw_downgrade(). */
static inline bool latch_srw_change(struct latch_srw *l, uint64_t from, uint64_t to)
{
	return __atomic_compare_exchange_n(&l->holders, &from, to, false, __ATOMIC_ACQUIRE,
					   __ATOMIC_RELAXED);
}

/* From @from, no holder or one reader, who is the caller, to a writer, unless threads wait. */
static inline bool latch_srw_try_write(struct latch_srw *l, uint64_t from, struct latch_hold *h)
{
	bool done;

	if (READ_ONCE(l->holders) != from || !latch_mcs_try(&l->queue, LATCH_WRITE, h))
		return false;
	done = latch_srw_change(l, from, LATCH_WRITER);
	latch_mcs_release(&l->queue, h);
	return done;
}

static inline bool latch_srw_try(struct latch_srw *l, enum latch_mode mode, struct latch_hold *h)
{
	uint64_t holders = READ_ONCE(l->holders);

	if (mode == LATCH_WRITE)
		return latch_srw_try_write(l, 0, h);
	return !(holders & LATCH_WRITER) && latch_srw_change(l, holders, holders + LATCH_READER);
}

/* The thread is at the head of the queue: no other one can become a writer. */
static inline uint64_t latch_srw_await(struct latch_srw *l, uint64_t mask)
{
	uint64_t since = 0;
	unsigned int n = 0;

	/* Acquire: as in latch_srw_change(). */
	while (unlikely(__atomic_load_n(&l->holders, __ATOMIC_ACQUIRE) & mask)) {
		latch_wait(&since);
		latch_pause(&n);
	}
	return latch_waited(since);
}

static inline uint64_t latch_srw_acquire(struct latch_srw *l, enum latch_mode mode,
					 struct latch_hold *h)
{
	uint64_t waited;

	if (mode == LATCH_READ && likely(latch_srw_try(l, LATCH_READ, h)))
		return 0;
	waited = latch_mcs_acquire(&l->queue, LATCH_WRITE, h);
	waited += latch_srw_await(l, LATCH_WRITER);
	__atomic_fetch_add(&l->holders, mode == LATCH_READ ? LATCH_READER : LATCH_WRITER,
			   __ATOMIC_ACQUIRE);
	if (mode == LATCH_WRITE)
		waited += latch_srw_await(l, ~LATCH_WRITER);
	latch_mcs_release(&l->queue, h);
	return waited;
}

static inline void latch_srw_release(struct latch_srw *l, struct latch_hold *h)
{
	if (h->mode == LATCH_READ)
		__atomic_fetch_sub(&l->holders, LATCH_READER, __ATOMIC_RELEASE);
	else
		__atomic_store_n(&l->holders, 0, __ATOMIC_RELEASE);
}

static inline bool latch_srw_upgrade(struct latch_srw *l, struct latch_hold *h)
{
	return latch_srw_try_write(l, LATCH_READER, h);
}

static inline bool latch_srw_downgrade(struct latch_srw *l, struct latch_hold *h)
{
	__atomic_store_n(&l->holders, LATCH_READER, __ATOMIC_RELEASE);
	return true;
}

static inline uint64_t latch_srw_state(const struct latch_srw *l)
{
	return READ_ONCE(l->holders);
}

#endif
