/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * diff.h - two reports beside each other.
 *
 * The path of the data: two reports -> diff.c (match rows, values) ->
 * diff-print.c. Must never match rows by address, which changes from run to run.
 */
#ifndef ELIDE_DIFF_H
#define ELIDE_DIFF_H

#include <stdio.h>

#include "condition.h"
#include "report.h"

/* Version of the JSON and CSV output; counts up on any incompatible change. */
#define DIFF_SCHEMA 1

enum diff_status { DIFF_SAME, DIFF_CHANGED, DIFF_NEW, DIFF_GONE };

/**
 * struct diff_row - a row of two runs.
 * @line: before and after; one of them is NULL if the row is new or gone
 */
struct diff_row {
	const struct line *line[2];
	enum diff_status status;
};

/**
 * struct diff - the difference of two reports.
 * @report: before and after
 * @rate: values per second of the run
 * @rows: of @nr, sorted
 * @total: the totals as a row
 */
struct diff {
	const struct report *report[2];
	bool rate;
	struct diff_row *rows;
	size_t nr;
	struct diff_row total;
};

/**
 * diff_columns() - the columns that are compared: of columns.def, and the causes of aborts.def.
 * @nr: set to their number
 *
 * A column of the report that has the name of a cause is that cause's count here.
 */
const struct condition_column *diff_columns(size_t *nr);

/** diff_is_cause() - is this column the count of a cause? */
bool diff_is_cause(size_t column);

/**
 * diff_value() - the value of a row in a column, before or after.
 * @which: 0 before, 1 after
 * @v: set if it is known; in a run without the row, a count is 0 and a percentage is unknown
 *
 * Return: 0, or -ENODATA if it is unknown.
 */
int diff_value(const struct diff *d, const struct diff_row *row, int which, size_t column,
	       double *v);

/** diff_shows() - is a column in the view of either run? Others are in JSON and CSV only. */
bool diff_shows(const struct diff *d, size_t column);

/**
 * diff_build() - match the rows.
 * @by: how the reports' rows are summed
 * @sort: "cost" or a column's name: rows that differ most in it come first
 *
 * Two rows match if class, call site and kind are the same. If the program was rebuilt, rows with the
 * same names match; failing that, rows with the same names except for line numbers, if there is only
 * one such pair.
 *
 * Return: 0 or -ENOMEM.
 */
int diff_build(struct diff *d, const struct report *before, const struct report *after,
	       enum report_by by, const char *sort, bool rate);

/**
 * diff_is_beyond_noise() - does a row differ by more than two runs of the same program do by chance?
 *
 * Of counts and times of events that come in bursts the standard error is estimated from their number. A
 * maximum, which one event decides, is not compared.
 */
bool diff_is_beyond_noise(const struct diff *d, const struct diff_row *row);

/** diff_free() - release what diff_build() took. */
void diff_free(struct diff *d);

/** diff_status_name() - the word for a status. */
const char *diff_status_name(enum diff_status status);

/** diff_line() - the line of a row that has its names: after, or before if the row is gone. */
const struct line *diff_line(const struct diff_row *row);

/**
 * struct failure - a condition that holds, or whose value is unknown.
 * @row: NULL if the value is unknown in all rows
 */
struct failure {
	const struct condition *condition;
	const struct diff_row *row;
};

#endif
