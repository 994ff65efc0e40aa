// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * search.c - search_bench: what a search inside a node costs.
 *
 * It is the microbenchmark of Schröder, "Using modern synchronization mechanisms in
 * databases", 2016, section 2.2.6: the mean time of a search in an array of sorted keys.
 * Before a search is measured, its result is checked for each key, between all keys and
 * beyond them; while it is measured, the sum of its results is.
 */
#include "kernels.h"
#include "micro.h"

#include "../base/base.h"
#include "../base/rng.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* The program as its messages name it. */
#define PROGRAM "search_bench"

/*
 * Searches between two readings of the clock: at 2 ns a search, which is the fastest one,
 * the 40 ns of a reading are 0.3 %. Their keys are drawn outside the measured time and take
 * 64 KiB, so that they stay in the second-level cache.
 */
#define BATCH 8192

/* The sizes that are measured if none is given: powers of two. */
#define KEYS_FROM 4
#define KEYS_TO 1024

static const struct choice search_choices[] = {
#define SEARCH(id, name, help) { name, help },
#include "search.def"
	{ "all", "all searches that the processor has instructions for" },
	{ .name = NULL },
};

static const struct choice level_choices[] = {
#define LEVEL(id, name, help) { name, help },
#include "search.def"
	{ "all", "all levels" },
	{ .name = NULL },
};

#define OPTIONS_DEF "../micro/search.def"
#define OPTIONS_ROWS
#include "../base/options.h"

static const kernel_fn *const kernels[NR_LEVELS] = {
#define LEVEL(id, name, help) kernels_##id,
#include "search.def"
};

/* The processor has the instructions of a search. */
static bool usable(unsigned int search)
{
	return search != SEARCH_avx2 || __builtin_cpu_supports("avx2");
}

/* Search for one key. */
static uint64_t find(kernel_fn kernel, const int64_t *keys, unsigned int nr, int64_t key)
{
	return kernel(keys, nr, &key, 1);
}

/* True if a search finds each key, and the place of a key between and beyond them. */
static bool finds_all(kernel_fn kernel, const int64_t *keys, unsigned int nr)
{
	for (unsigned int i = 0; i < nr; i++)
		if (find(kernel, keys, nr, keys[i]) != i ||
		    find(kernel, keys, nr, keys[i] - 1) != i ||
		    find(kernel, keys, nr, keys[i] + 1) != i + 1)
			return false;
	return !find(kernel, keys, nr, INT64_MIN) && find(kernel, keys, nr, INT64_MAX) == nr;
}

/*
 * struct measurement - one search at one level on one size
 * @search: number of the search
 * @level: number of the level
 * @keys: number of keys
 * @searches: number of searches
 * @ns: nanoseconds of all searches
 * @right: all positions were right
 */
struct measurement {
	unsigned int search, level, keys;
	uint64_t searches, ns;
	bool right;
};

/* Search for random present keys. */
static void measure(struct measurement *m, const int64_t *keys, uint64_t seed)
{
	kernel_fn kernel = kernels[m->level][m->search];
	static int64_t wanted[BATCH];
	struct rng rng;

	m->right = finds_all(kernel, keys, m->keys);
	m->ns = 0;
	rng_seed(&rng, seed, 1);
	for (uint64_t left = m->searches; left;) {
		unsigned int nr = left < BATCH ? (unsigned int)left : BATCH;
		uint64_t expected = 0, begin;

		for (unsigned int i = 0; i < nr; i++) {
			uint64_t at = rng_below(&rng, m->keys);

			wanted[i] = keys[at];
			expected += at;
		}
		begin = now_ns();
		m->right &= kernel(keys, m->keys, wanted, nr) == expected;
		m->ns += now_ns() - begin;
		left -= nr;
	}
}

static double ns_of(const struct measurement *m)
{
	return (double)m->ns / (double)m->searches;
}

