/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * compare-print.h - the result of elide compare, as text and as JSON.
 *
 * Must never judge.
 */
#ifndef ELIDE_COMPARE_PRINT_H
#define ELIDE_COMPARE_PRINT_H

#include <stdio.h>

#include "../model/compare.h"

/* Version of the JSON output; counts up on any incompatible change. */
#define COMPARE_SCHEMA 1

/** compare_print() - print the result as text. */
void compare_print(const struct comparison *c, FILE *out);

/**
 * compare_print_json() - the result as JSON.
 * @failed: the conditions that hold, of @nr_failed
 *
 * Return: 0 or -EIO.
 */
int compare_print_json(const struct comparison *c, const struct compare_condition *const *failed,
		       size_t nr_failed, FILE *out);

#endif
