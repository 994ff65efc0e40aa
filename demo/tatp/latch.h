/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * latch.h - the latches of the storage manager, over locks of pthreads.
 *
 * Each use of a latch is a role. The roles whose users share read access have a
 * pthread_rwlock_t, all others a pthread_mutex_t.
 */
#ifndef DEMO_TATP_LATCH_H
#define DEMO_TATP_LATCH_H

#include "../base/base.h"

#include <pthread.h>
#include <stdbool.h>

/* X(role, shared): @shared is true if readers share the latch. */
#define LATCH_ROLES(X)                                                                             \
	X(page, true)                                                                              \
	X(lock_buckets, false)                                                                     \
	X(lock_heads, false)                                                                       \
	X(xct_locks, false)                                                                        \
	X(buffer_buckets, false)                                                                   \
	X(log_insert, false)                                                                       \
	X(log_flush, false)                                                                        \
	X(log_consolidate, false)                                                                  \
	X(clock_hand, false)                                                                       \
	X(histogram, true)                                                                         \
	X(checkpoint_gate, true)                                                                   \
	X(tree, false)

enum latch_role {
#define X(role, shared) ROLE_##role,
	LATCH_ROLES(X)
#undef X
	NR_ROLES
};

enum latch_mode { LATCH_READ, LATCH_WRITE };

/**
 * struct latch - a latch
 * @role: what the latch is for
 * @held: 0, or a number other than 0 while the latch is held
 */
struct latch {
	union {
		pthread_mutex_t mutex;
		pthread_rwlock_t rwlock;
	};
	uint32_t role;
	uint32_t held;
} __cacheline_aligned;

/* struct latch_hold - the holder's record of a held latch */
struct latch_hold {
	enum latch_mode mode;
};

/* struct latch_count - what the latches of a role counted */
struct latch_count {
	uint64_t acquired;
	uint64_t contended;
};

/* Counts of all threads; they are exact if one thread runs. */
extern struct latch_count latch_counted[NR_ROLES];

static __inline_always bool latch_is_shared(const struct latch *l)
{
	static const bool shared[NR_ROLES] = {
#define X(role, shared) shared,
		LATCH_ROLES(X)
#undef X
	};

	return shared[l->role];
}

static __inline_always bool latch_is_none(enum latch_role role)
{
	return role == ROLE_tree;
}

static inline void latch_init(struct latch *l, enum latch_role role)
{
	l->role = role;
	l->held = 0;
	if (latch_is_shared(l))
		pthread_rwlock_init(&l->rwlock, NULL);
	else
		pthread_mutex_init(&l->mutex, NULL);
}

static inline void latch_destroy(struct latch *l)
{
	if (latch_is_shared(l))
		pthread_rwlock_destroy(&l->rwlock);
	else
		pthread_mutex_destroy(&l->mutex);
}

static __inline_always void latch_note(struct latch *l, enum latch_mode mode, struct latch_hold *h)
{
	uint64_t *n = &latch_counted[l->role].acquired;

	h->mode = mode;
	__atomic_store_n(n, __atomic_load_n(n, __ATOMIC_RELAXED) + 1, __ATOMIC_RELAXED);
	__atomic_fetch_add(&l->held, 1, __ATOMIC_RELAXED);
}

static __inline_always void latch_acquire(struct latch *l, enum latch_mode mode,
					  struct latch_hold *h)
{
	if (latch_is_none(l->role))
		return;
	if (!latch_is_shared(l))
		pthread_mutex_lock(&l->mutex);
	else if (mode == LATCH_READ)
		pthread_rwlock_rdlock(&l->rwlock);
	else
		pthread_rwlock_wrlock(&l->rwlock);
	latch_note(l, mode, h);
}

static __inline_always bool latch_try(struct latch *l, enum latch_mode mode, struct latch_hold *h)
{
	int err;

	if (latch_is_none(l->role))
		return true;
	if (!latch_is_shared(l))
		err = pthread_mutex_trylock(&l->mutex);
	else if (mode == LATCH_READ)
		err = pthread_rwlock_tryrdlock(&l->rwlock);
	else
		err = pthread_rwlock_trywrlock(&l->rwlock);
	if (!err)
		latch_note(l, mode, h);
	return !err;
}

static __inline_always void latch_release(struct latch *l, struct latch_hold *h)
{
	if (latch_is_none(l->role))
		return;
	__atomic_fetch_sub(&l->held, 1, __ATOMIC_RELAXED);
	if (latch_is_shared(l))
		pthread_rwlock_unlock(&l->rwlock);
	else
		pthread_mutex_unlock(&l->mutex);
}

static inline bool latch_held(const struct latch *l)
{
	return __atomic_load_n(&l->held, __ATOMIC_RELAXED);
}

static inline struct latch_count latch_counts(enum latch_role role)
{
	return latch_counted[role];
}

static inline const char *latch_role_name(enum latch_role role)
{
	static const char *const names[NR_ROLES] = {
#define X(role, shared) #role,
		LATCH_ROLES(X)
#undef X
	};

	return names[role];
}

#endif
