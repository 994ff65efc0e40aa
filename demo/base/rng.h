/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * rng.h - pseudo-random numbers, one generator for each thread.
 *
 * SplitMix64: Steele, Lea, Flood, "Fast splittable pseudorandom number
 * generators", OOPSLA 2014, figure 17 with the constants of its variant 13.
 */
#ifndef DEMO_RNG_H
#define DEMO_RNG_H

#include <stdint.h>

/* struct rng - a generator of SplitMix64 */
struct rng {
	uint64_t state;
};

/**
 * mix64() - a pseudo-random bijection of the 64-bit numbers
 * @x: the argument
 */
static inline uint64_t mix64(uint64_t x)
{
	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
	x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
	return x ^ (x >> 31);
}

/**
 * rng_seed() - start a stream of random numbers
 * @rng: the generator
 * @seed: seed of the run
 * @stream: number of the stream; streams of one seed differ by it
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
	/* The increment is 2^64 divided by the golden ratio, rounded to an odd number. */
	rng->state += 0x9e3779b97f4a7c15u;
	return mix64(rng->state);
}

/**
 * rng_below() - a random number below @n, with a bias of at most n / 2^64
 * @rng: the generator
 * @n: the bound, at least 1
 */
static inline uint64_t rng_below(struct rng *rng, uint64_t n)
{
	return (uint64_t)(((unsigned __int128)rng_next(rng) * n) >> 64);
}

/**
 * rng_unit() - a random number in [0, 1) with 53 random bits
 * @rng: the generator
 */
static inline double rng_unit(struct rng *rng)
{
	return (double)(rng_next(rng) >> 11) * 0x1p-53;
}

#endif
