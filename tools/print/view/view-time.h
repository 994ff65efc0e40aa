/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * view-time.h - waits and holds over the time of the run: report --by time.
 *
 * Must never give an estimate more digits than it has.
 */
#ifndef ELIDE_VIEW_TIME_H
#define ELIDE_VIEW_TIME_H

#include <stdio.h>

#include "../../base/json.h"
#include "../../model/report.h"

/**
 * activity_table() - print a line of steps for the waits of each lock, and one for its holds.
 * @width: columns of the terminal
 *
 * Return: 0 or -errno, as activity_csv() does.
 */
int activity_table(const struct report *r, FILE *out, int width);

/** activity_csv_head() - print the line of the columns' names. */
void activity_csv_head(FILE *out);

/** activity_csv() - print a line for each lock and step. */
int activity_csv(const struct report *r, FILE *out);

/** activity_json() - the steps of each lock as an object; null if nothing was sampled. */
json_t *activity_json(const struct report *r);

#endif
