// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * condition.c - conditions of --fail-if: parses and evaluates them.
 *
 * Must never know where the values come from.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../lib/compiler.h"
#include "../base/suggest.h"
#include "condition.h"

/* The most columns that a condition can name: more than elide diff has. */
#define COLUMNS_MAX 64

/* A text that is being parsed. */
struct cursor {
	const char *at;
	const char *start;
	char *why;
	size_t size;
};

static size_t position(const struct cursor *s)
{
	return s->at - s->start + 1;
}

static size_t expected(const struct cursor *s, const char *what)
{
	snprintf(s->why, s->size, "expected %s", what);
	return position(s);
}

static void skip_blanks(struct cursor *s)
{
	s->at += strspn(s->at, " \t");
}

static bool take(struct cursor *s, const char *text)
{
	size_t len = strlen(text);

	if (strncmp(s->at, text, len))
		return false;
	s->at += len;
	return true;
}

static size_t read_column(struct cursor *s, struct condition *c,
			  const struct condition_column *columns, size_t nr)
{
	size_t len = strspn(s->at, "abcdefghijklmnopqrstuvwxyz_");
	const char *names[COLUMNS_MAX];
	char word[64];

	if (!len)
		return expected(s, "a column");
	for (size_t i = 0; i < nr; i++) {
		names[i] = columns[i].name;
		if (strlen(names[i]) != len || strncmp(names[i], s->at, len))
			continue;
		c->column = i;
		s->at += len;
		return 0;
	}
	snprintf(word, sizeof(word), "%.*s", (int)len, s->at);
	snprintf(s->why, s->size, "there is no column %s, nearest is %s", word,
		 suggest(word, names, nr));
	return position(s);
}

static size_t read_op(struct cursor *s, struct condition *c)
{
	if (*s->at != '<' && *s->at != '>')
		return expected(s, "one of > >= < <=");
	c->op = *s->at++;
	c->or_equal = take(s, "=");
	return 0;
}

/* Units that may follow the number, by the unit of the column. */
static const struct suffix {
	enum condition_unit unit;
	const char *name;
	double factor;
} suffixes[] = {
	{IN_TIME, "ns", 1},	 {IN_TIME, "us", 1e3},	  {IN_TIME, "ms", 1e6},
	{IN_TIME, "s", 1e9},	 {IN_NUMBERS, "k", 1e3},  {IN_NUMBERS, "M", 1e6},
	{IN_NUMBERS, "G", 1e9},	 {IN_CYCLES, "k", 1e3},	  {IN_CYCLES, "M", 1e6},
	{IN_CYCLES, "G", 1e9},
};

/* The unit after the number. A time must have one. */
static size_t read_unit(struct cursor *s, struct condition *c, enum condition_unit unit)
{
	if (c->of == OF_CHANGE && unit != IN_PERCENT && take(s, "%")) {
		c->of = OF_PERCENT_CHANGE;
		return 0;
	}
	/* For a percentage, +5% is 5 per cent of the value before, and +5 is 5 points. */
	if (unit == IN_PERCENT) {
		if (take(s, "%") && c->of == OF_CHANGE)
			c->of = OF_PERCENT_CHANGE;
		return 0;
	}
	for (size_t i = 0; i < ARRAY_SIZE(suffixes); i++) {
		if (suffixes[i].unit != unit || !take(s, suffixes[i].name))
			continue;
		c->value *= suffixes[i].factor;
		return 0;
	}
	return unit == IN_TIME ? expected(s, "one of ns us ms s") : 0;
}

static size_t read_value(struct cursor *s, struct condition *c, enum condition_unit unit)
{
	double sign = 1;
	char *end;

	if (*s->at == '+' || *s->at == '-') {
		c->of = OF_CHANGE;
		sign = *s->at++ == '-' ? -1 : 1;
	}
	/* strtod() also accepts signs, hexadecimal numbers and infinity, which are refused here. */
	if (!strspn(s->at, "0123456789.") || !strncmp(s->at, "0x", 2) || !strncmp(s->at, "0X", 2))
		return expected(s, "a number");
	c->value = sign * strtod(s->at, &end);
	if (end == s->at || !isfinite(c->value))
		return expected(s, "a number");
	s->at = end;
	skip_blanks(s);
	return read_unit(s, c, unit);
}

size_t condition_parse(struct condition *c, const char *text,
		       const struct condition_column *columns, size_t nr, char *why, size_t size)
{
	struct cursor s = {text, text, why, size};
	size_t bad;

	*c = (struct condition){.text = text};
	skip_blanks(&s);
	if (take(&s, "total:"))
		c->total = true;
	else
		take(&s, "row:");
	skip_blanks(&s);
	bad = read_column(&s, c, columns, nr);
	if (bad)
		return bad;
	skip_blanks(&s);
	bad = read_op(&s, c);
	if (bad)
		return bad;
	skip_blanks(&s);
	bad = read_value(&s, c, columns[c->column].unit);
	if (bad)
		return bad;
	skip_blanks(&s);
	return *s.at ? expected(&s, "the end") : 0;
}

bool condition_compare(const struct condition *c, double v)
{
	if (c->or_equal && v == c->value)
		return true;
	return c->op == '>' ? v > c->value : v < c->value;
}

bool condition_holds(const struct condition *c, double before, double after)
{
	switch (c->of) {
	case OF_VALUE:
		return condition_compare(c, after);
	case OF_CHANGE:
		return condition_compare(c, after - before);
	default:
		if (before == 0)
			return condition_compare(c, after == 0 ? 0 : INFINITY);
		return condition_compare(c, 100 * (after - before) / before);
	}
}
