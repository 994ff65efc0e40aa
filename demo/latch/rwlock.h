/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * rwlock.h - a pthread read-write lock.
 *
 * A preloaded library sees its calls. Initialisation returns 0 or an errno value.
 */
#ifndef DEMO_LATCH_RWLOCK_H
#define DEMO_LATCH_RWLOCK_H

#include "latch.h"

#include <pthread.h>

/* struct rwlock_latch - a pthread read-write lock */
struct rwlock_latch {
	pthread_rwlock_t lock;
};

static inline int rwlock_init(struct rwlock_latch *latch)
{
	return pthread_rwlock_init(&latch->lock, NULL);
}

static inline void rwlock_destroy(struct rwlock_latch *latch)
{
	pthread_rwlock_destroy(&latch->lock);
}

static inline void rwlock_read(struct rwlock_latch *latch)
{
	pthread_rwlock_rdlock(&latch->lock);
}

static inline void rwlock_write(struct rwlock_latch *latch)
{
	pthread_rwlock_wrlock(&latch->lock);
}

static inline void rwlock_read_release(struct rwlock_latch *latch)
{
	pthread_rwlock_unlock(&latch->lock);
}

static inline void rwlock_write_release(struct rwlock_latch *latch)
{
	pthread_rwlock_unlock(&latch->lock);
}

LATCH_SHARED(rwlock)

#endif
