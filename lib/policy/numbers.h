/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * numbers.h - the numbers of numbers.def as constants.
 *
 * Times are in ns, as exactly as the rate of the time-stamp counter is known.
 */
#ifndef ELIDE_NUMBERS_H
#define ELIDE_NUMBERS_H

enum {
#define ELIDE_NUMBER(name, value, unit, source, row, help) name = (value),
#include "numbers.def"
#undef ELIDE_NUMBER
};

/* Of a number whose unit is 1/1000. */
#define PER_MILLE(number) ((number) / 1000.0)

/* A microsecond. */
#define LEARN_US 1000ull

#endif
