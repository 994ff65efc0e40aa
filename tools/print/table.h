/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * table.h - the report as text.
 *
 * Must never print a control character of the data file.
 */
#ifndef ELIDE_TABLE_H
#define ELIDE_TABLE_H

#include <stdio.h>

#include "../model/report.h"

/** table_head() - print what precedes a table: the program, mode and machine. */
void table_head(const struct report *r, FILE *out);

/**
 * table_print() - print the report as text.
 * @width: columns of the terminal
 * @top:   rows to print, 0 for all
 */
void table_print(const struct report *r, FILE *out, int width, size_t top);

#endif
