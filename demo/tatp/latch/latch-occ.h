/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * latch-occ.h - a read-write lock for many readers and rare writers, who sleep where they wait.
 *
 * Shore-MT's occ_rwlock (Cervini et al., DaMoN 2015, section 3.2): the mutex is locked by writers,
 * and by readers beside a writer only. And the same with a counter that is always under the mutex,
 * "implemented using pthread mutexes" (the same section).
 *
 * A writer first sets LATCH_WRITER, under the mutex, and then waits until the readers have left.
 * Waiting threads sleep on two conditions: on @left until no writer is there, on @drained, only the
 * writer, until no reader is.
 */
#ifndef DEMO_TATP_LATCH_OCC_H
#define DEMO_TATP_LATCH_OCC_H

#include "latch-srw.h"

#include <pthread.h>

/* struct latch_occ - @count: 2 * readers + writer; changed without @mutex by readers of occ */
struct latch_occ {
	uint64_t count;
	pthread_mutex_t mutex;
	pthread_cond_t left;
	pthread_cond_t drained;
};

/* The same latch with another protocol. */
struct latch_occ_mutex {
	struct latch_occ occ;
};

static inline void latch_occ_init(struct latch_occ *l)
{
	l->count = 0;
	pthread_mutex_init(&l->mutex, NULL);
	pthread_cond_init(&l->left, NULL);
	pthread_cond_init(&l->drained, NULL);
}

static inline void latch_occ_destroy(struct latch_occ *l)
{
	pthread_cond_destroy(&l->drained);
	pthread_cond_destroy(&l->left);
	pthread_mutex_destroy(&l->mutex);
}

/* Acquires pair with the releases of latch_occ_add(). */
static inline bool latch_occ_change(struct latch_occ *l, uint64_t from, uint64_t to)
{
	return __atomic_compare_exchange_n(&l->count, &from, to, false, __ATOMIC_ACQUIRE,
					   __ATOMIC_RELAXED);
}

/* Add to the counter; returns the sum. */
static inline uint64_t latch_occ_add(struct latch_occ *l, uint64_t n)
{
	return __atomic_add_fetch(&l->count, n, __ATOMIC_ACQ_REL);
}

/* A reader has left, or has not come in: the writer that waits alone is woken. */
static inline void latch_occ_leave(struct latch_occ *l)
{
	if (likely(latch_occ_add(l, -LATCH_READER) != LATCH_WRITER))
		return;
	/* Under the mutex, or the writer could miss the signal before it sleeps. */
	pthread_mutex_lock(&l->mutex);
	pthread_cond_signal(&l->drained);
	pthread_mutex_unlock(&l->mutex);
}

/* Sleep until no writer is there; the mutex is locked. */
static inline void latch_occ_await(struct latch_occ *l, uint64_t *since)
{
	while (READ_ONCE(l->count) & LATCH_WRITER) {
		latch_wait(since);
		pthread_cond_wait(&l->left, &l->mutex);
	}
}

static inline uint64_t latch_occ_read(struct latch_occ *l)
{
	uint64_t since = 0;

	while (unlikely(latch_occ_add(l, LATCH_READER) & LATCH_WRITER)) {
		latch_wait(&since);
		latch_occ_leave(l);
		pthread_mutex_lock(&l->mutex);
		latch_occ_await(l, &since);
		pthread_mutex_unlock(&l->mutex);
	}
	return latch_waited(since);
}

static inline uint64_t latch_occ_write(struct latch_occ *l)
{
	uint64_t since = 0;

	pthread_mutex_lock(&l->mutex);
	/* One that does not wait, or a reader that becomes a writer, may come between the two. */
	do {
		latch_occ_await(l, &since);
	} while (__atomic_fetch_or(&l->count, LATCH_WRITER, __ATOMIC_ACQUIRE) & LATCH_WRITER);
	/* Acquire: pairs with the release of the last reader in latch_occ_add(). */
	while (__atomic_load_n(&l->count, __ATOMIC_ACQUIRE) != LATCH_WRITER) {
		latch_wait(&since);
		pthread_cond_wait(&l->drained, &l->mutex);
	}
	pthread_mutex_unlock(&l->mutex);
	return latch_waited(since);
}

static inline uint64_t latch_occ_acquire(struct latch_occ *l, enum latch_mode mode,
					 struct latch_hold *h)
{
	return mode == LATCH_READ ? latch_occ_read(l) : latch_occ_write(l);
}

