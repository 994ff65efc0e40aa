/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * options.h - command lines: one list of options for parsing and for --help.
 *
 * Must never act on an option.
 */
#ifndef ELIDE_OPTIONS_H
#define ELIDE_OPTIONS_H

#include <stddef.h>
#include <stdint.h>

/**
 * option_values - the list of an option's valid arguments.
 *
 * Return: the argument with number @nth, from 0; NULL beyond the last. It is valid for ever.
 */
typedef const char *option_values(size_t nth);

/* Defines such a list. */
#define OPTION_VALUES(function, ...)                                                               \
	const char *function(size_t nth)                                                           \
	{                                                                                          \
		static const char *const words[] = {__VA_ARGS__};                                  \
                                                                                                   \
		return nth < sizeof(words) / sizeof(*words) ? words[nth] : NULL;                   \
	}

/**
 * struct option_desc - an option, for parsing, for --help and for completion alike.
 * @key:  its short letter, or a number above 255 if it has none
 * @name: without the dashes
 * @arg:  name of its argument, "[NAME]" if optional, NULL if it takes none
 * @values: its valid arguments if these are words, else NULL; an option with the name of a
 *          tunable has the tunable's
 */
struct option_desc {
	int key;
	const char *name;
	const char *arg;
	const char *help;
	option_values *values;
};

/* The option that every command has, last in its list. */
/* clang-format off */
#define OPTION_HELP {'h', "help", NULL, "print this and end"}
/* clang-format on */

enum { OPTIONS_END = -1, OPTIONS_BAD = -2 };

/* The most options that a command may have. */
#define OPTIONS_MAX 64

/* The most words that option_word() chooses from. */
#define OPTION_WORDS_MAX 16

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
 * options_describe() - from now on options_help() calls @to instead of printing; NULL: it prints.
 *
 * So a caller gets the options of a command by running it with --help. Not thread-safe.
 */
void options_describe(void (*to)(const char *usage, const struct option_desc *options, size_t nr));

/**
 * option_number() - parse an option's argument that is a number.
 * @option: its name, for the message
 *
 * Return: 0, or -EINVAL after one line.
 */
int option_number(const char *option, const char *text, double least, double most, double *to);

/**
 * option_time() - parse an option's argument that is a time: a number with ms, s (the default), m or h.
 * @option: its name, for the message
 * @range:  the bounds in words, for the message
 * @least_ms, @most_ms: the bounds
 *
 * Return: 0, or -EINVAL after one line.
 */
int option_time(const char *option, const char *text, const char *range, double least_ms, double most_ms,
		uint64_t *ms);

/**
 * option_word() - parse an option's argument that is one of several words.
 * @option: the option's name, for the message
 * @values: the words, at most OPTION_WORDS_MAX
 * @to:     set to the number of the word
 *
 * Return: 0, or -EINVAL after one line that names the nearest word.
 */
int option_word(const char *option, const char *text, option_values *values, size_t *to);

#endif
