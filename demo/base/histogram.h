/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * histogram.h - durations of operations in a bounded array, exact to 1/32.
 *
 * The histogram is log-linear: each power of two is divided into 32 buckets of
 * equal width. Each thread has a histogram of its own; they are added up after
 * the threads have ended.
 */
#ifndef DEMO_HISTOGRAM_H
#define DEMO_HISTOGRAM_H

#include <stdint.h>

/* Buckets of a power of two: 2^5, so that a percentile is at most 1/32 = 3 % too high. */
#define HISTOGRAM_BITS 5
#define HISTOGRAM_PARTS (1u << HISTOGRAM_BITS)

/* Buckets of all 64-bit numbers: one for each number below 2^5, then 59 powers of two. */
#define HISTOGRAM_BUCKETS ((64 - HISTOGRAM_BITS + 1) * HISTOGRAM_PARTS)

/**
 * struct histogram - number of durations in each bucket
 * @counts: number of durations in each bucket
 * @nr: number of all durations
 * @max: the longest duration in nanoseconds, exact
 */
struct histogram {
	uint64_t counts[HISTOGRAM_BUCKETS];
	uint64_t nr;
	uint64_t max;
};

/* The percentiles that results have: share in thousandths, and name. */
static const struct percentile {
	unsigned int per_mille;
	const char *name;
} percentiles[] = {
	{ 500, "p50" }, { 900, "p90" }, { 950, "p95" },
	{ 990, "p99" }, { 999, "p999" }, { 1000, "max" },
};

#define NR_PERCENTILES (sizeof(percentiles) / sizeof(percentiles[0]))

/* The bucket of a duration. */
static inline unsigned int histogram_bucket(uint64_t ns)
{
	unsigned int shift;

	if (ns < HISTOGRAM_PARTS)
		return (unsigned int)ns;
	shift = 63u - (unsigned int)__builtin_clzll(ns) - HISTOGRAM_BITS;
	return (shift + 1) * HISTOGRAM_PARTS + (unsigned int)(ns >> shift) % HISTOGRAM_PARTS;
}

/* The longest duration that falls into a bucket, in nanoseconds. */
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
 * histogram_count() - record a duration
 * @h: the histogram
 * @ns: the duration in nanoseconds
 */
static inline void histogram_count(struct histogram *h, uint64_t ns)
{
	h->counts[histogram_bucket(ns)]++;
	h->nr++;
	h->max = ns > h->max ? ns : h->max;
}

/**
 * histogram_add() - add the counts of another histogram
 * @to: the histogram that receives the sums
 * @from: the other histogram
 */
static inline void histogram_add(struct histogram *to, const struct histogram *from)
{
	for (unsigned int i = 0; i < HISTOGRAM_BUCKETS; i++)
		to->counts[i] += from->counts[i];
	to->nr += from->nr;
	to->max = from->max > to->max ? from->max : to->max;
}

/**
 * histogram_at() - a percentile of the durations
 * @h: the histogram
 * @per_mille: the share of durations that do not exceed the result, in thousandths
 *
 * Return: nanoseconds, at most 1/32 above the true value; 0 for an empty histogram.
 */
static inline uint64_t histogram_at(const struct histogram *h, unsigned int per_mille)
{
	/* The rank of the duration, from 1: nr * per_mille / 1000, rounded up. */
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
