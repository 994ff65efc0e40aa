/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pages.h - the options of the buffer-managed B-tree as an index, as numbers.
 */
#ifndef DEMO_SYNC_PAGES_H
#define DEMO_SYNC_PAGES_H

#include "../base/option.h"

enum pages_option {
#define OPT_UINT(id, name, min, max, def, help) PAGES_OPTION_##id,
#define OPT_CHOICE(id, name, choices, def, help) PAGES_OPTION_##id,
#include "pages.def"
	NR_PAGES_OPTIONS
};

extern const struct option_row pages_options[NR_PAGES_OPTIONS + 1];

#endif
