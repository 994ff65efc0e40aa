/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * rng.h - pseudo-random numbers.
 *
 * Must never be seeded with anything but the option --seed.
 */
#ifndef RTMGRIND_RNG_H
#define RTMGRIND_RNG_H

#include "rtmgrind.h"

/**
 * struct rng - a stream of pseudo-random numbers (xorshift64*, Vigna 2016).
 * @state: never 0
 */
struct rng {
	ULong state;
};

static inline void rng_seed(struct rng *rng, ULong seed, ULong stream)
{
	/* Odd multipliers (the first is 2^64 over the golden ratio) keep close seeds apart. */
	rng->state = (seed + 1) * 0x9E3779B97F4A7C15ULL ^ (stream + 1) * 0xD1B54A32D192ED03ULL;
	if (!rng->state)
		rng->state = 1;
}

static inline ULong rng_next(struct rng *rng)
{
	rng->state ^= rng->state >> 12;
	rng->state ^= rng->state << 25;
	rng->state ^= rng->state >> 27;
	return rng->state * 0x2545F4914F6CDD1DULL >> 11;
}

#endif
