/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * findings-print.h - why transactions aborted, row by row, and what to do, as text.
 */
#ifndef ELIDE_FINDINGS_PRINT_H
#define ELIDE_FINDINGS_PRINT_H

#include <stdio.h>

#include "../model/report.h"

/**
 * findings_print() - print the findings of the rows that cost most, of a run that elided.
 * @nr:        rows in the table
 * @explained: findings that were printed before: numbers go on from there
 */
void findings_print(const struct report *r, FILE *out, size_t nr, size_t explained);

#endif
