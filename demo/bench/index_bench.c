// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * index_bench.c - runs threads on an index under a lock and verifies its content.
 *
 * The driver uses a table of operations and a list of variants. It must never include
 * a node or a latch. It is an ordinary pthread program: the library may be preloaded
 * into it, but no part of the library may be linked or included.
 */
#include "feasible.h"
#include "load.h"
#include "options.h"
#include "output.h"
#include "../base/region.h"
#include "../base/topology.h"
#include "generate.h"
#include "replay.h"
#include "threads.h"
#include "worker.h"

#include <errno.h>
#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/*
 * Number of operations of a thread if time ends the run: a valid serial number. At 6
 * million operations a second it lasts longer than a day, the longest --seconds.
 */
#define OPS_UNBOUNDED (1ull << 39)

/* Interval of progress_show() in nanoseconds while time runs. */
#define PROGRESS_NS 100000000

/* Show the elapsed time on a terminal until the run ends. */
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

/* Run all threads until they end. If a thread cannot be started, the process exits. */
static void run_threads(struct worker *workers, unsigned int nr, bool pin)
{
	static unsigned int cpus[TOPOLOGY_MAX];
	unsigned int nr_cpus = pin ? topology_order(cpus) : 0;

	for (unsigned int i = 0; i < nr; i++) {
		int err = thread_start(&workers[i].thread, worker_main, &workers[i], cpus, nr_cpus,
				       i);

		if (err) {
			/* The threads that were started wait at the barrier and cannot end. */
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

/* Sum the results of all threads. Durations and footprints are summed in the first thread's. */
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
		if (w->run->ops->counts)
			counts_add(&out->counts, w->run->ops->counts(w->share), &w->counts);
		start = w->start_ns < start ? w->start_ns : start;
		end = w->end_ns > end ? w->end_ns : end;
	}
	/* At least 1 ns, so that the throughput of a short run does not divide by 0. */
	out->seconds = (double)(end > start ? end - start : 1) * 1e-9;
}

/*
 * If the index keeps column data, each insert must have appended a row, also of an
 * existing value, and a merge must not change a row.
 */
static bool check_rows(const struct run *run, const struct worker *workers, unsigned int nr,
		       struct outcome *out)
{
	struct merge_result *merge = &out->merge;
	uint64_t rows = run->mix.preload;

	if (!run->ops->tree->merge)
		return true;
	if (run->ops->tree->merge(run->index->tree, merge)) {
		snprintf(out->check, sizeof(out->check), "out of memory for the merge");
		return false;
	}
	if (!merge->kept)
		return true;
	for (unsigned int i = 0; i < nr; i++)
		rows += workers[i].warmup_inserts + workers[i].done[OP_insert];
	if (merge->rows == rows && !merge->wrong)
		return true;
	snprintf(out->check, sizeof(out->check), "%" PRIu64 " rows of %" PRIu64 " inserts, %" PRIu64
		 " with another value after the merge", merge->rows, rows, merge->wrong);
	return false;
}

/*
 * True if a thread ran out of memory or IDs and ended early. Called after the content was
 * verified.
 */
static bool ran_out(const struct worker *workers, unsigned int nr, struct outcome *out)
{
	for (unsigned int i = 0; i < nr; i++) {
		if (workers[i].err) {
			snprintf(out->check, sizeof(out->check), "thread %u ran out of %s, the "
				 "index is whole", i, shortage(workers[i].err));
			return true;
		}
	}
	return false;
}

static bool check(const struct run *run, const struct worker *workers, unsigned int nr,
		  struct journal **journals, struct outcome *out)
{
	if (!run->ops->tree->check(run->index->tree, out->check, sizeof(out->check)))
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
 * struct bench - the data of a run
 * @run: data that all threads read
 * @workers: the threads
 * @journals: array of the threads' journals, for verify_content()
 * @nr: number of threads
 * @ready: number of threads that are initialised
 * @loader: memory of the index that is reserved for loading
 */
struct bench {
	struct run run;
	struct worker *workers;
	struct journal **journals;
	unsigned int nr, ready;
	struct index_thread *loader;
};

/*
 * Allocate all memory and load the index. Returns 0, -ENOMEM or -ENOSPC; then bench_free() in
 * any case.
 */
static int bench_prepare(struct bench *b, const struct options *opts, const struct index_ops *ops)
{
	struct index_config config = config_of(opts, most_entries(opts, ops));
	int err = 0;

	*b = (struct bench){ .nr = (unsigned int)opts->threads };
	b->run = (struct run){
		.ops = ops,
		.mix = mix_of(opts),
		.writers = (unsigned int)opts->writers,
		.dealt = opts->given[OPTION_ID_deal] && opts->deal == DEAL_counter,
		.turns = opts->ops,
		.scan_length = opts->scan_length,
		.duration_ns = opts->run_seconds * 1000000000u,
		.latency = opts->latency,
		.footprint = opts->footprint,
	};
	b->run.readers = mix_of_readers(&b->run.mix);
	b->workers = aligned_alloc(CACHE_LINE, b->nr * sizeof(*b->workers));
	b->journals = calloc(b->nr, sizeof(*b->journals));
	b->run.index = ops->create(&config);
	if (!b->workers || !b->journals || !b->run.index)
		return -ENOMEM;
	b->loader = ops->tree->attach(b->run.index->tree, 0, opts->fill ? 0 : opts->preload);
	if (!b->loader)
		return -ENOMEM;
	err = load(b->run.index, b->loader, opts->preload, (unsigned int)opts->fill);
	if (ops->idle)
		ops->idle(b->run.index, b->loader);
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
		b->run.ops->tree->detach(b->loader);
	free(b->journals);
	free(b->workers);
}

/* Carry out a run. Returns the exit status. */
static int bench(const struct options *opts, const struct index_ops *ops)
{
	struct outcome out = { .seconds = 0 };
	int status = EXIT_FAILURE, err;
	struct bench b;

	/* A simulated machine measures nothing before the threads start. */
	region_request(REGION_END);
	err = bench_prepare(&b, opts, ops);
	if (err || pthread_barrier_init(&b.run.start, NULL, b.nr)) {
		fprintf(stderr, "index_bench: out of %s before the run; a smaller --preload or "
			"--ops needs less\n", shortage(err));
		goto free_bench;
	}
	run_threads(b.workers, b.nr, opts->pin);
	pthread_barrier_destroy(&b.run.start);
	add_up(b.workers, b.nr, &out);
	if (check(&b.run, b.workers, b.nr, b.journals, &out)) {
		status = EXIT_SUCCESS;
		if (ops->tree->shape)
			ops->tree->shape(b.run.index->tree, &out.shape);
	} else {
		fprintf(stderr, "index_bench: %s\n", out.check);
	}
	output_print(opts, ops, &out);

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
	if (OPTIONS_TOLD(&opts))
		return EXIT_SUCCESS;
	ops = variant_ops(opts.index, opts.scheme);
	ret = files_check(&opts);
	if (!ret && opts.generate) {
		ret = generate(&opts);
	} else if (!ret) {
		ret = options_check(&opts, ops);
		if (!ret)
			topology_warn("index_bench", opts.threads);
		if (!ret)
			ret = opts.replay ? replay(&opts, ops) : bench(&opts, ops);
	}
	return output_end("index_bench", ret);
}
