/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * options.h - the command line of a program, made of its list.
 *
 * Included by a file that has defined
 *
 *	OPTIONS_DEF	the name of the list, as seen from here
 *	OPTIONS_MORE	further members of struct options, if there are any
 *
 * it defines the numbers of the options and struct options, whose values have names. Included by a
 * file that has defined OPTIONS_ROWS, too, and the choices that the list names, it also defines
 * option_rows, the table of the options.
 */
#ifndef DEMO_OPTIONS_H
#define DEMO_OPTIONS_H

#include "option.h"

#include <stdbool.h>
#include <stddef.h>

enum option_id {
#define OPT_CHOICE(field, name, choices, def, help) OPTION_ID_##field,
#define OPT_UINT(field, name, min, max, def, help) OPTION_ID_##field,
#define OPT_FLAG(field, name, help) OPTION_ID_##field,
#define OPT_TEXT(field, name, what, help) OPTION_ID_##field,
#include OPTIONS_DEF
	NR_OPTIONS
};

/**
 * struct options - the values of a command line
 * @value: value of each option, which also has a name; see option.h
 */
struct options {
	union {
		uint64_t value[NR_OPTIONS];
		struct {
#define OPT_CHOICE(field, name, choices, def, help) uint64_t field;
#define OPT_UINT(field, name, min, max, def, help) uint64_t field;
#define OPT_FLAG(field, name, help) uint64_t field;
#define OPT_TEXT(field, name, what, help) const char *field;
#include OPTIONS_DEF
		};
	};
#ifdef OPTIONS_MORE
	OPTIONS_MORE
#endif
};

_Static_assert(sizeof(const char *) == sizeof(uint64_t), "a text is one of the values");

/* Of a program with the flags help and list: each prints what its flag asks for. */
void options_help(void);
void options_list(void);

/* Is that all that the command line asks for? A macro, as not each program has these two flags. */
#define OPTIONS_TOLD(opts) \
	((opts)->help ? (options_help(), true) : (opts)->list ? (options_list(), true) : false)

#endif

#ifdef OPTIONS_ROWS
static const struct option_row option_rows[NR_OPTIONS + 1] = {
#define OPT_CHOICE(field, name, choices, def, help)                                                \
	{ name, OPTION_CHOICE, help, choices, 0, 0, def, NULL },
#define OPT_UINT(field, name, min, max, def, help)                                                 \
	{ name, OPTION_UINT, help, NULL, min, max, def, NULL },
#define OPT_FLAG(field, name, help) { name, OPTION_FLAG, help, NULL, 0, 1, 0, NULL },
#define OPT_TEXT(field, name, what, help) { name, OPTION_TEXT, help, NULL, 0, 0, 0, what },
#include OPTIONS_DEF
};
#endif
