/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * rank.h - the order of a report's rows.
 *
 * Must never change a row.
 */
#ifndef ELIDE_RANK_H
#define ELIDE_RANK_H

#include "sums.h"

/**
 * struct rank - what a row is put in order by: a text, a number, and what decides among equals.
 * @sum: the row, as an index of the table of sums
 */
struct rank {
	const char *text;
	double number;
	double cost;
	uint64_t acquired;
	uint32_t sum;
};

/**
 * rank_rows() - the first rows by a key.
 * @key: as of report_build()
 * @max: rows wanted, 0 for all
 * @nr: set to their number
 *
 * Return: an array to be freed, whose texts are gone; NULL without memory.
 */
struct rank *rank_rows(struct report *r, const struct sums *s, const char *key, size_t max,
		       size_t *nr);

/** line_name() - give a line its names. Return: 0 or -ENOMEM. */
int line_name(const struct report *r, struct line *l);

/** line_free_names() - release them. */
void line_free_names(struct line *l);

#endif
