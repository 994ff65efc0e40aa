/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * clock.h - converts the times of a file to the cycles of another clock.
 *
 * Must never change a count.
 */
#ifndef ELIDE_JOIN_CLOCK_H
#define ELIDE_JOIN_CLOCK_H

#include <stdbool.h>

#include "../load.h"

/* Clocks that differ by less count as equal: the error of short runs is as large. */
#define CLOCK_SAME 0.01

/*
 * Nanoseconds of the shortest run on a processor that determines a clock: the process may be preempted
 * for some milliseconds between the two readings at its start or at its end.
 */
#define CLOCK_SHORTEST 1000000000ull

/** clock_is_short() - is the run too short for clock_of() to be right? */
bool clock_is_short(const struct elide_header *h);

/** clock_of() - cycles in a nanosecond; 0 if unknown. */
double clock_of(const struct elide_header *h);

/**
 * clock_convert() - multiply all times of a file with a table.
 * @ratio: cycles of the new clock by cycles of the old one
 *
 * The measurements of a histogram's bin are assumed to be spread evenly on a logarithmic scale; those
 * that belong to another bin by the new clock move there. Their number does not change.
 */
void clock_convert(struct data_file *f, double ratio);

#endif
