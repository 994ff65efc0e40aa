// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * feasible.c - says why a command line cannot be carried out, before anything is done.
 *
 * An error is one line on stderr that names the option.
 */
#include "feasible.h"

#include "output.h"
#include "worker.h"

#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

/* Upper bound of the inserts a second of all threads, to bound the address space. */
#define INSERTS_PER_SECOND 100e6

static int refuse(const char *what)
{
	fprintf(stderr, "index_bench: %s\n", what);
	return EXIT_USAGE;
}

static double memory_bytes(void)
{
	return (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
}

/**
 * config_of() - the configuration of the index of a command line
 * @opts: the command line
 * @entries: maximum number of entries
 */
struct index_config config_of(const struct options *opts, uint64_t entries)
{
	return (struct index_config){
		.threads = (unsigned int)opts->threads,
		.entries = entries,
		.options = opts->of_index,
	};
}

/**
 * most_entries() - the maximum number of entries, or rows, of a run
 * @opts: the command line
 * @ops: the operations of the index
 *
 * If time ends the run, the number that fits into memory is the bound: address space is
 * reserved for it, and memory is taken as inserts need it.
 */
uint64_t most_entries(const struct options *opts, const struct index_ops *ops)
{
	uint64_t counted = opts->warmup + (opts->run_seconds ? 0 : opts->ops);
	struct mix mix = mix_of(opts);
	uint64_t entries = opts->preload + likely_share(counted, mix.share[OP_insert]);
	struct index_config one = config_of(opts, 1000000);
	double fit = memory_bytes() / ops->tree->bytes(&one) * (double)one.entries;
	double more = INSERTS_PER_SECOND * (double)opts->run_seconds *
		      mix.share[OP_insert] / SHARES;

	return more < fit ? entries + (uint64_t)more : entries + (uint64_t)fit;
}

/* Maximum memory of index and journals in bytes; if time ends the run, that of its start. */
static double bytes_needed(const struct options *opts, const struct index_ops *ops)
{
	double changes = (double)(opts->warmup + (opts->run_seconds ? 0 : opts->ops)) / SHARES;
	struct mix mix = mix_of(opts);
	double inserts = changes * mix.share[OP_insert];
	double removes = changes * mix.share[OP_remove];
	struct index_config config = config_of(opts, opts->preload + (uint64_t)inserts);

	/* Each insert and each delete has an entry in a journal. */
	return ops->tree->bytes(&config) + (inserts + removes) * (double)sizeof(struct change);
}

static int check_scheme(const struct options *opts, const struct index_ops *ops)
{
	struct mix mix = mix_of(opts);
	bool writes = opts->replay || mix.share[OP_insert] + mix.share[OP_remove] > 0;
	char possible[CHECK_LEN];

	schemes_allowed(possible, sizeof(possible), opts->index, (unsigned int)opts->threads,
			writes);
	if (!ops) {
		fprintf(stderr, "index_bench: --scheme=%s: --index=%s does not run under it; "
			"possible: %s\n", scheme_choices[opts->scheme].name,
			index_choices[opts->index].name, possible);
		return EXIT_USAGE;
	}
	if (opts->unsafe && scheme_allows(opts->scheme, 2, true))
		return refuse("--unsafe: is for --scheme=none alone");
	if (!opts->unsafe &&
	    !scheme_allows(opts->scheme, (unsigned int)opts->threads, writes)) {
		fprintf(stderr, "index_bench: --scheme=%s: %" PRIu64 " threads that write would "
			"destroy the index; possible: %s, or --unsafe to see it happen\n",
			scheme_choices[opts->scheme].name, opts->threads, possible);
		return EXIT_USAGE;
	}
	return 0;
}

/* What the tree, or its scheme, cannot do in this configuration or on this machine. */
static int check_tree(const struct options *opts, const struct index_ops *ops)
{
	struct index_config config = config_of(opts, opts->preload);
	const struct tree_ops *tree = ops->tree;
	bool deletes = opts->replay || mix_of(opts).share[OP_remove];
	const char *why = tree->no_deletes && deletes ? tree->no_deletes(&config) : NULL;
	char text[CHECK_LEN];

	if (!why && tree->unfit)
		why = tree->unfit(&config, text, sizeof(text));
	if (!why && ops->unfit)
		why = ops->unfit(&config, text, sizeof(text));
	if (why)
		return refuse(why);
	if (opts->fill && !tree->bulk)
		return refuse("--fill: this index is not built from sorted keys");
	if (opts->footprint && !tree->search_counted)
		return refuse("--footprint: this index does not count cache lines");
	if (tree->entries_max && opts->preload > tree->entries_max(&config)) {
		fprintf(stderr, "index_bench: --preload=%" PRIu64 ": at most %" PRIu64
			" IDs here\n", opts->preload, tree->entries_max(&config));
		return EXIT_USAGE;
	}
	return 0;
}

/* The shares of operations and the formats of the output must fit together. */
static int check_shares(const struct options *opts)
{
	if (opts->given[OPTION_ID_update_rate]) {
		if (opts->given[OPTION_ID_updates] || opts->given[OPTION_ID_deletes])
			return refuse("--update-rate: excludes --updates and --deletes");
		if (opts->update_rate + opts->scans > 100)
			return refuse("--update-rate and --scans: must add up to at most 100");
	} else if (opts->updates + opts->deletes + opts->scans > 100) {
		return refuse("--updates, --deletes and --scans: must add up to at most 100");
	}
	if (opts->writers &&
	    (opts->given[OPTION_ID_updates] || opts->given[OPTION_ID_deletes] ||
	     opts->given[OPTION_ID_update_rate] || opts->given[OPTION_ID_scans]))
		return refuse("--writers: excludes --updates, --deletes, --update-rate and "
			      "--scans");
	if (opts->writers > opts->threads)
		return refuse("--writers: at most --threads");
	if (opts->json && opts->csv)
		return refuse("--json, --csv: one of them");
	return 0;
}

/**
 * options_check() - why a command line cannot be carried out
 * @opts: the command line
 * @ops: the operations of the index, NULL if it does not run under the scheme
 *
 * Return: 0, or EXIT_USAGE after one line on stderr.
 */
int options_check(const struct options *opts, const struct index_ops *ops)
{
	int ret = check_shares(opts);
	double need;

	if (!ret)
		ret = check_scheme(opts, ops);
	if (!ret)
		ret = check_tree(opts, ops);
	if (ret || opts->replay)
		return ret;
	need = bytes_needed(opts, ops);
	if (need > memory_bytes()) {
		fprintf(stderr, "index_bench: --preload, --ops: need up to %.0f MiB of memory, and "
			"there are %.0f\n", need / 0x1p20, memory_bytes() / 0x1p20);
		return EXIT_USAGE;
	}
	return 0;
}

/**
 * entries_check() - why an index cannot have a number of entries
 * @opts: the command line, with --replay
 * @ops: the operations of the index
 * @entries: the number
 *
 * Return: 0, or EXIT_USAGE after one line on stderr.
 */
int entries_check(const struct options *opts, const struct index_ops *ops, uint64_t entries)
{
	struct index_config config = config_of(opts, entries ? entries : 1);
	/* The changes are compared with the content. */
	double need = ops->tree->bytes(&config) + (double)entries * sizeof(struct change);

	if (ops->tree->entries_max && entries > ops->tree->entries_max(&config)) {
		fprintf(stderr, "index_bench: --replay=%s: %" PRIu64 " inserts, at most %" PRIu64
			" IDs here\n", opts->replay, entries, ops->tree->entries_max(&config));
		return EXIT_USAGE;
	}
	if (need > memory_bytes()) {
		fprintf(stderr, "index_bench: --replay=%s: needs up to %.0f MiB of memory, and "
			"there are %.0f\n", opts->replay, need / 0x1p20, memory_bytes() / 0x1p20);
		return EXIT_USAGE;
	}
	return 0;
}

/* Options of the generated workload, which operation files contain already. */
static const enum option_id not_with_replay[] = {
	OPTION_ID_preload, OPTION_ID_fill,	  OPTION_ID_ops,     OPTION_ID_run_seconds,
	OPTION_ID_warmup,  OPTION_ID_updates,	  OPTION_ID_deletes, OPTION_ID_update_rate,
	OPTION_ID_scans,   OPTION_ID_scan_length, OPTION_ID_keys,    OPTION_ID_seed,
	OPTION_ID_latency, OPTION_ID_footprint,	  OPTION_ID_unsafe,  OPTION_ID_writers,
};

/**
 * files_check() - why the options of operation files do not fit together
 * @opts: the command line
 *
 * Return: 0, or EXIT_USAGE after one line on stderr.
 */
int files_check(const struct options *opts)
{
	if (opts->generate && opts->replay)
		return refuse("--generate, --replay: one of them");
	if (opts->given[OPTION_ID_deal] && opts->generate)
		return refuse("--deal: not with --generate");
	if (opts->given[OPTION_ID_deal] && opts->deal == DEAL_counter && opts->run_seconds)
		return refuse("--deal=counter: not with --seconds");
	if (opts->generate && opts->writers)
		return refuse("--writers: not with --generate");
	for (size_t i = 0; opts->replay && i < sizeof(not_with_replay) / sizeof(*not_with_replay);
	     i++) {
		if (!opts->given[not_with_replay[i]])
			continue;
		fprintf(stderr, "index_bench: --%s: not with --replay\n",
			option_name(not_with_replay[i]));
		return EXIT_USAGE;
	}
	return 0;
}
