/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * latch-pthread.h - pthread's locks as latches, which a preloaded library elides.
 *
 * A pthread read-write lock cannot be upgraded or downgraded without a moment in which nobody
 * holds it: an upgrade always fails, and a downgrade leaves the writer a writer. Nor does it say
 * who holds it: the state is found out by trying to lock it.
 */
#ifndef DEMO_TATP_LATCH_PTHREAD_H
#define DEMO_TATP_LATCH_PTHREAD_H

#include "../../latch/mutex.h"
#include "../../latch/rwlock.h"
#include "../../latch/spin.h"
#include "latch-srw.h"

struct latch_pthread_mutex {
	struct mutex_latch latch;
};

struct latch_pthread_spin {
	struct spin_latch latch;
};

struct latch_pthread_rwlock {
	struct rwlock_latch latch;
};

/* The kind NAME, which is exclusive, of FAMILY of demo/latch, whose trylock is TRY. */
#define LATCH_PTHREAD_EXCLUSIVE(id, family, try)                                                   \
	static inline void latch_##id##_init(struct latch_##id *l)                                 \
	{                                                                                          \
		family##_init(&l->latch);                                                          \
	}                                                                                          \
	static inline void latch_##id##_destroy(struct latch_##id *l)                              \
	{                                                                                          \
		family##_destroy(&l->latch);                                                       \
	}                                                                                          \
	static __inline_always bool latch_##id##_try(struct latch_##id *l, enum latch_mode mode,   \
						     struct latch_hold *h)                         \
	{                                                                                          \
		return !try(&l->latch.lock);                                                       \
	}                                                                                          \
	static __inline_always uint64_t latch_##id##_acquire(struct latch_##id *l,                 \
							     enum latch_mode mode,                 \
							     struct latch_hold *h)                 \
	{                                                                                          \
		family##_acquire(&l->latch);                                                       \
		return 0;                                                                          \
	}                                                                                          \
	static __inline_always void latch_##id##_release(struct latch_##id *l,                     \
							 struct latch_hold *h)                     \
	{                                                                                          \
		family##_release(&l->latch);                                                       \
	}                                                                                          \
	static inline uint64_t latch_##id##_state(const struct latch_##id *l)                      \
	{                                                                                          \
		struct latch_##id *lock = (struct latch_##id *)(uintptr_t)l;                       \
											   \
		if (try(&lock->latch.lock))                                                        \
			return LATCH_WRITER;                                                       \
		family##_release(&lock->latch);                                                    \
		return 0;                                                                          \
	}                                                                                          \
	LATCH_EXCLUSIVE_KIND(id)

LATCH_PTHREAD_EXCLUSIVE(pthread_mutex, mutex, pthread_mutex_trylock)
LATCH_PTHREAD_EXCLUSIVE(pthread_spin, spin, pthread_spin_trylock)

static inline void latch_pthread_rwlock_init(struct latch_pthread_rwlock *l)
{
	rwlock_init(&l->latch);
}

static inline void latch_pthread_rwlock_destroy(struct latch_pthread_rwlock *l)
{
	rwlock_destroy(&l->latch);
}

static __inline_always bool latch_pthread_rwlock_try(struct latch_pthread_rwlock *l,
						     enum latch_mode mode, struct latch_hold *h)
{
	return mode == LATCH_READ ? !pthread_rwlock_tryrdlock(&l->latch.lock) :
				    !pthread_rwlock_trywrlock(&l->latch.lock);
}

static __inline_always uint64_t latch_pthread_rwlock_acquire(struct latch_pthread_rwlock *l,
							     enum latch_mode mode,
							     struct latch_hold *h)
{
	if (mode == LATCH_READ)
		rwlock_read(&l->latch);
	else
		rwlock_write(&l->latch);
	return 0;
}

static __inline_always void latch_pthread_rwlock_release(struct latch_pthread_rwlock *l,
							 struct latch_hold *h)
{
	rwlock_read_release(&l->latch);
}

static inline bool latch_pthread_rwlock_upgrade(struct latch_pthread_rwlock *l,
						struct latch_hold *h)
{
	return false;
}

static inline bool latch_pthread_rwlock_downgrade(struct latch_pthread_rwlock *l,
						  struct latch_hold *h)
{
	return false;
}

/* With readers, how many of them is not known: one. */
static inline uint64_t latch_pthread_rwlock_state(const struct latch_pthread_rwlock *l)
{
	struct rwlock_latch *latch = (struct rwlock_latch *)(uintptr_t)&l->latch;
	uint64_t state = 0;

	if (pthread_rwlock_trywrlock(&latch->lock)) {
		if (pthread_rwlock_tryrdlock(&latch->lock))
			return LATCH_WRITER;
		state = LATCH_READER;
	}
	rwlock_write_release(latch);
	return state;
}

/* occ in the place of which there is such a lock: the same by another name. */
struct latch_occ_pthread {
	struct latch_pthread_rwlock same;
};

#define LATCH_SAME(type, id, other, operation, parameters, ...)                                    \
	static __inline_always type latch_##id##_##operation parameters                            \
	{                                                                                          \
		return latch_##other##_##operation(__VA_ARGS__);                                   \
	}

#define LATCH_SAME_KIND(id, other)                                                                 \
	LATCH_SAME(void, id, other, init, (struct latch_##id * l), &l->same)                       \
	LATCH_SAME(void, id, other, destroy, (struct latch_##id * l), &l->same)                    \
	LATCH_SAME(uint64_t, id, other, state, (const struct latch_##id *l), &l->same)             \
	LATCH_SAME(uint64_t, id, other, acquire,                                                   \
		   (struct latch_##id * l, enum latch_mode mode, struct latch_hold *h), &l->same,  \
		   mode, h)                                                                        \
	LATCH_SAME(bool, id, other, try,                                                           \
		   (struct latch_##id * l, enum latch_mode mode, struct latch_hold *h), &l->same,  \
		   mode, h)                                                                        \
	LATCH_SAME(void, id, other, release, (struct latch_##id * l, struct latch_hold *h),        \
		   &l->same, h)                                                                    \
	LATCH_SAME(bool, id, other, upgrade, (struct latch_##id * l, struct latch_hold *h),        \
		   &l->same, h)                                                                    \
	LATCH_SAME(bool, id, other, downgrade, (struct latch_##id * l, struct latch_hold *h),      \
		   &l->same, h)

LATCH_SAME_KIND(occ_pthread, pthread_rwlock)

#endif
