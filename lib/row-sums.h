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

/* With fewer measurements of a row the longest, perhaps the very first, does not stand for others. */
#define ELIDE_FEW_HOLDS 16

/**
 * elide_row_held() - cycles that the locks of a row were held: the mean measured hold time times the
 * acquisitions that locked. Signed, so that a row of negated counters gives a negative result.
 */
static inline double elide_row_held(const struct elide_row *row)
{
	int64_t locked = (int64_t)(row->not_attempted + row->fallback);
	int64_t count = (int64_t)row->hold.count;
	double total = (double)(int64_t)row->hold.total, once = 0;

	if (!count)
		return 0;
	if (count > 1 && count < ELIDE_FEW_HOLDS && locked > count) {
		once = (double)row->hold.max;
		total -= once;
		count--;
		locked--;
	}
	return once + total / (double)count * (double)locked;
}

#endif
