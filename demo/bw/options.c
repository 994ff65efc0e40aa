// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * options.c - the table made of options.def.
 */
#include "bw.h"

const struct option_row bw_options[NR_BW_OPTIONS + 1] = {
#define OPT_UINT(id, name, min, max, def, help)                                                    \
	{ name, OPTION_UINT, help, NULL, min, max, def, NULL },
#include "options.def"
};
