/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * feasible.h - whether a command line can be carried out, and the size of the index.
 */
#ifndef DEMO_FEASIBLE_H
#define DEMO_FEASIBLE_H

#include "options.h"

struct index_config config_of(const struct options *opts, uint64_t entries);
uint64_t most_entries(const struct options *opts, const struct index_ops *ops);
int entries_check(const struct options *opts, const struct index_ops *ops, uint64_t entries);
int files_check(const struct options *opts);
int options_check(const struct options *opts, const struct index_ops *ops);

#endif
