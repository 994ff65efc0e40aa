/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * top-view.h - a frame of elide top as text.
 *
 * Must never depend on a terminal.
 */
#ifndef ELIDE_TOP_VIEW_H
#define ELIDE_TOP_VIEW_H

#include <stdbool.h>
#include <stdio.h>

#include "top.h"

/**
 * struct view - how a frame is shown.
 * @sort:   index of a column, or one more than the last for cost
 * @totals: numbers since the start rather than per second
 * @rows:   lines of rows, 0 for all; the first @skip are left out
 */
struct view {
	enum report_by by;
	size_t sort;
	bool totals;
	bool frozen;
	int width;
	size_t rows;
	size_t skip;
};

/* Lines above the rows, and which of them names the columns. */
#define VIEW_HEAD_LINES 5

/** view_sort() - the column that a key of --sort names; view_nr_sorts() if there is none. */
size_t view_sort(const char *key);

/** view_nr_sorts() - number of sort keys, including cost. */
size_t view_nr_sorts(void);

/** top_print() - print a frame as text. Sorts its rows. */
void top_print(const struct view *v, struct frame *f, FILE *out);

#endif
