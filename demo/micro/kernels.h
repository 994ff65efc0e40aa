/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kernels.h - the loops that search_bench measures, compiled at several levels.
 */
#ifndef DEMO_MICRO_KERNELS_H
#define DEMO_MICRO_KERNELS_H

#include <stdint.h>

enum search_id {
#define SEARCH(id, name, help) SEARCH_##id,
#include "search.def"
	NR_SEARCHES
};

enum level_id {
#define LEVEL(id, name, help) LEVEL_##id,
#include "search.def"
	NR_LEVELS
};

/**
 * kernel_fn - search for keys, one after the other
 * @keys: ascending keys
 * @nr: number of keys
 * @wanted: the keys to search for
 * @nr_wanted: number of searches
 *
 * Return: the sum of the positions found.
 */
typedef uint64_t (*kernel_fn)(const int64_t *keys, unsigned int nr, const int64_t *wanted,
			      unsigned int nr_wanted);

#define LEVEL(id, name, help) extern const kernel_fn kernels_##id[NR_SEARCHES];
#include "search.def"

#endif
