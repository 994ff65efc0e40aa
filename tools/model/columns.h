/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * columns.h - the values of columns.def as text.
 *
 * Must never be used where a number has to be exact.
 */
#ifndef ELIDE_COLUMNS_H
#define ELIDE_COLUMNS_H

#include "report.h"

/* Units of columns.def. */
enum unit { TEXT, COUNT, PERCENT, CYCLES, TIME };

/** scale_time() - cycles as a time with its unit; as cycles if their length is unknown. */
void scale_time(const struct report *r, char *to, size_t size, uint64_t cycles);

/** number_cell() - a value of columns.def that is no text; @to has @size bytes. */
void number_cell(const struct report *r, enum unit unit, double v, char *to, size_t size);

#endif
