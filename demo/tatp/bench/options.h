/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * options.h - the command line of tatp_bench.
 */
#ifndef DEMO_TATP_OPTIONS_H
#define DEMO_TATP_OPTIONS_H

#include "tatp.h"

#include "../../base/option.h"

/* The mixes: TATP's, a short name of the paper for its first one, and each one alone. */
enum mix {
	MIX_tatp,
	MIX_getsub,
	MIX_first,
	NR_MIXES = MIX_first + NR_TRANSACTIONS,
};

enum keys_id {
#define KEYS(id, name, help) KEYS_##id,
#include "options.def"
	NR_KEYS
};

extern const struct choice mix_choices[NR_MIXES + 1];
extern const struct choice keys_choices[NR_KEYS + 1];

/* Further values: whether an option was on the command line. */
#define OPTIONS_MORE bool given[NR_OPTIONS];
#define OPTIONS_DEF "../tatp/bench/options.def"
#include "../../base/options.h"

int options_parse(struct options *opts, int argc, char **argv);
int options_check(const struct options *opts);
uint64_t options_duration(const struct options *opts);
const char *options_file(const struct options *opts);
bool options_fit(const struct options *opts, uint64_t subscribers);
uint32_t options_frames(const struct options *opts, uint32_t pages);

#endif
