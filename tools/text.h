/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * text.h - numbers and names for people: short, and without control characters.
 *
 * Must never be used where a number has to be exact.
 */
#ifndef ELIDE_TEXT_H
#define ELIDE_TEXT_H

#include <stdio.h>

/* Longest cell printed; a name that is longer loses its middle. */
#define CELL_MAX 64

/**
 * scale() - three significant digits and a unit: 999, 12.3k, 4.56M.
 * @to: filled, @size bytes
 * @v: not negative
 * @suffix: follows the unit
 */
void scale(char *to, size_t size, double v, const char *suffix);

/** scale_ns() - the same of a time: 999ns, 12.3us, 4.56s. */
void scale_ns(char *to, size_t size, double ns);

/**
 * fit() - a name in a cell; what is longer loses its "file:line" or " in FUNCTION" if that is
 * enough, else its middle.
 * @to: @width + 1 bytes
 * @width: CELL_MAX at most
 */
void fit(char *to, const char *text, int width);

/** print_clean() - print text of a data file, control characters as '?'. */
void print_clean(FILE *out, const char *text);

#endif
