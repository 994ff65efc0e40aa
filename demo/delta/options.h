/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * options.h - the options of a delta storage as numbers.
 */
#ifndef DEMO_DELTA_OPTIONS_H
#define DEMO_DELTA_OPTIONS_H

#include "../base/option.h"
#include "../index/tree.h"

/* Values of DELTA_OPTION_search. */
enum delta_search {
#define SEARCH(id, name, help) DELTA_SEARCH_##id,
#include "options.def"
};

/* Values of DELTA_OPTION_dictionary and DELTA_OPTION_allocator. */
enum delta_sharing {
#define SHARING(id, name, help) DELTA_SHARING_##id,
#include "options.def"
};

/* Values of DELTA_OPTION_values. */
enum delta_values {
#define VALUES(id, name, help) DELTA_VALUES_##id,
#include "options.def"
};

/* Positions in the array of values, struct index_config @options. */
enum delta_option {
#define OPT_CHOICE(id, name, choices, def, help) DELTA_OPTION_##id,
#define OPT_FLAG(id, name, words, help) DELTA_OPTION_##id,
#include "options.def"
	NR_DELTA_OPTIONS
};

_Static_assert(NR_DELTA_OPTIONS <= TREE_OPTIONS_MAX, "the driver has room for the values");

extern const struct option_row delta_options[NR_DELTA_OPTIONS + 1];

uint64_t delta_option(const struct index_config *config, enum delta_option option);
const char *delta_no_deletes(const struct index_config *config);

#endif
