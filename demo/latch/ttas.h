/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ttas.h - a spin latch of one byte that reads before it exchanges (test and test-and-set).
 *
 * It is the latch of Schröder, "Using modern synchronization mechanisms in databases",
 * 2016, section 2.3.4 (atomic_bool). It must never call pthreads, so that a preloaded
 * library does not see it. A waiter yields the processor after its back-off, because the
 * holder may not have one.
 */
#ifndef DEMO_LATCH_TTAS_H
#define DEMO_LATCH_TTAS_H

#include "back-off.h"
#include "latch.h"

#include <stdint.h>

/* struct ttas_latch - the latch; its byte is 1 while it is held */
struct ttas_latch {
	uint8_t held;
};

static inline int ttas_init(struct ttas_latch *latch)
{
	latch->held = 0;
	return 0;
}

static inline void ttas_destroy(struct ttas_latch *latch)
{
}

static inline void ttas_acquire(struct ttas_latch *latch)
{
	unsigned int pauses = 1;

	/* Acquire: pairs with the release in ttas_release(). */
	while (__atomic_load_n(&latch->held, __ATOMIC_RELAXED) ||
	       __atomic_exchange_n(&latch->held, 1, __ATOMIC_ACQUIRE))
		back_off(&pauses);
}

static inline void ttas_release(struct ttas_latch *latch)
{
	/* Release: pairs with the acquire in ttas_acquire(). */
	__atomic_store_n(&latch->held, 0, __ATOMIC_RELEASE);
}

LATCH_EXCLUSIVE(ttas)

#endif
