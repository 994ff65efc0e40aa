/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * text-report.h - the report as text.
 */
#ifndef ELIDE_TEXT_REPORT_H
#define ELIDE_TEXT_REPORT_H

#include <stdio.h>

#include "../model/report.h"

/** text_head() - print what precedes a view: the program, and what its threads did in their time. */
void text_head(const struct report *r, FILE *out, int width);

/**
 * text_report() - print the report as text.
 * @width: columns of the terminal
 * @top:   rows to print, 0 for all
 */
void text_report(const struct report *r, FILE *out, int width, size_t top);

#endif
