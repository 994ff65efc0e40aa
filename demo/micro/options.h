/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * options.h - the command line of a microbenchmark, made of its list.
 *
 * Included once by a program, which has defined OPTIONS_DEF, the name of its list, and
 * the choices that the list names. It defines struct options, whose values have names, and
 * option_rows, the table for option_table().
 */
#ifndef DEMO_MICRO_OPTIONS_H
#define DEMO_MICRO_OPTIONS_H

#include "../base/option.h"

#include <stddef.h>

enum {
#define OPT_CHOICE(field, name, choices, def, help) OPTION_ID_##field,
#define OPT_UINT(field, name, min, max, def, help) OPTION_ID_##field,
#define OPT_FLAG(field, name, help) OPTION_ID_##field,
#include OPTIONS_DEF
	NR_OPTIONS
};

struct options {
	union {
		uint64_t value[NR_OPTIONS];
		struct {
#define OPT_CHOICE(field, name, choices, def, help) uint64_t field;
#define OPT_UINT(field, name, min, max, def, help) uint64_t field;
#define OPT_FLAG(field, name, help) uint64_t field;
#include OPTIONS_DEF
		};
	};
};

static const struct option_row option_rows[NR_OPTIONS + 1] = {
#define OPT_CHOICE(field, name, choices, def, help)                                                \
	{ name, OPTION_CHOICE, help, choices, 0, 0, def, NULL },
#define OPT_UINT(field, name, min, max, def, help)                                                 \
	{ name, OPTION_UINT, help, NULL, min, max, def, NULL },
#define OPT_FLAG(field, name, help) { name, OPTION_FLAG, help, NULL, 0, 1, 0, NULL },
#include OPTIONS_DEF
};

#endif
