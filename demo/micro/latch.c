// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * latch.c - latch_bench: what a latch around a search costs.
 *
 * It is the microbenchmark of Schröder, "Using modern synchronization mechanisms in
 * databases", 2016, section 2.3.4: threads search one array under one latch. The next key
 * to search for is at an index that they all increase with fetch-and-add. The work of all
 * threads together is the same under each latch, so total times compare latches.
 */
#include "micro.h"
#include "search.h"

#include "../base/region.h"
#include "../base/rng.h"
#include "../base/topology.h"
#include "../bench/threads.h"
#include "../latch/hle.h"
#include "../latch/mutex.h"
#include "../latch/spin.h"
#include "../latch/tas.h"
#include "../latch/ttas.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The program as its messages name it. */
#define PROGRAM "latch_bench"

enum latch_id {
#define LATCH(id, name, help) LATCH_##id,
#include "latch.def"
	NR_LATCHES
};

static const struct choice latch_choices[] = {
#define LATCH(id, name, help) { name, help },
#include "latch.def"
	{ "all", "all latches" },
	{ .name = NULL },
};

#define OPTIONS_DEF "../micro/latch.def"
#define OPTIONS_ROWS
#include "../base/options.h"

/*
 * struct run - what the threads share
 * @latch: the latch, in a cache line of its own
 * @next: index of the next key to search for
 * @keys: the array that is searched, @nr_keys ascending keys
 * @wanted: the keys to search for: @nr_warmup of the warm-up, then those of the measured
 *	    part, @nr in all
 * @start: barrier of the threads
 */
struct run {
	union {
#define LATCH(id, name, help) struct id##_latch id;
#include "latch.def"
	} latch __cacheline_aligned;
	uint64_t next __cacheline_aligned;
	int64_t *keys __cacheline_aligned;
	int64_t *wanted;
	uint64_t nr_warmup, nr;
	unsigned int nr_keys;
	pthread_barrier_t start;
};

/*
 * struct worker - a thread
 * @searches: its searches in the measured part
 * @sum: sum over all of its searches of position_sum()
 * @start_ns: time at which it began the measured part
 * @end_ns: time of its end
 */
struct worker {
	struct run *run;
	pthread_t thread;
	uint64_t searches, sum;
	uint64_t start_ns, end_ns;
} __cacheline_aligned;

/* What the search number @i adds to the sum if it finds position @at, which depends on both. */
static inline uint64_t position_sum(uint64_t i, uint64_t at)
{
	return (2 * i + 1) * at;
}

/* Wait for all threads; one of them sets the next index to @next meanwhile. */
static void phase(struct run *run, uint64_t next)
{
	if (pthread_barrier_wait(&run->start) == PTHREAD_BARRIER_SERIAL_THREAD) {
		/* The region of interest begins with the warm-up, which fills simulated caches. */
		if (!next)
			region_request(REGION_BEGIN);
		run->next = next;
	}
	pthread_barrier_wait(&run->start);
}

/* work_LATCH: search for the keys up to index @end. thread_LATCH: main function of a thread. */
#define LATCH(id, name, help)                                                                      \
	static void work_##id(struct worker *w, uint64_t end)                                      \
	{                                                                                          \
		struct run *run = w->run;                                                          \
		uint64_t i, at, sum = 0, searches = 0;                                             \
                                                                                                   \
		while ((i = __atomic_fetch_add(&run->next, 1, __ATOMIC_RELAXED)) < end) {          \
			int64_t key = run->wanted[i];                                              \
                                                                                                   \
			latch_##id.write(&run->latch.id);                                          \
			at = search_binary(run->keys, run->nr_keys, key);                          \
			latch_##id.write_release(&run->latch.id);                                  \
			sum += position_sum(i, at);                                                \
			searches++;                                                                \
		}                                                                                  \
		w->sum += sum;                                                                     \
		w->searches = searches;                                                            \
	}                                                                                          \
                                                                                                   \
	static void *thread_##id(void *worker)                                                     \
	{                                                                                          \
		struct worker *w = worker;                                                         \
                                                                                                   \
		phase(w->run, 0);                                                                  \
		work_##id(w, w->run->nr_warmup);                                                   \
		phase(w->run, w->run->nr_warmup);                                                  \
		w->start_ns = now_ns();                                                            \
		work_##id(w, w->run->nr);                                                          \
		w->end_ns = now_ns();                                                              \
		return NULL;                                                                       \
	}
#include "latch.def"

static void *(*const thread_mains[NR_LATCHES])(void *) = {
#define LATCH(id, name, help) thread_##id,
#include "latch.def"
};

static int latch_init(struct run *run, unsigned int latch)
{
	switch (latch) {
#define LATCH(id, name, help)                                                                      \
	case LATCH_##id:                                                                           \
		return latch_##id.init(&run->latch.id);
#include "latch.def"
	}
	return 0;
}

static void latch_destroy(struct run *run, unsigned int latch)
{
	switch (latch) {
#define LATCH(id, name, help)                                                                      \
	case LATCH_##id:                                                                           \
		latch_##id.destroy(&run->latch.id);                                                \
		break;
#include "latch.def"
	}
}

/* Start the threads and wait for their end. */
static void run_threads(const struct options *opts, struct run *run, unsigned int latch,
			struct worker *workers)
{
	static unsigned int cpus[TOPOLOGY_MAX];
	unsigned int nr_cpus = opts->pin ? topology_order(cpus) : 0;

