/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * mutex.h - a pthread mutex.
 *
 * A preloaded library sees its calls. Initialisation returns 0 or an errno value.
 */
#ifndef DEMO_LATCH_MUTEX_H
#define DEMO_LATCH_MUTEX_H

#include "latch.h"

#include <pthread.h>

/* struct mutex_latch - a pthread mutex */
struct mutex_latch {
	pthread_mutex_t lock;
};

static inline int mutex_init(struct mutex_latch *latch)
{
	return pthread_mutex_init(&latch->lock, NULL);
}

static inline void mutex_destroy(struct mutex_latch *latch)
{
	pthread_mutex_destroy(&latch->lock);
}

static inline void mutex_acquire(struct mutex_latch *latch)
{
	pthread_mutex_lock(&latch->lock);
}

static inline void mutex_release(struct mutex_latch *latch)
{
	pthread_mutex_unlock(&latch->lock);
}

LATCH_EXCLUSIVE(mutex)

#endif
