/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * options.h - the command line of tatp_bench.
 */
#ifndef DEMO_TATP_OPTIONS_H
#define DEMO_TATP_OPTIONS_H

#include "tatp.h"

#include "../base/option.h"

/* Exit status for a command line or a log that cannot be carried out. */
#define EXIT_USAGE 2

/* Exit status of a run that a signal ended, as of a shell for SIGINT. */
#define EXIT_INTERRUPTED 130

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

enum switch_id {
#define SWITCH(id, name, help) SWITCH_##id,
#include "options.def"
	NR_SWITCHES
};

extern const struct choice mix_choices[NR_MIXES + 1];
extern const struct choice keys_choices[NR_KEYS + 1];

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
	bool given[NR_OPTIONS];
};

_Static_assert(sizeof(const char *) == sizeof(uint64_t), "a text is one of the values");

int options_parse(struct options *opts, int argc, char **argv);
int options_check(const struct options *opts);
const char *options_file(const struct options *opts);
bool options_fit(const struct options *opts, uint64_t subscribers);
uint32_t options_frames(const struct options *opts, uint32_t pages);
void options_help(void);
void options_list(void);

#endif
