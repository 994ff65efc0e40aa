// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * option.c - parses and prints the rows of tables of options (see option.h).
 */
#include "option.h"

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int parse_choice(const char *program, const struct option_row *row, const char *text, uint64_t *value)
{
	for (*value = 0; row->choices[*value].name; ++*value)
		if (!strcmp(row->choices[*value].name, text))
			return 0;
	fprintf(stderr, "%s: --%s=%s: must be one of", program, row->name, text);
	for (const struct choice *c = row->choices; c->name; c++)
		fprintf(stderr, "%s %s", c == row->choices ? "" : ",", c->name);
	fputc('\n', stderr);
	return -EINVAL;
}

static int parse_uint(const char *program, const struct option_row *row, const char *text, uint64_t *value)
{
	char *end;

	errno = 0;
	*value = strtoull(text, &end, 10);
	/* strtoull() also accepts blanks and signs, and negates a negative number. */
	if (*text >= '0' && *text <= '9' && !*end && !errno && *value >= row->min &&
	    *value <= row->max)
		return 0;
	fprintf(stderr, "%s: --%s=%s: must be a number from %" PRIu64 " to %" PRIu64 "\n",
		program, row->name, text, row->min, row->max);
	return -EINVAL;
}

static int parse_text(const char *program, const struct option_row *row, const char *text, uint64_t *value)
{
	*value = (uint64_t)(uintptr_t)text;
	if (*text)
		return 0;
	fprintf(stderr, "%s: --%s=: must not be empty\n", program, row->name);
	return -EINVAL;
}

/**
 * option_parse() - parse the value of an option
 * @program: name of the program, for the message of an error
 * @row: the option
 * @text: its text; that of a flag is not regarded
 * @value: receives the value
 *
 * Return: 0, or -EINVAL after one line on stderr.
 */
int option_parse(const char *program, const struct option_row *row, const char *text,
		 uint64_t *value)
{
	if (row->type == OPTION_CHOICE)
		return parse_choice(program, row, text, value);
	if (row->type == OPTION_UINT)
		return parse_uint(program, row, text, value);
	if (row->type == OPTION_TEXT)
		return parse_text(program, row, text, value);
	*value = 1;
	return 0;
}

/**
 * option_help() - print the line of --help of an option
 * @row: the option
 * @of: the part of the program that has the option, NULL if the driver has it
 */
void option_help(const struct option_row *row, const char *of)
{
	char left[32];

	snprintf(left, sizeof(left), "--%s%s", row->name,
		 row->type == OPTION_CHOICE ? "=NAME" : row->type == OPTION_UINT ? "=N" :
		 row->type == OPTION_TEXT   ? "=DIR" : "");
	printf("  %-16s %s%s%s", left, of ? of : "", of ? ": " : "", row->help);
	if (row->type == OPTION_UINT)
		printf(" [%" PRIu64 "]", row->def);
	if (row->type == OPTION_CHOICE) {
		for (const struct choice *c = row->choices; c->name; c++)
			printf("%s%s", c == row->choices ? ": " : ", ", c->name);
		printf(" [%s]", row->choices[row->def].name);
	}
	putchar('\n');
}

/** option_list() - print the names that the options of a table take, a line each */
void option_list(const struct option_row *table)
{
	for (; table->name; table++)
		for (const struct choice *c = table->choices; c && c->name; c++)
			printf("%-10s %-10s %s\n", table->name, c->name, c->help);
}

/**
 * option_complain() - print why getopt_long() did not return an option
 * @program: name of the program
 * @c: what it returned
 * @arg: the argument
 * @name: the option in optopt, if it is a long one, else NULL
 */
void option_complain(const char *program, int c, const char *arg, const char *name)
{
	if (c == ':')
		fprintf(stderr, "%s: %s: needs a value\n", program, arg);
	else if (name)
		fprintf(stderr, "%s: --%s: takes no value\n", program, name);
	else if (optopt)
		fprintf(stderr, "%s: -%c: no such option; see --help\n", program, optopt);
	else
		fprintf(stderr, "%s: %s: no such option; see --help\n", program, arg);
}
