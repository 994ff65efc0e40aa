/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tas.h - a spin latch of one byte that only exchanges (test-and-set).
 *
 * It is the latch of Schröder, "Using modern synchronization mechanisms in databases",
 * 2016, section 2.3.4 (atomic_flag): each attempt of a waiter takes the cache line. It
 * must never call pthreads, so that a preloaded library does not see it.
 */
#ifndef DEMO_LATCH_TAS_H
#define DEMO_LATCH_TAS_H

#include "latch.h"

#include <stdint.h>

/* struct tas_latch - the latch; its byte is 1 while it is held */
struct tas_latch {
	uint8_t held;
};

static inline int tas_init(struct tas_latch *latch)
{
	latch->held = 0;
	return 0;
}

static inline void tas_destroy(struct tas_latch *latch)
{
}

static inline void tas_acquire(struct tas_latch *latch)
{
	/* Acquire: pairs with the release in tas_release(). */
	while (__atomic_exchange_n(&latch->held, 1, __ATOMIC_ACQUIRE))
		;
}

static inline void tas_release(struct tas_latch *latch)
{
	/* Release: pairs with the acquire in tas_acquire(). */
	__atomic_store_n(&latch->held, 0, __ATOMIC_RELEASE);
}

LATCH_EXCLUSIVE(tas)

#endif
