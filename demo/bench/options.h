/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * options.h - the command line of index_bench.
 */
#ifndef DEMO_BENCH_OPTIONS_H
#define DEMO_BENCH_OPTIONS_H

#include "../sync/variants.h"

/* Keys that the index holds in Karnagel et al., HPCA 2014, section 2.1.2. */
#define PRELOAD_PAPER 20000000

enum keys_id {
#define KEYS(id, name, help) KEYS_##id,
#include "options.def"
	NR_KEYS
};

enum deal_id {
#define DEAL(id, name, help) DEAL_##id,
#include "options.def"
	NR_DEALS
};

extern const struct choice keys_choices[NR_KEYS + 1];
extern const struct choice deal_choices[NR_DEALS + 1];

/* Further values: of the options of the index, and whether an option was on the command line. */
#define OPTIONS_MORE                                                                               \
	uint64_t of_index[TREE_OPTIONS_MAX];                                                       \
	bool given[NR_OPTIONS];
#define OPTIONS_DEF "../bench/options.def"
#include "../base/options.h"

int options_parse(struct options *opts, int argc, char **argv);
const char *option_name(enum option_id id);

#endif
