/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * views.h - names of rows in the views of samples.
 *
 * Must never print a control character of the data file.
 */
#ifndef ELIDE_VIEWS_H
#define ELIDE_VIEWS_H

#include <stdio.h>

#include "../../model/report.h"

/**
 * struct where - the row that a sample belongs to, named.
 * @lock, @class: NULL if the sample lies outside of any section
 * @short_lock:   @lock, short enough for a table
 */
struct where {
	char *lock;
	char *class;
	char short_lock[SHORT_NAME];
	unsigned int kind;
	struct place site;
};

/** where_fill() - name a row. Return: 0 or -ENOMEM. */
int where_fill(const struct report *r, struct where *w, uint32_t class_index, unsigned int kind,
	       uint64_t site);

/** where_free() - release the names of a row. */
void where_free(struct where *w);

/** where_print() - print "LOCK (KIND) at FUNCTION FILE:LINE". */
void where_print(FILE *out, const struct where *w);

/** where_csv_head() - print the names of the columns of where_csv(). */
void where_csv_head(FILE *out);

/** where_csv() - print a row's lock, class, kind and site as comma-separated values. */
void where_csv(FILE *out, const struct where *w);

/** line_print() - print the lock and the call of a row, for a sentence. */
void line_print(FILE *out, const struct line *l);

/** view_print() - print "function file:line", or the known part of it; long names are shortened. */
void view_print(FILE *out, const struct place *p);

#endif
