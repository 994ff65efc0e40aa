/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * random.h - the random numbers of a thread.
 */
#ifndef ELIDE_RANDOM_H
#define ELIDE_RANDOM_H

#include <stdint.h>

#include "thread.h"

#pragma GCC visibility push(hidden)

/* xorshift32 (Marsaglia, "Xorshift RNGs", 2003). */
static inline uint32_t elide_random(struct elide_thread *t)
{
	t->seed ^= t->seed << 13;
	t->seed ^= t->seed >> 17;
	t->seed ^= t->seed << 5;
	return t->seed;
}

/* A random sampling period with that mean: a fixed one may keep step with the program. 0 stays 0: never. */
static inline uint32_t elide_random_period(struct elide_thread *t, uint32_t mean)
{
	return mean > 1 ? 1 + ((uint64_t)elide_random(t) * (2 * mean - 1) >> 32) : mean;
}

/*
 * xorshift64 (Marsaglia, "Xorshift RNGs", 2003), with a state of its own: sampling must not change the
 * back-off's pauses.
 */
static inline uint64_t elide_random_sample(struct elide_thread *t)
{
	uint64_t x = t->sample_seed;

	x ^= x << 13;
	x ^= x >> 7;
	x ^= x << 17;
	t->sample_seed = x;
	return x;
}

#pragma GCC visibility pop

#endif