static inline bool latch_occ_try(struct latch_occ *l, enum latch_mode mode, struct latch_hold *h)
{
	uint64_t count = READ_ONCE(l->count);

	if (mode == LATCH_WRITE)
		return !count && latch_occ_change(l, 0, LATCH_WRITER);
	return !(count & LATCH_WRITER) && latch_occ_change(l, count, count + LATCH_READER);
}

/* The writer becomes @what: LATCH_READER or nothing. */
static inline void latch_occ_writer_left(struct latch_occ *l, uint64_t what)
{
	pthread_mutex_lock(&l->mutex);
	latch_occ_add(l, what - LATCH_WRITER);
	pthread_cond_broadcast(&l->left);
	pthread_mutex_unlock(&l->mutex);
}

static inline void latch_occ_release(struct latch_occ *l, struct latch_hold *h)
{
	if (h->mode == LATCH_READ)
		latch_occ_leave(l);
	else
		latch_occ_writer_left(l, 0);
}

static inline bool latch_occ_upgrade(struct latch_occ *l, struct latch_hold *h)
{
	return latch_occ_change(l, LATCH_READER, LATCH_WRITER);
}

static inline bool latch_occ_downgrade(struct latch_occ *l, struct latch_hold *h)
{
	latch_occ_writer_left(l, LATCH_READER);
	return true;
}

static inline uint64_t latch_occ_state(const struct latch_occ *l)
{
	return READ_ONCE(l->count);
}

static inline void latch_occ_mutex_init(struct latch_occ_mutex *l)
{
	latch_occ_init(&l->occ);
}

static inline void latch_occ_mutex_destroy(struct latch_occ_mutex *l)
{
	latch_occ_destroy(&l->occ);
}

/* With the mutex, from @from to @to; false: the counter is another. */
static inline bool latch_occ_mutex_change(struct latch_occ_mutex *l, uint64_t from, uint64_t to)
{
	bool done;

	pthread_mutex_lock(&l->occ.mutex);
	done = l->occ.count == from;
	if (done)
		__atomic_store_n(&l->occ.count, to, __ATOMIC_RELAXED);
	pthread_mutex_unlock(&l->occ.mutex);
	return done;
}

static inline uint64_t latch_occ_mutex_acquire(struct latch_occ_mutex *l, enum latch_mode mode,
					       struct latch_hold *h)
{
	uint64_t since = 0;

	if (mode == LATCH_WRITE)
		return latch_occ_write(&l->occ);
	pthread_mutex_lock(&l->occ.mutex);
	latch_occ_await(&l->occ, &since);
	__atomic_store_n(&l->occ.count, l->occ.count + LATCH_READER, __ATOMIC_RELAXED);
	pthread_mutex_unlock(&l->occ.mutex);
	return latch_waited(since);
}

static inline bool latch_occ_mutex_try(struct latch_occ_mutex *l, enum latch_mode mode,
				       struct latch_hold *h)
{
	bool done;

	if (mode == LATCH_WRITE)
		return latch_occ_mutex_change(l, 0, LATCH_WRITER);
	pthread_mutex_lock(&l->occ.mutex);
	done = !(l->occ.count & LATCH_WRITER);
	if (done)
		__atomic_store_n(&l->occ.count, l->occ.count + LATCH_READER, __ATOMIC_RELAXED);
	pthread_mutex_unlock(&l->occ.mutex);
	return done;
}

static inline void latch_occ_mutex_release(struct latch_occ_mutex *l, struct latch_hold *h)
{
	if (h->mode == LATCH_WRITE) {
		latch_occ_writer_left(&l->occ, 0);
		return;
	}
	pthread_mutex_lock(&l->occ.mutex);
	__atomic_store_n(&l->occ.count, l->occ.count - LATCH_READER, __ATOMIC_RELAXED);
	if (l->occ.count == LATCH_WRITER)
		pthread_cond_signal(&l->occ.drained);
	pthread_mutex_unlock(&l->occ.mutex);
}

static inline bool latch_occ_mutex_upgrade(struct latch_occ_mutex *l, struct latch_hold *h)
{
	return latch_occ_mutex_change(l, LATCH_READER, LATCH_WRITER);
}

static inline bool latch_occ_mutex_downgrade(struct latch_occ_mutex *l, struct latch_hold *h)
{
	return latch_occ_downgrade(&l->occ, h);
}

static inline uint64_t latch_occ_mutex_state(const struct latch_occ_mutex *l)
{
	return latch_occ_state(&l->occ);
}

#endif
