/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sort.h - what comparisons for qsort(3) have in common.
 *
 * Must never hold an order of its own.
 */
#ifndef ELIDE_SORT_H
#define ELIDE_SORT_H

#include <stdint.h>

/** by_number() - compare two numbers: below 0, 0 or above 0. */
static inline int by_number(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

#endif
