/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * clock.h - the clock that intervals are measured by.
 *
 * Must never be used for a date.
 */
#ifndef ELIDE_CLOCK_H
#define ELIDE_CLOCK_H

#include <stdint.h>
#include <time.h>

/** now_ns() - CLOCK_MONOTONIC in nanoseconds. */
static inline uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ull + ts.tv_nsec;
}

#endif
