/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * options.h - the command line of index_bench.
 */
#ifndef DEMO_BENCH_OPTIONS_H
#define DEMO_BENCH_OPTIONS_H

#include "../sync/variants.h"

/* Exit status for a command line that cannot be carried out. */
#define EXIT_USAGE 2

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

/* Numbers of the rows of options.def. */
enum option_id {
#define OPT_CHOICE(field, name, choices, def, help) OPTION_ID_##field,
#define OPT_UINT(field, name, min, max, def, help) OPTION_ID_##field,
#define OPT_FLAG(field, name, help) OPTION_ID_##field,
#define OPT_TEXT(field, name, help) OPTION_ID_##field,
#include "options.def"
	NR_OPTIONS
};

/**
 * struct options - the values of a command line
 * @value: value of each row of options.def, which also has a name; see option.h
 * @of_index: value of each row of the options of the index
 * @given: the option was on the command line
 */
struct options {
	union {
		uint64_t value[NR_OPTIONS];
		struct {
#define OPT_CHOICE(field, name, choices, def, help) uint64_t field;
#define OPT_UINT(field, name, min, max, def, help) uint64_t field;
#define OPT_FLAG(field, name, help) uint64_t field;
#define OPT_TEXT(field, name, help) const char *field;
#include "options.def"
		};
	};
	uint64_t of_index[TREE_OPTIONS_MAX];
	bool given[NR_OPTIONS];
};

_Static_assert(sizeof(const char *) == sizeof(uint64_t), "a text is one of the values");

int options_parse(struct options *opts, int argc, char **argv);
const char *option_name(enum option_id id);
void options_help(void);
void options_list(void);

#endif
