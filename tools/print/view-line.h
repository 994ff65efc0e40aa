/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * view-line.h - what was sampled, by cache line: report --by line.
 *
 * Must never sum counters: the samples stand for them, they are not they.
 */
#ifndef ELIDE_VIEW_LINE_H
#define ELIDE_VIEW_LINE_H

#include <stdio.h>

#include "../base/json.h"
#include "../model/report.h"

/* Each shows the first @top lines, most cycles first; 0 for all. */

/** lines_table() - print them for people. */
void lines_table(const struct report *r, FILE *out, size_t top);

/** lines_csv_head() - print the line of the columns' names. */
void lines_csv_head(FILE *out);

/** lines_csv() - print them as comma-separated values. */
void lines_csv(const struct report *r, FILE *out, size_t top);

/** lines_json() - an array of them. */
json_t *lines_json(const struct report *r, size_t top);

#endif
