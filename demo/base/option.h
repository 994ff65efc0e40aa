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

#include <stdbool.h>
#include <stdint.h>

/* Exit status for a command line, or a file that it names, that cannot be carried out. */
#define EXIT_USAGE 2
/* Exit status of a run that a signal ended, as of a shell for SIGINT. */
#define EXIT_INTERRUPTED 130

/* Values of an OPTION_CHOICE of switch_choices. */
enum switch_id {
	SWITCH_off,
	SWITCH_on,
};

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
 * @words: how a heading names an OPTION_FLAG that is set; what --help calls the value of an
 *	   OPTION_TEXT, as "FILE"; else NULL
 */
struct option_row {
	const char *name;
	enum option_type type;
	const char *help;
	const struct choice *choices;
	uint64_t min, max, def;
	const char *words;
};

extern const struct choice switch_choices[];

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
int option_table(const char *program, const struct option_row *table, uint64_t *values, bool *given,
		 int argc, char **argv, option_fn also);
void option_help(const struct option_row *row, const char *of);
void option_list(const struct option_row *table);

#endif
