/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * diff.h - two reports beside each other.
 *
 * The way of the data: two reports -> diff.c (match rows, values) ->
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
 * struct diff_row - a row and its like.
 * @line: before and after; one of them is NULL for a row that is new or gone
 */
struct diff_row {
	const struct line *line[2];
	enum diff_status status;
};

/**
 * struct diff - what differs.
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
 * diff_columns() - what is compared: columns of columns.def, and causes of aborts.def.
 * @nr: set to their number
 *
 * A column of the report that has the name of a cause is that cause's count here.
 */
const struct condition_column *diff_columns(size_t *nr);

/** diff_is_cause() - is this column the count of a cause? */
bool diff_is_cause(size_t column);

/**
 * diff_value() - of a row, before or after.
 * @which: 0 before, 1 after
 * @v: set if it is known; where there is no such row 0, and no percentage
 *
 * Return: 0, or -ENODATA if the run could not tell.
 */
int diff_value(const struct diff *d, const struct diff_row *row, int which, size_t column,
	       double *v);

/**
 * diff_build() - match the rows.
 * @by: what the reports' rows are summed over
 * @sort: "cost" or a column's name: rows that differ most in it come first
 *
 * Rows are the same if class, call site and kind are. If the program was built
 * anew, those are whose names are the same; after that those whose names
 * without line numbers are, as long as there is only one such pair.
 *
 * Return: 0 or -ENOMEM.
 */
int diff_build(struct diff *d, const struct report *before, const struct report *after,
	       enum report_by by, const char *sort, bool rate);

/** diff_free() - release what diff_build() took. */
void diff_free(struct diff *d);

/** diff_status_name() - a word. */
const char *diff_status_name(enum diff_status status);

/** diff_line() - the one of a row's lines that names it. */
const struct line *diff_line(const struct diff_row *row);

/**
 * struct failure - a condition that holds, or cannot be judged.
 * @row: NULL if no row of the run tells
 */
struct failure {
	const struct condition *condition;
	const struct diff_row *row;
};

/** diff_describe() - a failure in words, into @to. */
void diff_describe(const struct diff *d, const struct failure *f, char *to, size_t size);

/* The outputs. @top: rows to print, 0 for all. */
void diff_print_table(const struct diff *d, FILE *out, size_t top);
void diff_print_csv(const struct diff *d, FILE *out, size_t top);
int diff_print_json(const struct diff *d, const struct failure *failures, size_t nr_failures,
		    FILE *out, size_t top);

#endif
