/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* row-sums.h - sums of the counters of a row, struct elide_row. */
#ifndef ELIDE_ROW_SUMS_H
#define ELIDE_ROW_SUMS_H

#include "datafile.h"

/** elide_row_elided() - acquisitions that were elided. */
static inline uint64_t elide_row_elided(const struct elide_row *row)
{
	return row->commits + row->nested;
}

/** elide_row_acquired() - all acquisitions. */
static inline uint64_t elide_row_acquired(const struct elide_row *row)
{
	return elide_row_elided(row) + row->fallback + row->not_attempted;
}

/** elide_row_aborts() - aborts of all causes. */
static inline uint64_t elide_row_aborts(const struct elide_row *row)
{
	uint64_t sum = 0;

	for (int i = 0; i < ELIDE_MAX_CAUSES; i++)
		sum += row->causes[i];
	return sum;
}

/** elide_row_locked() - acquisitions that locked. */
static inline int64_t elide_row_locked(const struct elide_row *row)
{
	return (int64_t)(row->not_attempted + row->fallback);
}

/**
 * elide_row_held() - cycles that the locks of a row were held, an estimate.
 *
 * The sum of the hold times of contended acquisitions, and the weighted mean of the sampled ones multiplied
 * by the number of all others. Signed, so that a row of negated counters gives a negative result.
 */
static inline double elide_row_held(const struct elide_row *row)
{
	double others = (double)(elide_row_locked(row) - (int64_t)row->hold.exact);
	double exact = (double)(int64_t)row->hold.exact_total;
	int64_t weight = (int64_t)row->hold.weight;

	if (weight)
		return exact + (double)(int64_t)row->hold.total / (double)weight * others;
	return row->hold.exact ? exact + exact / (double)(int64_t)row->hold.exact * others : 0;
}

/**
 * elide_row_held_variance() - variance of elide_row_held(), squared cycles; 0 if all hold times were
 * measured.
 *
 * The variance of a ratio estimator (W. G. Cochran, "Sampling Techniques", 1977, 6.4): a sampled acquisition
 * of weight w contributes w (w - 1) times the variance of the hold times. Added is the square of the longest
 * hold time, multiplied by the share of the acquisitions that were not measured: one of these may have lasted
 * as long, because the thread lost its processor.
 */
static inline double elide_row_held_variance(const struct elide_row *row)
{
	const struct elide_holds *h = &row->hold;
	double weight = (double)(int64_t)h->weight, mean, off, others;
	double sampled = (double)(int64_t)(h->count - h->exact);

	if (!h->weight)
		return 0;
	others = (double)(elide_row_locked(row) - (int64_t)h->exact);
	mean = (double)(int64_t)h->total / weight;
	off = h->spread_squares - 2 * mean * h->spread_total + mean * mean * h->spread;
	off *= others / weight * (others / weight);
	if (off < 0)
		off = -off;
	if (others > sampled)
		off += (double)h->max * (double)h->max * (1 - sampled / others);
	return off;
}

#endif
