/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * csv.h - the report as comma-separated values (RFC 4180).
 *
 * Must never round.
 */
#ifndef ELIDE_CSV_H
#define ELIDE_CSV_H

#include <stdio.h>

#include "../model/report.h"

/** csv_text() - print a comma and a quoted value. */
void csv_text(FILE *out, const char *s);

/** csv_place() - print the five values of a place, a comma before each. */
void csv_place(FILE *out, const struct place *p);

/** csv_head() - print the line of the columns' names. */
void csv_head(FILE *out);

/** csv_print() - print a line for each row, for @top rows at most; 0 for all. */
void csv_print(const struct report *r, FILE *out, size_t top);

#endif
