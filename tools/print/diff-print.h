/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * diff-print.h - the difference of two runs as text, CSV and JSON.
 *
 * Must never judge.
 */
#ifndef ELIDE_DIFF_PRINT_H
#define ELIDE_DIFF_PRINT_H

#include "../model/diff.h"

/** diff_describe() - a failure in words, into @to. */
void diff_describe(const struct diff *d, const struct failure *f, char *to, size_t size);

/**
 * diff_print_fn - print a difference.
 * @failures: @nr_failures conditions that hold, or cannot be judged. Only JSON has them
 * @top: rows to print, 0 for all
 */
typedef void diff_print_fn(const struct diff *d, const struct failure *failures, size_t nr_failures,
			   FILE *out, size_t top);

/* The formats. */
diff_print_fn diff_print_table, diff_print_csv, diff_print_json;

#endif
