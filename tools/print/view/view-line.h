/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * view-line.h - samples by cache line: report --by line.
 *
 * Must never print a sum as a counter: counts of samples are estimates.
 */
#ifndef ELIDE_VIEW_LINE_H
#define ELIDE_VIEW_LINE_H

#include <stdio.h>

#include "../../base/json.h"
#include "../../model/report.h"

/* Each shows the first @top lines, most cycles first; 0 for all. */

/** lines_table() - print the cache lines as text. */
void lines_table(const struct report *r, FILE *out, size_t top);

/** lines_csv_head() - print the line of the columns' names. */
void lines_csv_head(FILE *out);

/** lines_csv() - print the cache lines as comma-separated values. */
void lines_csv(const struct report *r, FILE *out, size_t top);

/** lines_json() - the cache lines as an array. */
json_t *lines_json(const struct report *r, size_t top);

#endif
