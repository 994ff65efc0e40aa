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
 * struct rank - the sort key of a row: a text or a number. Between equal keys decide @cost, then the time
 * waited, @wait, then, in a run that did not elide, the time that the locks were held, @hold, and then
 * @acquired.
 * @sum: the row, an index of the table of sums
 */
struct rank {
	const char *text;
	double number;
	double cost;
	uint64_t wait;
	double hold;
	uint64_t acquired;
	uint32_t sum;
};

/**
 * rank_rows() - find the first rows in the order of a key.
 * @key: as of report_build()
 * @max: rows wanted, 0 for all
 * @nr: set to their number
 *
 * Return: an array, to be freed, whose texts are no longer valid; NULL without memory.
 */
struct rank *rank_rows(struct report *r, const struct sums *s, const char *key, size_t max,
		       size_t *nr);

/** report_sort_keys() - the keys of --sort: cost, and the columns. */
const char *report_sort_keys(size_t nth);

/** report_by_words() - the arguments of --by; report_sum_words() - only lock and site. */
const char *report_by_words(size_t nth);
const char *report_sum_words(size_t nth);

/**
 * report_sort_key() - is @key a key of --sort? *@nearest is set to the nearest one.
 */
int report_sort_key(const char *key, const char **nearest);

/**
 * report_by_key() - parse the argument of --by into @by.
 *
 * Return: 0, or -EINVAL after one line.
 */
int report_by_key(const char *text, enum report_by *by);

/**
 * report_sum_key() - like report_by_key(), but refuse everything but lock and site.
 * @what: begins the message about other words: "top sums"
 *
 * Return: 0, or -EINVAL after one line.
 */
int report_sum_key(const char *text, const char *what, enum report_by *by);

#endif
