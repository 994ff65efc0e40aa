/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * option.h - rows of a table of command-line options.
 *
 * A part of a program lists its options in a file options.def and makes a table of
 * them. The driver parses the command line by these tables. The values of the rows of
 * a table are an array of 64-bit numbers, in which a choice has the number of its name
 * and a flag is 0 or 1. The value of a text is the address of the argument, or 0.
 */
#ifndef DEMO_OPTION_H
#define DEMO_OPTION_H

#include <stdint.h>

/* Exit status for a command line, or a file that it names, that cannot be carried out. */
#define EXIT_USAGE 2

/**
 * struct choice - a name that an option may have as its value
 * @name: the name; NULL ends a list
 * @help: description of the choice
 */
struct choice {
	const char *name;
	const char *help;
};

enum option_type {
	OPTION_CHOICE,
	OPTION_UINT,
	OPTION_FLAG,
	OPTION_TEXT,
};

/**
 * struct option_row - an option
 * @name: name on the command line, without --; NULL ends a table
 * @type: a name, a decimal number, a flag without a value, or a text
 * @help: description of the option
 * @choices: the names of an OPTION_CHOICE
 * @min: least value of an OPTION_UINT
 * @max: greatest value of an OPTION_UINT
 * @def: default value
 * @words: how a heading names an OPTION_FLAG that is set, else NULL
 */
struct option_row {
	const char *name;
	enum option_type type;
	const char *help;
	const struct choice *choices;
	uint64_t min, max, def;
	const char *words;
};

/* Maximum number of options of a program. */
#define OPTION_WALK_MAX 512

/**
 * option_fn - receives an option of the command line
 * @ctx: as given to option_walk()
 * @nr: number of its row
 * @text: its value, NULL for a flag
 *
 * Return: 0, or -EINVAL after one line on stderr.
 */
typedef int (*option_fn)(void *ctx, unsigned int nr, const char *text);

int option_value(const char *program, const struct option_row *row, const char *text,
		 uint64_t *value);
int option_walk(const char *program, const struct option_row *const *rows, unsigned int nr,
		int argc, char **argv, option_fn take, void *ctx);
int option_table(const char *program, const struct option_row *table, uint64_t *values, int argc,
		 char **argv);
void option_help(const struct option_row *row, const char *of);
void option_list(const struct option_row *table);

#endif
