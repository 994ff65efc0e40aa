/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * columns.h - the values of columns.def as text.
 *
 * Must never be used where a number has to be exact.
 */
#ifndef ELIDE_COLUMNS_H
#define ELIDE_COLUMNS_H

#include <stdbool.h>

#include "../base/colour.h"
#include "report.h"

/* Units of columns.def. */
enum unit { TEXT, COUNT, PERCENT, CYCLES, TIME, MEAN };

/* Where a column of columns.def is shown. */
enum column_view { BOTH, ELISION, PROFILE };

/* The text of an unknown value. */
#define UNKNOWN_CELL "-"

/* The columns, numbered. */
enum column_id {
#define ELIDE_COLUMN(id, head, unit, value, view, drop) CELL_##id,
#include "columns.def"
#undef ELIDE_COLUMN
	NR_COLUMNS
};

/** column_shown() - does the report of a run, which elided or not, show a column? */
static inline bool column_shown(enum column_view view, bool elides)
{
	return view == BOTH || (view == ELISION) == elides;
}

/**
 * columns_find() - find the columns that a report shows: those of its view, except for columns of the
 * profile view that are unknown in all rows.
 * @nr: number of shown rows
 */
void columns_find(const struct report *r, size_t nr, bool shown[NR_COLUMNS]);

/** verdict_colour() - the colour of a verdict and of the names in its row. */
enum colour verdict_colour(enum verdict v);

/** scale_time() - cycles as a time with its unit; as cycles if their length is unknown. */
void scale_time(const struct report *r, char *to, size_t size, uint64_t cycles);

/**
 * number_cell() - a numeric value of columns.def as text; @to has @size bytes.
 * @v: NAN if unknown
 */
void number_cell(const struct report *r, enum unit unit, double v, char *to, size_t size);

#endif
