/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * condition.h - conditions of --fail-if: parses and evaluates them.
 *
 *   condition  [SCOPE ':'] COLUMN OP VALUE
 *   OP         > >= < <=
 *   VALUE      [+ | -] NUMBER [UNIT]
 *
 * Without a sign the value after the change is compared. With a sign the change is: with % in
 * per cent of the value before, else in the column's own unit.
 *
 * Must never know where the values come from.
 */
#ifndef ELIDE_CONDITION_H
#define ELIDE_CONDITION_H

#include <stdbool.h>
#include <stddef.h>

/* The unit of a column; a time is in nanoseconds. */
enum condition_unit { IN_NUMBERS, IN_PERCENT, IN_CYCLES, IN_TIME };

/* A column that a condition can name. */
struct condition_column {
	const char *name;
	enum condition_unit unit;
};

enum condition_of { OF_VALUE, OF_CHANGE, OF_PERCENT_CHANGE };

/**
 * struct condition - a condition of --fail-if.
 * @text:   as given
 * @total:  of the totals, else of each row
 * @column: index of its column
 * @op:     '>' or '<'; @or_equal with '='
 * @value:  in the column's unit, or per cent
 */
struct condition {
	const char *text;
	bool total;
	size_t column;
	char op;
	bool or_equal;
	enum condition_of of;
	double value;
};

/**
 * condition_parse() - read a condition.
 * @columns: the columns that it can name, @nr of them
 * @why: @size bytes; if @text is no condition, set to what was expected
 *
 * Return: 0, or the position of the error, counted from 1.
 */
size_t condition_parse(struct condition *c, const char *text,
		       const struct condition_column *columns, size_t nr, char *why, size_t size);

/**
 * condition_holds() - does a condition hold for a value before and after?
 *
 * A value that rises from 0 has grown by more than any percentage.
 */
bool condition_holds(const struct condition *c, double before, double after);

/** condition_compare() - does a number satisfy the condition's OP and VALUE? */
bool condition_compare(const struct condition *c, double v);

#endif
