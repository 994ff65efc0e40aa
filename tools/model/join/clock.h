/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * clock.h - the times of a file in the cycles of another clock.
 *
 * Must never change a count.
 */
#ifndef ELIDE_JOIN_CLOCK_H
#define ELIDE_JOIN_CLOCK_H

#include <stdbool.h>

#include "../load.h"

/* Clocks that differ by less are one: what is measured over short runs differs as much. */
#define CLOCK_SAME 0.01

/*
 * Nanoseconds of the shortest run, on a processor, that tells a clock of its own: a process may be preempted
 * for some milliseconds between the two readings at its start or at its end.
 */
#define CLOCK_SHORTEST 1000000000ull

/** clock_is_short() - is the run too short for clock_of() to be right? */
bool clock_is_short(const struct elide_header *h);

/** clock_of() - cycles of a nanosecond; 0 if the file does not tell. */
double clock_of(const struct elide_header *h);

/**
 * clock_convert() - multiply all times of a file with a table.
 * @ratio: cycles of the new clock by cycles of the old one
 *
 * Histograms: the measurements of a bin count as spread evenly over it on a logarithmic scale, and
 * those that lie in another bin by the new clock move there; their number stays the same.
 */
void clock_convert(struct data_file *f, double ratio);

#endif
