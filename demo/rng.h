/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * rng.h - random numbers, one generator per thread.
 *
 * SplitMix64: Steele, Lea, Flood, "Fast splittable pseudorandom number
 * generators", OOPSLA 2014, figure 17 with the constants of its variant 13.
 */
#ifndef DEMO_RNG_H
#define DEMO_RNG_H

#include <stdint.h>

struct rng {
	uint64_t state;
};

/**
 * mix64() - a bijection of 64-bit numbers that looks random
 * @x: the number
 */
static inline uint64_t mix64(uint64_t x)
{
	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
	x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
	return x ^ (x >> 31);
}

/**
 * rng_seed() - start a stream
 * @rng: the generator
 * @seed: of the whole run
 * @stream: tells the streams of one seed apart
 */
static inline void rng_seed(struct rng *rng, uint64_t seed, uint64_t stream)
{
	rng->state = mix64(seed + mix64(stream + 1));
}

/**
 * rng_next() - 64 random bits
 * @rng: the generator
 */
static inline uint64_t rng_next(struct rng *rng)
{
	/* The increment: 2^64 divided by the golden ratio, made odd. */
	rng->state += 0x9e3779b97f4a7c15u;
	return mix64(rng->state);
}

/**
 * rng_below() - a random number below @n, biased by at most n / 2^64
 * @rng: the generator
 * @n: the bound, not 0
 */
static inline uint64_t rng_below(struct rng *rng, uint64_t n)
{
	return (uint64_t)(((unsigned __int128)rng_next(rng) * n) >> 64);
}

/**
 * rng_unit() - a random number in [0, 1) with 53 bits
 * @rng: the generator
 */
static inline double rng_unit(struct rng *rng)
{
	return (double)(rng_next(rng) >> 11) * 0x1p-53;
}

#endif
