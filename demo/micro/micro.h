/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * micro.h - what the microbenchmarks have in common.
 */
#ifndef DEMO_MICRO_MICRO_H
#define DEMO_MICRO_MICRO_H

#include "../base/fields.h"
#include "../base/option.h"

int micro_begin(const char *program, const char *what, const struct option_row *table,
		uint64_t *values, int argc, char **argv, unsigned int help, unsigned int json,
		unsigned int csv);
void micro_keys(int64_t *keys, uint64_t nr, uint64_t seed);

#endif
