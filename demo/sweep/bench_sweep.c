// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * bench_sweep.c - runs a benchmark with each of its indexes, schemes or latches in turn, and says
 * which fits.
 *
 * A round runs each variant once with each number of threads, in random order and with the same seed, so
 * that what disturbs the machine for longer than a run disturbs no variant more than others. Must never rank
 * a variant of which a run failed.
 */
#include "sweep.h"

#include "../base/fields.h"
#include "../base/progress.h"
#include "../base/rng.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define OPTIONS_DEF "../sweep/options.def"
#define OPTIONS_ROWS
#include "../base/options.h"

/*
 * Rounds without --rounds. Natively two more than the test needs, so that it decides although one round was
 * disturbed; emulated runs are slow, and only their seeds make them differ.
 */
#define ROUNDS_MORE	2
#define ROUNDS_EMULATED 5

void options_help(void)
{
	puts("Usage: " PROGRAM " [OPTION]... -- PROGRAM [ARGUMENT]...\n"
	     "Runs a benchmark with each of its indexes, schemes or latches, and says which fits.\n");
	for (const struct option_row *row = option_rows; row->name; row++)
		option_help(row, NULL);
	puts("\nExit status: 0, 1 if a variant failed, 2 bad usage, 130 interrupted.");
}

static int take_vary(void *ctx, unsigned int nr, const char *text)
{
	(void)ctx;
	return nr == OPTION_ID_vary ? plan_vary(text) : 0;
}

/* Refuse options of the program that the sweep gives to it. */
static int check_command(char **command)
{
	static const char *const own[] = {"--seed", "--json", "--csv", "--list", "--help"};

	for (char **arg = command + 1; *arg; arg++)
		for (unsigned int i = 0; i < sizeof(own) / sizeof(*own); i++) {
			size_t len = strlen(own[i]);

			if (strncmp(*arg, own[i], len) || ((*arg)[len] && (*arg)[len] != '='))
				continue;
			fprintf(stderr, PROGRAM ": %s: not among the arguments of %s, but before --\n",
				own[i], command[0]);
			return -EINVAL;
		}
	return 0;
}

/* Parse the command line up to "--". Returns 0, or -EINVAL after one line on stderr. */
static int parse(struct options *opts, struct sweep *s, int argc, char **argv)
{
	int nr = 1;

	while (nr < argc && strcmp(argv[nr], "--"))
		nr++;
	if (option_table(PROGRAM, option_rows, opts->value, NULL, nr, argv, take_vary))
		return -EINVAL;
	if (opts->help)
		return 0;
	if (nr + 1 >= argc) {
		fputs(PROGRAM ": no program: " PROGRAM " [OPTION]... -- PROGRAM [ARGUMENT]...\n", stderr);
		return -EINVAL;
	}
	if (opts->json && opts->csv) {
		fputs(PROGRAM ": --json, --csv: one of them\n", stderr);
		return -EINVAL;
	}
	s->command = argv + nr + 1;
	s->emulate = opts->emulate;
	s->seed = opts->seed;
	s->confidence = (double)opts->confidence / 100;
	return check_command(s->command) ?: plan_threads(s, opts->threads);
}

/* Determine variants and rounds. Returns 0, or a negative value after one line on stderr. */
static int prepare(const struct options *opts, struct sweep *s)
{
	int err;

	s->program = run_find(s->command[0]);
	s->launcher = run_find("elide");
	err = s->program && s->launcher ? plan_variants(s, opts->elide) : -ENOMEM;
	if (err)
		return err;
	s->rounds = (unsigned int)opts->rounds;
	if (!s->rounds)
		s->rounds = s->emulate ? ROUNDS_EMULATED : judge_least_rounds(s) + ROUNDS_MORE;
	for (unsigned int i = 0; i < s->nr_groups * s->nr_variants; i++) {
		struct cell *cell = &s->groups[i / s->nr_variants].cells[i % s->nr_variants];

		cell->rate = calloc(s->rounds, sizeof(*cell->rate));
		if (!cell->rate)
			return -ENOMEM;
	}
	return 0;
}

/* If no variant runs, it is because of what all have in common: the first one's reason is said. */
static int check_first_round(const struct sweep *s)
{
	for (const struct group *g = s->groups; g < s->groups + s->nr_groups; g++)
		for (unsigned int i = 0; i < s->nr_variants; i++)
			if (g->cells[i].status != CELL_REFUSED)
				return 0;
	fprintf(stderr, PROGRAM ": no variant runs: %s: %s\n", s->variants[0].name,
		s->groups[0].cells[0].why);
	return -EINVAL;
}

/* Run a round. */
static void run_round(struct sweep *s, unsigned int *order, struct rng *rng)
{
	unsigned int nr = s->nr_groups * s->nr_variants;

	for (unsigned int i = nr; i > 1; i--) {
		unsigned int with = (unsigned int)rng_below(rng, i), swapped = order[i - 1];

		order[i - 1] = order[with];
		order[with] = swapped;
	}
	for (unsigned int i = 0; i < nr && !run_interrupted(); i++) {
		struct group *g = &s->groups[order[i] / s->nr_variants];
		struct cell *cell = &g->cells[order[i] % s->nr_variants];

		progress_show("sweep", (uint64_t)s->done * nr + i, (uint64_t)s->rounds * nr);
		if (cell->status == CELL_RANKED)
			run_cell(s, cell, g->threads, s->done);
	}
	s->done += !run_interrupted();
}

/* Run all rounds. Returns 0, or a negative value after one line on stderr. */
static int run_rounds(struct sweep *s)
{
	unsigned int nr = s->nr_groups * s->nr_variants, *order = calloc(nr, sizeof(*order));
	struct rng rng;
	int err = order ? run_begin(s) : -ENOMEM;

	rng_seed(&rng, s->seed, 0);
	for (unsigned int i = 0; order && i < nr; i++)
		order[i] = i;
	while (!err && s->done < s->rounds && !run_interrupted()) {
		run_round(s, order, &rng);
		if (s->done == 1)
			err = check_first_round(s);
	}
	progress_clear();
	run_end(s);
	free(order);
	return err;
}

/* Judge and print. Returns the exit status. */
static int finish(const struct options *opts, struct sweep *s)
{
	int status = EXIT_SUCCESS;

	s->interrupted = run_interrupted();
	if (s->done && judge(s))
		return EXIT_FAILED;
	if (s->done)
		(opts->json ? print_json : opts->csv ? print_csv : print_text)(s);
	for (unsigned int i = 0; i < s->nr_groups * s->nr_variants; i++)
		if (s->groups[i / s->nr_variants].cells[i % s->nr_variants].status == CELL_FAILED)
			status = EXIT_FAILED;
	return output_end(PROGRAM, s->interrupted ? EXIT_INTERRUPTED : status);
}

int main(int argc, char **argv)
{
	static struct sweep s;
	struct options opts;
	int err;

	if (parse(&opts, &s, argc, argv))
		return EXIT_USAGE;
	if (opts.help) {
		options_help();
		return output_end(PROGRAM, EXIT_SUCCESS);
	}
	run_catch_signals();
	err = prepare(&opts, &s) ?: run_rounds(&s);
	if (err == -ENOMEM)
		fputs(PROGRAM ": out of memory\n", stderr);
	return err == -ENOMEM ? EXIT_FAILED : err ? EXIT_USAGE : finish(&opts, &s);
}
