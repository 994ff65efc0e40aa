/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * options.h - the command line of index_bench.
 */
#ifndef DEMO_OPTIONS_H
#define DEMO_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

/* Exit status for a command line that cannot be carried out. */
#define EXIT_USAGE 2

/* Keys the index holds in Karnagel et al., HPCA 2014, section 2.1.2. */
#define PRELOAD_PAPER 20000000

/* struct options - a value for each row of options.def; choices by number */
struct options {
#define OPT_CHOICE(field, name, choices, def, help) unsigned int field;
#define OPT_UINT(field, name, min, max, def, help) uint64_t field;
#define OPT_FLAG(field, name, help) bool field;
#include "options.def"
#undef OPT_CHOICE
#undef OPT_UINT
#undef OPT_FLAG
};

int options_parse(struct options *opts, int argc, char **argv);
void options_help(void);

#endif
