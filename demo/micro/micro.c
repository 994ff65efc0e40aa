// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * micro.c - the begin of a microbenchmark, and the keys that it searches.
 */
#include "micro.h"

#include "../base/rng.h"

#include <stdio.h>
#include <stdlib.h>

/* Largest difference of neighbouring keys. It is at least 2, so that a miss fits between them. */
#define GAP_MAX 1000

/**
 * micro_begin() - parse the command line of a microbenchmark
 * @program: its name
 * @what: what it does, the second line of --help
 * @table: its options
 * @values: receives the value of each option
 * @argc: argument of main()
 * @argv: argument of main()
 * @help: number of the row of --help
 * @json: number of the row of --json
 * @csv: number of the row of --csv
 *
 * Return: -1 if the benchmark is to run, else the status of the program to exit with.
 */
int micro_begin(const char *program, const char *what, const struct option_row *table,
		uint64_t *values, int argc, char **argv, unsigned int help, unsigned int json,
		unsigned int csv)
{
	if (option_table(program, table, values, NULL, argc, argv, NULL))
		return EXIT_USAGE;
	if (values[help]) {
		printf("Usage: %s [OPTION]...\n%s\n\n", program, what);
		for (const struct option_row *row = table; row->name; row++)
			option_help(row, NULL);
		puts("\nExit status: 0 no fault found, 1 a fault found or out of memory, "
		     "2 bad usage.");
		return output_end(program, EXIT_SUCCESS);
	}
	if (values[json] && values[csv]) {
		fprintf(stderr, "%s: --json, --csv: one of them\n", program);
		return EXIT_USAGE;
	}
	return -1;
}

/**
 * micro_keys() - make unique keys in ascending order, a half of them negative
 * @keys: receives them
 * @nr: number of keys
 * @seed: seed of the run
 */
void micro_keys(int64_t *keys, uint64_t nr, uint64_t seed)
{
	int64_t key = -(int64_t)(nr / 2 * GAP_MAX / 2);
	struct rng rng;

	rng_seed(&rng, seed, 0);
	for (uint64_t i = 0; i < nr; i++) {
		key += 2 + (int64_t)rng_below(&rng, GAP_MAX - 1);
		keys[i] = key;
	}
}