	for (unsigned int i = 0; i < opts->threads; i++) {
		int err;

		workers[i] = (struct worker){ .run = run };
		err = thread_start(&workers[i].thread, thread_mains[latch], &workers[i], cpus,
				   nr_cpus, i);
		if (err) {
			/* The threads that were started wait at the barrier and cannot end. */
			fprintf(stderr, PROGRAM ": --threads=%" PRIu64 ": thread %u: %s\n",
				opts->threads, i + 1, strerror(err));
			exit(EXIT_FAILURE);
		}
	}
	for (unsigned int i = 0; i < opts->threads; i++)
		pthread_join(workers[i].thread, NULL);
	region_request(REGION_END);
}

static void print(const struct options *opts, unsigned int latch, double seconds, const char *check)
{
	double rate = (double)opts->searches / seconds;
	struct fields f = { .nr = 0 };

	field_text(&f, "latch", latch_choices[latch].name);
	field_number(&f, "threads", opts->threads);
	field(&f, "pinned", "%s", opts->pin ? "true" : "false");
	field_number(&f, "array_kib", opts->array);
	field_number(&f, "warmup", opts->warmup);
	field_number(&f, "seed", opts->seed);
	field_number(&f, "searches", opts->searches);
	field(&f, "seconds", "%.9f", seconds);
	field(&f, "throughput_ops_s", "%.0f", rate);
	field_text(&f, "check", check);
	if (!fields_print(&f, opts->json, opts->csv))
		printf("  %-10s %12.6f s %14.0f searches/s   check %s\n", latch_choices[latch].name,
		       seconds, rate, check);
}

/* Run one latch. Returns false if a position or the number of searches was wrong. */
static bool run_latch(const struct options *opts, struct run *run, unsigned int latch,
		      struct worker *workers, uint64_t expected)
{
	uint64_t start = UINT64_MAX, end = 0, searches = 0, sum = 0;
	const char *check = "ok";
	int err = latch_init(run, latch);

	if (err) {
		fprintf(stderr, PROGRAM ": --latch=%s: %s\n", latch_choices[latch].name,
			strerror(err));
		return false;
	}
	run_threads(opts, run, latch, workers);
	latch_destroy(run, latch);
	for (unsigned int i = 0; i < opts->threads; i++) {
		const struct worker *w = &workers[i];

		searches += w->searches;
		sum += w->sum;
		start = w->start_ns < start ? w->start_ns : start;
		end = w->end_ns > end ? w->end_ns : end;
	}
	if (searches != opts->searches)
		check = "wrong number of searches";
	else if (sum != expected)
		check = "wrong position";
	if (strcmp(check, "ok"))
		fprintf(stderr, PROGRAM ": --latch=%s: %s\n", latch_choices[latch].name, check);
	/* At least 1 ns, so that the throughput of a short run does not divide by 0. */
	print(opts, latch, (double)(end > start ? end - start : 1) * 1e-9, check);
	return !strcmp(check, "ok");
}

/* Fill both arrays. Returns the sum of position_sum() over all searches. */
static uint64_t fill(const struct options *opts, struct run *run)
{
	uint64_t expected = 0;
	struct rng rng;

	micro_keys(run->keys, run->nr_keys, opts->seed);
	rng_seed(&rng, opts->seed, 1);
	for (uint64_t i = 0; i < run->nr; i++) {
		uint64_t at = rng_below(&rng, run->nr_keys);

		run->wanted[i] = run->keys[at];
		expected += position_sum(i, at);
	}
	return expected;
}

static bool run_all(const struct options *opts, struct run *run, struct worker *workers)
{
	uint64_t expected = fill(opts, run);
	bool right = true;

	if (!opts->json && !opts->csv)
		printf("%" PRIu64 " threads%s, %" PRIu64 " KiB of keys, %" PRIu64 " searches, seed %"
		       PRIu64 "\n", opts->threads, opts->pin ? " pinned" : "", opts->array,
		       opts->searches, opts->seed);
	for (unsigned int latch = 0; latch < NR_LATCHES; latch++)
		if (opts->latch == NR_LATCHES || opts->latch == latch)
			right &= run_latch(opts, run, latch, workers, expected);
	return right;
}

static int bench(const struct options *opts)
{
	struct worker *workers = aligned_alloc(CACHE_LINE, opts->threads * sizeof(*workers));
	static struct run run;
	bool right = false;

	run.nr_keys = (unsigned int)(opts->array * 1024 / sizeof(*run.keys));
	run.nr_warmup = opts->warmup;
	run.nr = opts->warmup + opts->searches;
	run.keys = aligned_alloc(CACHE_LINE, opts->array * 1024);
	run.wanted = calloc(run.nr, sizeof(*run.wanted));
	if (workers && run.keys && run.wanted &&
	    !pthread_barrier_init(&run.start, NULL, (unsigned int)opts->threads)) {
		right = run_all(opts, &run, workers);
		pthread_barrier_destroy(&run.start);
	} else {
		fputs(PROGRAM ": out of memory; a smaller --array or --searches needs less\n",
		      stderr);
	}
	free(run.wanted);
	free(run.keys);
	free(workers);
	return right ? EXIT_SUCCESS : EXIT_FAILURE;
}

int main(int argc, char **argv)
{
	struct options opts;
	int status;

	/* A simulated machine measures nothing before the threads start. */
	region_request(REGION_END);
	status = micro_begin(PROGRAM, "Runs threads that search one array under one latch and "
			     "verifies what they found.", option_rows, opts.value, argc, argv,
			     OPTION_ID_help, OPTION_ID_json, OPTION_ID_csv);
	if (status >= 0)
		return status;
	return output_end(PROGRAM, bench(&opts));
}
