/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * view-thread.h - what each thread acquired, waited and held: report --by thread.
 *
 * Must never round in JSON or CSV.
 */
#ifndef ELIDE_VIEW_THREAD_H
#define ELIDE_VIEW_THREAD_H

#include <stdio.h>

#include "../../base/json.h"
#include "../../model/report.h"

/**
 * threads_table() - print the threads as text, those that waited longest first.
 * @top: threads to print, 0 for all
 *
 * Return: 0 or -errno, as threads_csv() does.
 */
int threads_table(const struct report *r, FILE *out, size_t top);

/** threads_csv_head() - print the line of the columns' names. */
void threads_csv_head(FILE *out);

/** threads_csv() - print the threads as comma-separated values. */
int threads_csv(const struct report *r, FILE *out);

/** threads_json() - the threads as an array; null if the file has none. */
json_t *threads_json(const struct report *r);

#endif
