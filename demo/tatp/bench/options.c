// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * options.c - parses the command line of tatp_bench by options.def.
 *
 * An error is one line that names the option and the values that it allows.
 */
#include "options.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char program[] = "tatp_bench";

const struct choice mix_choices[NR_MIXES + 1] = {
	[MIX_tatp] = { "tatp", "all seven, in the shares of TATP" },
	[MIX_getsub] = { "getsub", "get-subscriber-data alone" },
#define TRANSACTION(id, name, share, success, help) [MIX_first + XCT_##id] = { name, help },
#include "transactions.def"
};

const struct choice keys_choices[NR_KEYS + 1] = {
#define KEYS(id, name, help) { name, help },
#include "options.def"
};

#define OPTIONS_ROWS
#include "../../base/options.h"

/* The options of the latches, which latch_option() parses. */
static const bool of_latches[NR_OPTIONS] = {
#define OPT_LATCH(field, name, what, help) [OPTION_ID_##field] = true,
#include "options.def"
};

static int take_latch(void *ctx, unsigned int nr, const char *value)
{
	const char *wrong = of_latches[nr] ? latch_option(option_rows[nr].name, value) : NULL;

	if (!wrong)
		return 0;
	fprintf(stderr, "%s: ", program);
	fprintf(stderr, wrong, value);
	fputc('\n', stderr);
	return -EINVAL;
}

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
	return option_table(program, option_rows, opts->value, opts->given, argc, argv, take_latch);
}

/** options_file() - the file of the log, NULL for memory */
const char *options_file(const struct options *opts)
{
	return opts->log && strcmp(opts->log, "memory") ? opts->log : NULL;
}

static int refuse(const char *what)
{
	fprintf(stderr, "%s: %s\n", program, what);
	return -EINVAL;
}

/* Options that say what to populate and run, which a recovery does not. */
static const enum option_id not_with_recover[] = {
	OPTION_ID_mix,	    OPTION_ID_subscribers, OPTION_ID_keys,
	OPTION_ID_sli,	    OPTION_ID_threads,	   OPTION_ID_pin,
	OPTION_ID_run_seconds, OPTION_ID_run_ms,   OPTION_ID_operations,
	OPTION_ID_warmup,   OPTION_ID_latency,	   OPTION_ID_timeline,
	OPTION_ID_interval, OPTION_ID_group_commit,
	OPTION_ID_helpers,  OPTION_ID_seed,	   OPTION_ID_locks,
	OPTION_ID_latch,    OPTION_ID_means,	   OPTION_ID_fences,
	OPTION_ID_latch_stats, OPTION_ID_attempts,    OPTION_ID_check,
};

static int check_recover(const struct options *opts)
{
	if (!options_file(opts))
		return refuse("--recover: needs --log=FILE");
	for (size_t i = 0; i < sizeof(not_with_recover) / sizeof(*not_with_recover); i++) {
		if (!opts->given[not_with_recover[i]])
			continue;
		fprintf(stderr, "%s: --%s: not with --recover\n", program,
			option_rows[not_with_recover[i]].name);
		return -EINVAL;
	}
	return 0;
}

/* True if a number of bytes fits the machine's memory, else one line on stderr. */
static bool fits(const char *what, uint64_t subscribers, const char *more, double need)
{
	double there = (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);

	if (need <= there)
		return true;
	fprintf(stderr, "%s: %s%" PRIu64 "%s: need up to %.0f MiB of memory, and there are %.0f\n",
		program, what, subscribers, more, need / 0x1p20, there / 0x1p20);
	return false;
}

/** options_fit() - false after one line on stderr if recovery needs more memory than there is */
bool options_fit(const struct options *opts, uint64_t subscribers)
{
	return fits("--recover: subscribers=", subscribers, "",
		    schema_bytes(subscribers, false, opts->pool << 20));
}

/* A pool that is too small for the pages that threads pin would let them wait for each other. */
static int check_pool(const struct options *opts)
{
	uint64_t threads = opts->recover ? 1 : opts->threads;
	uint64_t least = (threads * BUFFER_PINS + 2 * VOLUME_BATCH) * PAGE_BYTES;

	if (!opts->pool || opts->pool << 20 >= least)
		return 0;
	fprintf(stderr, "%s: --pool=%" PRIu64 ": %" PRIu64 " thread%s need %" PRIu64 " MiB\n",
		program, opts->pool, threads, threads > 1 ? "s" : "",
		(least + (1 << 20) - 1) >> 20);
	return -EINVAL;
}

/** options_frames() - frames of the buffer pool for a database of so many pages */
uint32_t options_frames(const struct options *opts, uint32_t pages)
{
	uint64_t frames = (opts->pool << 20) / PAGE_BYTES;

	return frames && frames < pages ? (uint32_t)frames : pages;
}

/* Of a journal, a transaction: two changes of a fifth of them, an array that doubles, a copy. */
#define JOURNAL_BYTES (0.2 * 2 * sizeof(struct change) * 3)

/** options_duration() - duration of the run in nanoseconds; 0 if the transactions end it */
uint64_t options_duration(const struct options *opts)
{
	return opts->run_seconds * 1000000000u + opts->run_ms * 1000000u;
}

/**
 * options_check() - why a command line cannot be carried out
 * @opts: the command line
 *
 * Return: 0, or -EINVAL after one line on stderr.
 */
int options_check(const struct options *opts)
{
	double need;

	if (opts->json && opts->csv)
		return refuse("--json, --csv: one of them");
	if (!!opts->run_seconds + !!opts->run_ms + opts->given[OPTION_ID_operations] > 1)
		return refuse("--duration, --milliseconds, --operations: one of them");
	if (opts->given[OPTION_ID_interval] && !opts->timeline)
		return refuse("--interval: needs --timeline=FILE");
	for (unsigned int i = 0; i < NR_LATCH_ROLES; i++) {
		if (i == LATCH_ROLE_tree || latch_settings.kinds[i] != LATCH_KIND_none ||
		    (opts->threads == 1 && !opts->helpers))
			continue;
		fprintf(stderr, "%s: --latch=%s=none: several threads would destroy the database\n",
			program, latch_role_name(i));
		return -EINVAL;
	}
	if (check_pool(opts))
		return -EINVAL;
	if (opts->recover)
		return check_recover(opts);
	need = schema_bytes(opts->subscribers, !options_file(opts), opts->pool << 20);
	need += (double)opts->warmup * JOURNAL_BYTES;
	if (!options_duration(opts))
		need += (double)opts->operations * JOURNAL_BYTES;
	return fits("--subscribers=", opts->subscribers, ", --operations", need) ? 0 : -EINVAL;
}

/** options_help() - print each option with its values and its default to stdout */
void options_help(void)
{
	puts("Usage: tatp_bench [OPTION]...\n"
	     "Runs the TATP benchmark on a storage manager and verifies the database.\n");
	for (unsigned int i = 0; i < NR_OPTIONS; i++)
		option_help(&option_rows[i], NULL);
	puts("\nExit status: 0 no fault found, 1 a fault found, or memory or a disk full, 2 bad\n"
	     "usage or a log that cannot be recovered, 130 interrupted.");
}

/** options_list() - print the names that options take */
void options_list(void)
{
	option_list(option_rows);
	for (unsigned int i = 0; i < NR_LATCH_ROLES; i++)
		printf("%-10s %-10s %s\n", "role", latch_role_name(i),
		       latch_kind_name(latch_settings.kinds[i]));
	for (unsigned int i = 0; i < NR_LATCH_KINDS; i++)
		printf("%-10s %s\n", "kind", latch_kind_name(i));
}
