/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * histogram.h - how long operations took, exact to 1/32, in a bounded array.
 *
 * Log-linear: every power of two is divided in the same number of parts. One
 * a thread, added up when the threads have ended.
 */
#ifndef DEMO_HISTOGRAM_H
#define DEMO_HISTOGRAM_H

#include <stdint.h>

/* Parts of a power of two: 2^5, so that a percentile is at most 3 % too high. */
#define HISTOGRAM_BITS 5
#define HISTOGRAM_PARTS (1u << HISTOGRAM_BITS)

/* All 64-bit numbers: those below 2^5 one each, then 59 powers of two. */
#define HISTOGRAM_BUCKETS ((64 - HISTOGRAM_BITS + 1) * HISTOGRAM_PARTS)

/**
 * struct histogram - counted durations
 * @counts: by bucket
 * @nr: all of them
 * @max: the longest, exactly
 */
struct histogram {
	uint64_t counts[HISTOGRAM_BUCKETS];
	uint64_t nr;
	uint64_t max;
};

static inline unsigned int histogram_bucket(uint64_t ns)
{
	unsigned int shift;

	if (ns < HISTOGRAM_PARTS)
		return (unsigned int)ns;
	shift = 63u - (unsigned int)__builtin_clzll(ns) - HISTOGRAM_BITS;
	return (shift + 1) * HISTOGRAM_PARTS + (unsigned int)(ns >> shift) % HISTOGRAM_PARTS;
}

/* The longest duration that falls into a bucket. */
static inline uint64_t histogram_bound(unsigned int bucket)
{
	unsigned int shift;

	if (bucket < HISTOGRAM_PARTS)
		return bucket;
	shift = bucket / HISTOGRAM_PARTS - 1;
	return (((uint64_t)HISTOGRAM_PARTS + bucket % HISTOGRAM_PARTS) << shift) +
	       ((1ull << shift) - 1);
}

/**
 * histogram_count() - one more duration
 * @h: the histogram
 * @ns: how long it took
 */
static inline void histogram_count(struct histogram *h, uint64_t ns)
{
	h->counts[histogram_bucket(ns)]++;
	h->nr++;
	h->max = ns > h->max ? ns : h->max;
}

/**
 * histogram_add() - add the counts of another histogram
 * @to: the sum
 * @from: what is added
 */
static inline void histogram_add(struct histogram *to, const struct histogram *from)
{
	for (unsigned int i = 0; i < HISTOGRAM_BUCKETS; i++)
		to->counts[i] += from->counts[i];
	to->nr += from->nr;
	to->max = from->max > to->max ? from->max : to->max;
}

/**
 * histogram_at() - what a share of the durations does not exceed
 * @h: the histogram
 * @per_mille: the share
 *
 * Return: nanoseconds, at most 1/32 above the true value; 0 if none was counted.
 */
static inline uint64_t histogram_at(const struct histogram *h, unsigned int per_mille)
{
	/* The rank of the duration looked for, rounded up, from 1. */
	uint64_t rank = h->nr / 1000 * per_mille + (h->nr % 1000 * per_mille + 999) / 1000;
	uint64_t below = 0;

	for (unsigned int i = 0; i < HISTOGRAM_BUCKETS; i++) {
		below += h->counts[i];
		if (below >= rank && below)
			return histogram_bound(i) < h->max ? histogram_bound(i) : h->max;
	}
	return 0;
}

#endif