static void print(const struct options *opts, const struct measurement *m)
{
	struct fields f = { .nr = 0 };

	field_text(&f, "level", level_choices[m->level].name);
	field_text(&f, "search", search_choices[m->search].name);
	field_number(&f, "keys", m->keys);
	field_number(&f, "searches", m->searches);
	field_number(&f, "seed", opts->seed);
	field(&f, "seconds", "%.9f", (double)m->ns * 1e-9);
	field(&f, "ns_per_search", "%.3f", ns_of(m));
	field_text(&f, "check", m->right ? "ok" : "wrong position");
	if (!fields_print(&f, opts->json, opts->csv))
		printf(" %9.2f", ns_of(m));
	if (!m->right)
		fprintf(stderr, PROGRAM ": --search=%s --level=%s --keys=%u: wrong position\n",
			search_choices[m->search].name, level_choices[m->level].name, m->keys);
}

/* True if an option selects a row of its list; the last number selects all. */
static bool selected(uint64_t value, unsigned int row, unsigned int nr)
{
	return value == nr || value == row;
}

/* The heading of the table of a level. */
static void heading(const struct options *opts, unsigned int level)
{
	if (opts->json || opts->csv)
		return;
	printf("-%s, ns a search, mean of %" PRIu64 ", seed %" PRIu64 "\n  %8s",
	       level_choices[level].name, opts->searches, opts->seed, "keys");
	for (unsigned int i = 0; i < NR_SEARCHES; i++)
		if (selected(opts->search, i, NR_SEARCHES))
			printf(" %9s", search_choices[i].name);
	putchar('\n');
}

/* Measure all selected searches of a level on one size. Returns false if one was wrong. */
static bool run_size(const struct options *opts, unsigned int level, const int64_t *keys,
		     unsigned int nr)
{
	bool text = !opts->json && !opts->csv, right = true;

	if (text)
		printf("  %8u", nr);
	for (unsigned int i = 0; i < NR_SEARCHES; i++) {
		struct measurement m = { i, level, nr, opts->searches, 0, false };

		if (!selected(opts->search, i, NR_SEARCHES))
			continue;
		if (!usable(i)) {
			if (text)
				printf(" %9s", "-");
			continue;
		}
		measure(&m, keys, opts->seed);
		print(opts, &m);
		right &= m.right;
	}
	if (text)
		putchar('\n');
	return right;
}

static int run(const struct options *opts)
{
	unsigned int from = opts->keys ? (unsigned int)opts->keys : KEYS_FROM;
	unsigned int to = opts->keys ? (unsigned int)opts->keys : KEYS_TO;
	/* A cache line, so that vectors do not cross one more often than need be. */
	int64_t *keys = aligned_alloc(CACHE_LINE, (to / 8 + 1) * CACHE_LINE);
	bool right = true;

	if (!keys) {
		fprintf(stderr, PROGRAM ": --keys=%u: out of memory\n", to);
		return EXIT_FAILURE;
	}
	for (unsigned int level = 0; level < NR_LEVELS; level++) {
		if (!selected(opts->level, level, NR_LEVELS))
			continue;
		heading(opts, level);
		for (unsigned int nr = from; nr <= to; nr *= 2) {
			micro_keys(keys, nr, opts->seed);
			right &= run_size(opts, level, keys, nr);
		}
	}
	free(keys);
	return right ? EXIT_SUCCESS : EXIT_FAILURE;
}

int main(int argc, char **argv)
{
	struct options opts;
	int status = micro_begin(PROGRAM, "Measures searches in an array of sorted keys and "
				 "verifies their results.", option_rows, opts.value, argc, argv,
				 OPTION_ID_help, OPTION_ID_json, OPTION_ID_csv);

	if (status >= 0)
		return status;
	if (opts.search < NR_SEARCHES && !usable((unsigned int)opts.search)) {
		fprintf(stderr, PROGRAM ": --search=%s: this processor has no AVX2\n",
			search_choices[opts.search].name);
		return EXIT_USAGE;
	}
	return output_end(PROGRAM, run(&opts));
}
