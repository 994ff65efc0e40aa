// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * options.c - parses the command line of page_bench by options.def.
 *
 * An error is one line that names the option and the values that it allows.
 */
#include "options.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const char program[] = "page_bench";

const struct choice workload_choices[NR_WORKLOADS + 1] = {
#define WORKLOAD(id, name, help) { name, help },
#include "workloads.def"
};

const struct choice data_choices[NR_DATA + 1] = {
#define DATA(id, name, help) { name, help },
#include "options.def"
};

const struct choice order_choices[NR_ORDERS + 1] = {
#define ORDER(id, name, help) { name, help },
#include "options.def"
};

const struct choice news_choices[NR_NEWS + 1] = {
#define NEWS(id, name, help) { name, help },
#include "options.def"
};

const struct choice xmerge_choices[NR_XMERGES + 1] = {
#define XMERGE(id, name, help) { name, help },
#include "options.def"
};

const struct choice io_choices[NR_IO_MODES + 1] = {
#define IO_MODE(id, help) { #id, help },
#include "../io.def"
};

const struct choice latch_choices[NR_LATCH_KINDS + 1] = {
#define PAGE_LATCH(id, readers, help) { #id, help },
#include "../latches.def"
};

#define OPTIONS_ROWS
#include "../../base/options.h"

/**
 * options_parse() - parse the command line
 * @opts: receives the values
 * @argc: as of main()
 * @argv: as of main()
 *
 * Return: 0, or -EINVAL after one line on stderr.
 */
int options_parse(struct options *opts, int argc, char **argv)
{
	if (option_table(program, option_rows, opts->value, opts->given, argc, argv, NULL))
		return -EINVAL;
	if (!opts->file && !opts->given[OPTION_ID_io])
		opts->io = IO_none;
	return 0;
}

static int refuse(const char *what)
{
	fprintf(stderr, "%s: %s\n", program, what);
	return -EINVAL;
}

static int check_file_options(const struct options *opts)
{
	if (!opts->file && opts->io != IO_none)
		return refuse("--io: needs --file=FILE");
	if (!opts->file && (opts->open || opts->check))
		return refuse("--open, --check: need --file=FILE");
	if (opts->file && opts->io == IO_none)
		return refuse("--io=none: not with --file");
	if (opts->read_only && (!opts->open || opts->workload != WORKLOAD_lookups))
		return refuse("--read-only: with --open and --workload=lookups alone");
	return 0;
}

static int check_workload_options(const struct options *opts)
{
	if (opts->workload == WORKLOAD_updates && opts->value_bytes < 16)
		return refuse("--value: --workload=updates needs at least 16 bytes");
	if (!opts->open && !opts->entries &&
	    (opts->workload == WORKLOAD_lookups || opts->workload == WORKLOAD_updates))
		return refuse("--entries=0: the workload needs entries");
	if (opts->workload == WORKLOAD_news && !opts->open && opts->entries < opts->window)
		return refuse("--entries: fewer than --window");
	if (opts->order == ORDER_sorted && opts->data != DATA_integers && options_duration(opts))
		return refuse("--order=sorted: with --data=urls, emails not with --seconds, as the "
			      "entries are sorted before");
	return 0;
}

/**
 * options_check() - why a command line cannot be carried out
 * @opts: the command line
 *
 * Return: 0, or -EINVAL after one line on stderr.
 */
int options_check(const struct options *opts)
{
	uint64_t frames = (opts->pool_mib << 20) / PAGE_BYTES;

	if (opts->json && opts->csv)
		return refuse("--json, --csv: one of them");
	if ((opts->run_seconds != 0) + (opts->run_ms != 0) + opts->given[OPTION_ID_operations] > 1)
		return refuse("--seconds, --milliseconds, --operations: one of them");
	if (opts->period < opts->sample)
		return refuse("--period: less than --sample");
	if (frames > UINT32_MAX)
		return refuse("--pool-mib: more than 2^32 frames");
	if (opts->given[OPTION_ID_until] && opts->xmerge != XMERGE_after)
		return refuse("--until: needs --xmerge=after");
	if (opts->given[OPTION_ID_interval] && !opts->timeline)
		return refuse("--interval: needs --timeline=FILE");
	if (check_file_options(opts))
		return -EINVAL;
	return check_workload_options(opts);
}

/** options_duration() - duration of the run in nanoseconds; 0 if the operations end it */
uint64_t options_duration(const struct options *opts)
{
	return opts->run_seconds * 1000000000u + opts->run_ms * 1000000u;
}

/** options_tree() - the options of trees */
struct page_tree_options options_tree(const struct options *opts)
{
	return (struct page_tree_options){
		.split = opts->split == SWITCH_on,
		.sample = (unsigned int)opts->sample,
		.period = (unsigned int)opts->period,
		.pct = (unsigned int)opts->pct,
		.xmerge = opts->xmerge != XMERGE_off,
		.k = (unsigned int)opts->k,
		.bstar = opts->bstar == SWITCH_on,
	};
}

/** options_help() - print each option with its values and its default to stdout */
void options_help(void)
{
	puts("Usage: page_bench [OPTION]...\n"
	     "Runs threads on B-trees in a buffer pool, and verifies the trees and their content.\n");
	for (unsigned int i = 0; i < NR_OPTIONS; i++)
		option_help(&option_rows[i], NULL);
	puts("\nExit status: 0 no fault found, 1 a fault found, or memory or a disk full, 2 bad\n"
	     "usage or a file that is refused, 130 interrupted.");
}

/** options_list() - print the names that options take */
void options_list(void)
{
	option_list(option_rows);
}
