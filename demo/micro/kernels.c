// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * kernels.c - a loop around each search, into which the search is inlined.
 *
 * The file is compiled once for each level of search.def, with KERNELS as the name of the
 * table. It must contain nothing but these loops.
 */
#include "kernels.h"

#include "search.h"

/* The instructions of a processor that a loop needs beyond those of all x86-64. */
#define NEEDS_forward
#define NEEDS_backward
#define NEEDS_unrolled
#define NEEDS_avx2 SEARCH_AVX2
#define NEEDS_early
#define NEEDS_binary

#define SEARCH(id, name, help)                                                                     \
	NEEDS_##id static uint64_t run_##id(const int64_t *keys, unsigned int nr,                  \
					    const int64_t *wanted, unsigned int nr_wanted)         \
	{                                                                                          \
		uint64_t sum = 0;                                                                  \
                                                                                                   \
		for (unsigned int i = 0; i < nr_wanted; i++)                                       \
			sum += search_##id(keys, nr, wanted[i]);                                   \
		return sum;                                                                        \
	}
#include "search.def"

const kernel_fn KERNELS[NR_SEARCHES] = {
#define SEARCH(id, name, help) run_##id,
#include "search.def"
};
