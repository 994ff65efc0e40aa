/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * perf-join.h - joins perf's samples with the rows in whose sections they fall.
 *
 * Must never guess a lock: an unknown one is counted as unknown.
 */
#ifndef ELIDE_PERF_JOIN_H
#define ELIDE_PERF_JOIN_H

#include <stdio.h>

#include "../model/perf.h"
#include "../model/report.h"

/**
 * perf_print() - the samples by place, cause and the row whose section they fall in.
 * @top: places to print, 0 for all
 */
void perf_print(const struct report *r, const struct perf_samples *s, FILE *out, size_t top);

#endif
