/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * table.h - the table of rows of a report as text.
 *
 * Must never print a control character of the data file.
 */
#ifndef ELIDE_TABLE_H
#define ELIDE_TABLE_H

#include <stdio.h>

#include "../model/report.h"

/**
 * table_print() - print the first rows of a report, and how many rows and columns are left out.
 * @width: columns of the terminal
 * @nr:    number of rows to print
 */
void table_print(const struct report *r, FILE *out, int width, size_t nr);

#endif
