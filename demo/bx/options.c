// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * options.c - the tables made of options.def.
 */
#include "bx.h"

static const struct choice fallbacks[] = {
#define FALLBACK(id, name, help) { name, help },
#include "options.def"
	{ NULL, NULL },
};

const struct option_row bx_options[NR_BX_OPTIONS + 1] = {
#define OPT_UINT(id, name, min, max, def, help)                                                    \
	{ name, OPTION_UINT, help, NULL, min, max, def, NULL },
#define OPT_CHOICE(id, name, choices, def, help)                                                   \
	{ name, OPTION_CHOICE, help, choices, 0, 0, def, NULL },
#include "options.def"
};
