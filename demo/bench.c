// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * index_bench - threads on an index under a lock, and proof that nothing was lost.
 *
 * The driver: it sees a table of operations and a list of variants, never a
 * node or a latch. An ordinary pthread program: it must contain no part of
 * the library, which is preloaded into it or not.
 */
#include "options.h"
#include "output.h"
#include "region.h"
#include "topology.h"
#include "worker.h"

#include <errno.h>
#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* More operations than any thread does in the longest --seconds, and a valid serial number. */
#define OPS_UNBOUNDED (1ull << 39)

/* More inserts a second than memory allows any number of threads. */
#define INSERTS_PER_SECOND 100e6

/* Keys loaded, and nanoseconds run, between two looks of whoever watches. */
#define PROGRESS_KEYS (1u << 16)
#define PROGRESS_NS 100000000

static int refuse(const char *what)
{
	fprintf(stderr, "index_bench: %s\n", what);
	return EXIT_USAGE;
}

static double memory_bytes(void)
{
	return (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
}

/* What the index is made for; how many entries at most is for the caller to say. */
static struct index_config config_of(const struct options *opts, uint64_t entries)
{
	return (struct index_config){
		.threads = (unsigned int)opts->threads,
		.entries = entries,
		.binary_search = opts->search == SEARCH_binary,
		.core_dictionaries = opts->dictionary == SHARING_per_core,
		.core_allocators = opts->allocator == SHARING_per_core,
		.texts = opts->values == VALUES_string,
		.rows = opts->rows,
	};
}

/*
 * The most entries, or rows, that the run will ask for. Where time ends it,
 * what memory holds is the bound: address space is reserved for it, and memory
 * taken as it is needed.
 */
static uint64_t most_entries(const struct options *opts, const struct index_ops *ops)
{
	uint64_t counted = opts->warmup + (opts->run_seconds ? 0 : opts->ops);
	uint64_t entries = opts->preload + likely_share(counted, (unsigned int)opts->updates);
	struct index_config one = config_of(opts, 1000000);
	double fit = memory_bytes() / ops->bytes(&one) * (double)one.entries;
	double more = INSERTS_PER_SECOND * (double)opts->run_seconds *
		      (double)opts->updates / 100;

	return more < fit ? entries + (uint64_t)more : entries + (uint64_t)fit;
}

/* The most memory the index and the journals can take; where time ends the run, at its start. */
static double bytes_needed(const struct options *opts, const struct index_ops *ops)
{
	double changes = (double)(opts->warmup + (opts->run_seconds ? 0 : opts->ops)) / 100;
	double inserts = changes * (double)opts->updates;
	double removes = changes * (double)opts->deletes;
	struct index_config config = config_of(opts, opts->preload + (uint64_t)inserts);

	/* Every change is recorded by its thread. */
	return ops->bytes(&config) + (inserts + removes) * (double)sizeof(struct change);
}

/* Options that mean something for one index only. */
static int check_delta(const struct options *opts)
{
	if (opts->index == INDEX_delta)
		return 0;
	if (opts->search || opts->dictionary || opts->allocator || opts->values || opts->rows) {
		fprintf(stderr, "index_bench: --search, --dictionary, --allocator, --values and "
			"--rows: --index=%s has none of them; possible with --index=%s\n",
			index_choices[opts->index].name, index_choices[INDEX_delta].name);
		return EXIT_USAGE;
	}
	return 0;
}

static int check_scheme(const struct options *opts, const struct index_ops *ops)
{
	bool writes = opts->updates + opts->deletes > 0;
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

static int options_check(const struct options *opts, const struct index_ops *ops)
{
	int ret = check_delta(opts);
	struct index_config config;
	double need;

	if (!ret)
		ret = check_scheme(opts, ops);
	if (ret)
		return ret;
	if (opts->updates + opts->deletes + opts->scans > 100)
		return refuse("--updates, --deletes and --scans: must add up to at most 100");
	if (opts->rows && opts->deletes)
		return refuse("--rows: with --deletes=0 only, as rows are deleted by their number");
	if (opts->json && opts->csv)
		return refuse("--json, --csv: one of them");
	config = config_of(opts, opts->preload);
	if (opts->preload > ops->entries_max(&config)) {
		fprintf(stderr, "index_bench: --preload=%" PRIu64 ": at most %" PRIu64 " IDs here\n",
			opts->preload, ops->entries_max(&config));
		return EXIT_USAGE;
	}
	need = bytes_needed(opts, ops);
	if (need > memory_bytes()) {
		fprintf(stderr, "index_bench: --preload, --ops: need up to %.0f MiB of memory, and "
			"there are %.0f\n", need / 0x1p20, memory_bytes() / 0x1p20);
		return EXIT_USAGE;
	}
	return 0;
}

/* The even keys, in an order that leaves nodes as full as random inserts do. */
static int load(struct index *index, struct index_thread *share, uint64_t preload)
{
	int err = 0;

	for (uint64_t i = 0; i < preload && !err; i++) {
		uint64_t key = 2 * scatter(i, preload);

		if (i % PROGRESS_KEYS == 0)
			progress_show("loading", i, preload);
		err = index->ops->reserve(index, share);
		if (!err)
			index->ops->load(index, share, key, value_of(key, WRITER_LOAD, 0));
	}
	progress_clear();
	return err;
}

/* The attributes of a thread: the processor with its number in @cpus, any if there are none. */
static int start(struct worker *worker, const unsigned int *cpus, unsigned int nr_cpus,
		 unsigned int nr)
{
	pthread_attr_t attr;
	cpu_set_t set;
	int err = pthread_attr_init(&attr);

	if (err)
		return err;
	if (nr_cpus) {
		CPU_ZERO(&set);
		CPU_SET(cpus[nr % nr_cpus], &set);
		err = pthread_attr_setaffinity_np(&attr, sizeof(set), &set);
	}
	if (!err)
		err = pthread_create(&worker->thread, &attr, worker_main, worker);
	pthread_attr_destroy(&attr);
	return err;
}

/* While time runs, show how much of it is over. Threads have no counter that could be read. */
static void watch(uint64_t duration_ns)
{
	uint64_t begin = now_ns(), now = begin;
	struct timespec pause = { .tv_nsec = PROGRESS_NS };

	for (; isatty(STDERR_FILENO) && now - begin < duration_ns; now = now_ns()) {
		progress_show("running", now - begin, duration_ns);
		nanosleep(&pause, NULL);
	}
	progress_clear();
}

/* Run all threads to their end. A thread that cannot be started ends the process. */
static void run_threads(struct worker *workers, unsigned int nr, bool pin)
{
	static unsigned int cpus[TOPOLOGY_MAX];
	unsigned int nr_cpus = pin ? topology_order(cpus) : 0;

	for (unsigned int i = 0; i < nr; i++) {
		int err = start(&workers[i], cpus, nr_cpus, i);

		if (err) {
			/* Those that run wait at the barrier for ever, so there is no way back. */
			fprintf(stderr, "index_bench: --threads=%u: thread %u: %s\n", nr, i + 1,
				strerror(err));
			exit(EXIT_FAILURE);
		}
	}
	if (workers->run->duration_ns)
		watch(workers->run->duration_ns);
	for (unsigned int i = 0; i < nr; i++)
		pthread_join(workers[i].thread, NULL);
	region_request(REGION_END);
}

/* Into the first thread's own, which is as good a place as any for the sum. */
static void add_up(struct worker *workers, unsigned int nr, struct outcome *out)
{
	uint64_t start = UINT64_MAX, end = 0;

	out->latency = workers->latency;
	out->footprint = workers->footprint;
	for (const struct worker *w = workers; w < workers + nr; w++) {
		for (unsigned int op = 0; op < NR_OPS; op++) {
			out->done[op] += w->done[op];
			out->hits[op] += w->hits[op];
			out->ops += w->done[op];
		}
		if (w != workers && w->latency)
			histogram_add(out->latency, w->latency);
		if (w != workers && w->footprint)
			footprint_add(out->footprint, w->footprint);
		start = w->start_ns < start ? w->start_ns : start;
		end = w->end_ns > end ? w->end_ns : end;
	}
	/* A clock tick at least, or a short run would divide by zero. */
	out->seconds = (double)(end > start ? end - start : 1) * 1e-9;
}

/* Every insert appended a row, whether its value was new or not, and a merge changes none. */
static bool check_rows(const struct run *run, const struct worker *workers, unsigned int nr,
		       struct outcome *out)
{
	struct merge_result *merge = &out->merge;
	uint64_t rows = run->mix.preload;

	if (!run->rows)
		return true;
	if (run->ops->merge(run->index, merge)) {
		snprintf(out->check, sizeof(out->check), "out of memory for the merge");
		return false;
	}
	for (unsigned int i = 0; i < nr; i++)
		rows += workers[i].warmup_rows + workers[i].done[OP_insert];
	if (merge->rows == rows && !merge->wrong)
		return true;
	snprintf(out->check, sizeof(out->check), "%" PRIu64 " rows of %" PRIu64 " inserts, %" PRIu64
		 " with another value after the merge", merge->rows, rows, merge->wrong);
	return false;
}

/* Whether a thread had to stop early; what it did until then is whole, or it is not said. */
static bool ran_out(const struct worker *workers, unsigned int nr, struct outcome *out)
{
	for (unsigned int i = 0; i < nr; i++) {
		if (workers[i].err) {
			snprintf(out->check, sizeof(out->check), "thread %u ran out of memory, "
				 "the index is whole", i);
			return true;
		}
	}
	return false;
}

static bool check(const struct run *run, const struct worker *workers, unsigned int nr,
		  struct journal **journals, struct outcome *out)
{
	if (!run->ops->check(run->index, out->check, sizeof(out->check)))
		return false;
	if (!verify_content(run->index, run->mix.preload, journals, nr, out->check,
			    sizeof(out->check)))
		return false;
	for (unsigned int i = 0; i < nr; i++) {
		if (workers[i].wrong) {
			snprintf(out->check, sizeof(out->check), "thread %u got %" PRIu64
				 " impossible results", i, workers[i].wrong);
			return false;
		}
	}
	if (ran_out(workers, nr, out) || !check_rows(run, workers, nr, out))
		return false;
	strcpy(out->check, "ok");
	return true;
}

/*
 * struct bench - what a run needs
 * @run: what the threads see
 * @workers: the threads
 * @journals: theirs, in an array for the comparison
 * @nr: how many threads
 * @ready: how many of them are initialised
 * @loader: memory for the keys that are loaded
 */
struct bench {
	struct run run;
	struct worker *workers;
	struct journal **journals;
	unsigned int nr, ready;
	struct index_thread *loader;
};

static struct mix mix_of(const struct options *opts)
{
	struct mix mix = {
		.seed = opts->seed,
		.threads = (unsigned int)opts->threads,
		.keys = opts->keys,
		.preload = opts->preload,
	};

	mix.percent[OP_insert] = (unsigned int)opts->updates;
	mix.percent[OP_remove] = (unsigned int)opts->deletes;
	mix.percent[OP_scan] = (unsigned int)opts->scans;
	mix.percent[OP_search] =
		(unsigned int)(100 - opts->updates - opts->deletes - opts->scans);
	return mix;
}

/* The share of thread @i; the first few do one more where the division leaves a rest. */
static uint64_t share_of(uint64_t all, unsigned int nr, unsigned int i)
{
	return all / nr + (i < all % nr);
}

/* Memory for everything, and the loaded index. 0 or -ENOMEM; bench_free() is right after either. */
static int bench_prepare(struct bench *b, const struct options *opts, const struct index_ops *ops)
{
	struct index_config config = config_of(opts, most_entries(opts, ops));
	int err = 0;

	*b = (struct bench){ .nr = (unsigned int)opts->threads };
	b->run = (struct run){
		.ops = ops,
		.mix = mix_of(opts),
		.scan_length = opts->scan_length,
		.duration_ns = opts->run_seconds * 1000000000u,
		.latency = opts->latency,
		.footprint = opts->footprint,
		.rows = opts->rows,
	};
	b->workers = aligned_alloc(CACHE_LINE, b->nr * sizeof(*b->workers));
	b->journals = calloc(b->nr, sizeof(*b->journals));
	b->run.index = ops->create(&config);
	if (!b->workers || !b->journals || !b->run.index)
		return -ENOMEM;
	b->loader = ops->attach(b->run.index, 0, opts->preload);
	if (!b->loader)
		return -ENOMEM;
	err = load(b->run.index, b->loader, opts->preload);
	while (!err && b->ready < b->nr) {
		unsigned int i = b->ready++;
		uint64_t nr_ops = opts->run_seconds ? OPS_UNBOUNDED :
						      share_of(opts->ops, b->nr, i);

		err = worker_init(&b->workers[i], &b->run, i, share_of(opts->warmup, b->nr, i),
				  nr_ops);
		b->journals[i] = &b->workers[i].journal;
	}
	return err;
}

static void bench_free(struct bench *b)
{
	if (b->run.index)
		b->run.ops->destroy(b->run.index);
	while (b->ready)
		worker_destroy(&b->workers[--b->ready]);
	if (b->loader)
		b->run.ops->detach(b->loader);
	free(b->journals);
	free(b->workers);
}

/* The whole of a run; returns the exit status. */
static int bench(const struct options *opts, const struct index_ops *ops)
{
	struct outcome out = { .seconds = 0 };
	int status = EXIT_FAILURE;
	struct bench b;

	/* What comes before the threads start is set-up. */
	region_request(REGION_END);
	if (bench_prepare(&b, opts, ops) || pthread_barrier_init(&b.run.start, NULL, b.nr)) {
		fputs("index_bench: out of memory before the run; a smaller --preload or --ops "
		      "needs less\n", stderr);
		goto free_bench;
	}
	run_threads(b.workers, b.nr, opts->pin);
	pthread_barrier_destroy(&b.run.start);
	add_up(b.workers, b.nr, &out);
	if (check(&b.run, b.workers, b.nr, b.journals, &out))
		status = EXIT_SUCCESS;
	else
		fprintf(stderr, "index_bench: %s\n", out.check);
	output_print(opts, &out);

free_bench:
	bench_free(&b);
	return status;
}

int main(int argc, char **argv)
{
	const struct index_ops *ops;
	struct options opts;
	int ret;

	if (options_parse(&opts, argc, argv))
		return EXIT_USAGE;
	if (opts.help || opts.list) {
		if (opts.help)
			options_help();
		else
			variants_list();
		return EXIT_SUCCESS;
	}
	ops = variant_ops(opts.index, opts.scheme);
	ret = options_check(&opts, ops);
	if (!ret)
		ret = bench(&opts, ops);
	/* A full disk must not look like a run without a result. */
	if (fflush(stdout) || ferror(stdout)) {
		fprintf(stderr, "index_bench: standard output: %s\n", strerror(errno));
		return EXIT_FAILURE;
	}
	return ret;
}
