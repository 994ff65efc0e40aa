// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * option.c - parses a command line by tables of rows.
 *
 * An error is one line that names the option and the values that it allows. The parser
 * never guesses and never exits.
 */
#include "option.h"

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const struct choice switch_choices[] = {
	[SWITCH_off] = { "off", "no" },
	[SWITCH_on] = { "on", "yes" },
	{ NULL, NULL },
};

/* What getopt_long() returns for the first option: a number that no character has. */
#define FIRST_LONG 256

static int parse_choice(const char *program, const struct option_row *row, const char *text,
			uint64_t *value)
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

static int parse_uint(const char *program, const struct option_row *row, const char *text,
		      uint64_t *value)
{
	char *end;

	errno = 0;
	*value = strtoull(text, &end, 10);
	/* strtoull() also accepts blanks and signs, and negates a negative number. */
	if (*text >= '0' && *text <= '9' && !*end && !errno && *value >= row->min &&
	    *value <= row->max)
		return 0;
	fprintf(stderr, "%s: --%s=%s: must be a number from %" PRIu64 " to %" PRIu64 "\n", program,
		row->name, text, row->min, row->max);
	return -EINVAL;
}

static int parse_text(const char *program, const struct option_row *row, const char *text,
		      uint64_t *value)
{
	*value = (uint64_t)(uintptr_t)text;
	if (*text)
		return 0;
	fprintf(stderr, "%s: --%s=: must not be empty\n", program, row->name);
	return -EINVAL;
}

/**
 * option_value() - parse the value of an option
 * @program: the program, which the message names
 * @row: the option
 * @text: the value on the command line; of no meaning for a flag
 * @value: receives the value
 *
 * Return: 0, or -EINVAL after one line on stderr.
 */
int option_value(const char *program, const struct option_row *row, const char *text,
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

/* Print why getopt_long() returned @c; optopt has the option, @arg the argument. */
static void complain(const char *program, const struct option_row *const *rows, int c,
		     const char *arg)
{
	if (c == ':')
		fprintf(stderr, "%s: %s: needs a value\n", program, arg);
	else if (optopt >= FIRST_LONG)
		fprintf(stderr, "%s: --%s: takes no value\n", program,
			rows[optopt - FIRST_LONG]->name);
	else if (optopt)
		fprintf(stderr, "%s: -%c: no such option; see --help\n", program, optopt);
	else
		fprintf(stderr, "%s: %s: no such option; see --help\n", program, arg);
}

/**
 * option_walk() - call a function for each option of a command line
 * @program: the program, which messages name
 * @rows: all options
 * @nr: number of options, at most OPTION_WALK_MAX
 * @argc: argument of main()
 * @argv: argument of main()
 * @take: the function
 * @ctx: its first argument
 *
 * Return: 0, or -EINVAL after one line on stderr.
 */
int option_walk(const char *program, const struct option_row *const *rows, unsigned int nr,
		int argc, char **argv, option_fn take, void *ctx)
{
	struct option longopts[OPTION_WALK_MAX + 1] = { 0 };
	int c;

	for (unsigned int i = 0; i < nr; i++) {
		longopts[i].name = rows[i]->name;
		longopts[i].has_arg = rows[i]->type == OPTION_FLAG ? no_argument :
								     required_argument;
		longopts[i].val = FIRST_LONG + (int)i;
	}
	opterr = 0;
	while ((c = getopt_long(argc, argv, ":", longopts, NULL)) != -1) {
		if (c < FIRST_LONG) {
			complain(program, rows, c, argv[optind - 1]);
			return -EINVAL;
		}
		if (take(ctx, (unsigned int)(c - FIRST_LONG), optarg))
			return -EINVAL;
	}
	if (optind < argc) {
		fprintf(stderr, "%s: %s: not an option; see --help\n", program, argv[optind]);
		return -EINVAL;
	}
	return 0;
}

/*
 * struct table - context of take_value()
 * @program: the program
 * @rows: its options
 * @values: the value of each option
 * @given: whether each option was on the command line, or NULL
 * @also: called with each option after its value was parsed, or NULL
 */
struct table {
	const char *program;
	const struct option_row *rows;
	uint64_t *values;
	bool *given;
	option_fn also;
};

static int take_value(void *ctx, unsigned int nr, const char *text)
{
	const struct table *table = ctx;
	int err = option_value(table->program, &table->rows[nr], text, &table->values[nr]);

	if (table->given)
		table->given[nr] = true;
	return !err && table->also ? table->also(NULL, nr, text) : err;
}

/**
 * option_table() - parse the command line of a program that has one table of options
 * @program: the program, which messages name
 * @table: the options
 * @values: receives the value of each option
 * @given: receives whether each option was on the command line, or NULL
 * @argc: argument of main()
 * @argv: argument of main()
 * @also: called with each option after its value was parsed, its first argument is NULL; or NULL
 *
 * Return: 0, or -EINVAL after one line on stderr.
 */
int option_table(const char *program, const struct option_row *table, uint64_t *values, bool *given,
		 int argc, char **argv, option_fn also)
{
	struct table ctx = { program, table, values, given, also };
	const struct option_row *rows[OPTION_WALK_MAX];
	unsigned int nr;

	for (nr = 0; nr < OPTION_WALK_MAX && table[nr].name; nr++) {
		rows[nr] = &table[nr];
		values[nr] = table[nr].def;
		if (given)
			given[nr] = false;
	}
	return option_walk(program, rows, nr, argc, argv, take_value, &ctx);
}

/**
 * option_help() - print a line of --help
 * @row: the option
 * @of: the part of the program that has the option, NULL if the program itself has it
 */
void option_help(const struct option_row *row, const char *of)
{
	const char *value = row->type == OPTION_CHOICE ? "NAME" :
			    row->type == OPTION_UINT   ? "N" :
			    row->type == OPTION_TEXT   ? row->words : NULL;
	char left[48];

	snprintf(left, sizeof(left), "--%s%s%s", row->name, value ? "=" : "", value ? value : "");
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

/** option_list() - print the names that the options of a table take as values */
void option_list(const struct option_row *table)
{
	for (; table->name; table++)
		for (const struct choice *c = table->choices; c && c->name; c++)
			printf("%-10s %-10s %s\n", table->name, c->name, c->help);
}
