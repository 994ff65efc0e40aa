/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cmd.h - what the commands of `elide` share: their table, options, messages.
 *
 * Must never hold the work of a command.
 */
#ifndef ELIDE_CMD_H
#define ELIDE_CMD_H

#include <stddef.h>

#include "../lib/compiler.h"

/* Exit codes of every command but run. */
#define EXIT_CONDITION 1 /* a condition asked for does not hold */
#define EXIT_USAGE     2 /* usage, or a file that cannot be read */

/* Exit codes of run, those of env(1) and timeout(1), and rtmgrind's. */
#define EXIT_MACHINE      2 /* the machine asked for cannot be emulated */
#define EXIT_LAUNCHER     125 /* a fault of the launcher itself, or usage */
#define EXIT_NOT_RUNNABLE 126
#define EXIT_NOT_FOUND    127

/**
 * struct command - one of elide's commands.
 * @run: gets argv with the command's name first, returns the exit code
 */
struct command {
	const char *name;
	int (*run)(int argc, char **argv);
	const char *help;
};

int cmd_run(int argc, char **argv);
int cmd_report(int argc, char **argv);
int cmd_doctor(int argc, char **argv);
int cmd_ctl(int argc, char **argv);
int cmd_compare(int argc, char **argv);
int cmd_top(int argc, char **argv);
int cmd_diff(int argc, char **argv);
int cmd_tunables(int argc, char **argv);

/**
 * say() - write one line "elide: ..." to standard error.
 */
void say(const char *format, ...) __printf(1, 2);

/**
 * struct option_desc - an option, for parsing and for --help alike.
 * @key:  its short letter, or a number above 255 if it has none
 * @name: without the dashes
 * @arg:  name of its argument, "[NAME]" if optional, NULL if it takes none
 */
struct option_desc {
	int key;
	const char *name;
	const char *arg;
	const char *help;
};

/* Every command has it, last in its list. */
/* clang-format off */
#define OPTION_HELP {'h', "help", NULL, "print this and end"}
/* clang-format on */

enum { OPTIONS_END = -1, OPTIONS_BAD = -2 };

/* More options than any command has; a command's list is checked against it. */
#define OPTIONS_MAX 64

/**
 * options_next() - the next option of a command line, in getopt_long(3)'s manner.
 * @options: of @nr, at most OPTIONS_MAX
 * @stop_early: end at the first argument that is not an option
 *
 * Sets getopt's optarg and optind.
 *
 * Return: the key, OPTIONS_END, or OPTIONS_BAD after one line that names the nearest option.
 */
int options_next(int argc, char **argv, const struct option_desc *options, size_t nr,
		 int stop_early);

/**
 * options_help() - print usage and options to standard output.
 * @usage: what follows "usage: elide "
 * @about: a sentence
 */
void options_help(const char *usage, const char *about, const struct option_desc *options,
		  size_t nr);

/**
 * option_number() - an option's argument that is a number.
 * @option: its name, for the message
 *
 * Return: 0, or -EINVAL after one line.
 */
int option_number(const char *option, const char *text, double least, double most, double *to);

#endif
