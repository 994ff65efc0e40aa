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

/** table_head() - print what precedes a view: the program, and what its threads did in their time. */
void table_head(const struct report *r, FILE *out, int width);

/**
 * table_print() - print the report as text.
 * @width: columns of the terminal
 * @top:   rows to print, 0 for all
 */
void table_print(const struct report *r, FILE *out, int width, size_t top);

#endif
