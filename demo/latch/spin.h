/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * spin.h - a pthread spin lock.
 *
 * A preloaded library sees its calls. Initialisation returns 0 or an errno value.
 */
#ifndef DEMO_LATCH_SPIN_H
#define DEMO_LATCH_SPIN_H

#include "latch.h"

#include <pthread.h>

/* struct spin_latch - a pthread spin lock */
struct spin_latch {
	pthread_spinlock_t lock;
};

static inline int spin_init(struct spin_latch *latch)
{
	return pthread_spin_init(&latch->lock, PTHREAD_PROCESS_PRIVATE);
}

static inline void spin_destroy(struct spin_latch *latch)
{
	pthread_spin_destroy(&latch->lock);
}

static inline void spin_acquire(struct spin_latch *latch)
{
	pthread_spin_lock(&latch->lock);
}

static inline void spin_release(struct spin_latch *latch)
{
	pthread_spin_unlock(&latch->lock);
}

LATCH_EXCLUSIVE(spin)

#endif
