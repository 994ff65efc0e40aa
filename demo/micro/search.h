/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * search.h - searches in an array of sorted keys, as in a node of a tree.
 *
 * They are those of Schröder, "Using modern synchronization mechanisms in databases",
 * 2016, section 2.2.6. Each returns the lower bound: the number of the first of the @nr
 * ascending @keys that is not below @key, @nr if there is none. Which of their branches
 * become conditional moves is left to the compiler, as it was there.
 */
#ifndef DEMO_MICRO_SEARCH_H
#define DEMO_MICRO_SEARCH_H

#include "../base/base.h"

static __inline_always unsigned int search_forward(const int64_t *keys, unsigned int nr,
						   int64_t key)
{
	unsigned int i = 0;

	while (i < nr && keys[i] < key)
		i++;
	return i;
}

static __inline_always unsigned int search_backward(const int64_t *keys, unsigned int nr,
						    int64_t key)
{
	unsigned int i = nr;

	while (i && keys[i - 1] >= key)
		i--;
	return i;
}

static __inline_always unsigned int search_unrolled(const int64_t *keys, unsigned int nr,
						    int64_t key)
{
	unsigned int i;

	for (i = 0; i + 4 <= nr; i += 4) {
		if (keys[i] >= key)
			return i;
		if (keys[i + 1] >= key)
			return i + 1;
		if (keys[i + 2] >= key)
			return i + 2;
		if (keys[i + 3] >= key)
			return i + 3;
	}
	return i + search_forward(keys + i, nr - i, key);
}

/* Functions with AVX2 instructions; the compiler ends them with VZEROUPPER. */
#define SEARCH_AVX2 __attribute__((target("avx2")))

typedef int64_t search_vector __attribute__((vector_size(32), aligned(8), may_alias));
typedef double search_lanes __attribute__((vector_size(32)));

SEARCH_AVX2 static inline unsigned int search_avx2(const int64_t *keys, unsigned int nr,
						   int64_t key)
{
	const search_vector bound = { key, key, key, key };
	unsigned int i;

	for (i = 0; i + 4 <= nr; i += 4) {
		search_vector below = *(const search_vector *)(keys + i) < bound;
		/* A bit a key, in the order of the keys: 1 if the key is below. */
		int bits = __builtin_ia32_movmskpd256((search_lanes)below);

		if (bits != 0xf)
			return i + (unsigned int)__builtin_ctz(~(unsigned int)bits);
	}
	return i + search_forward(keys + i, nr - i, key);
}

static __inline_always unsigned int search_early(const int64_t *keys, unsigned int nr, int64_t key)
{
	unsigned int from = 0, to = nr;

	while (from < to) {
		unsigned int middle = from + (to - from) / 2;

		if (keys[middle] == key)
			return middle;
		if (keys[middle] < key)
			from = middle + 1;
		else
			to = middle;
	}
	return from;
}

static __inline_always unsigned int search_binary(const int64_t *keys, unsigned int nr, int64_t key)
{
	unsigned int from = 0, to = nr;

	while (from < to) {
		unsigned int middle = from + (to - from) / 2;

		if (keys[middle] < key)
			from = middle + 1;
		else
			to = middle;
	}
	return from;
}

#endif
