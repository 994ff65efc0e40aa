// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * index_bench - threads on an index under a lock, and proof that nothing was lost.
 *
 * The driver: it sees a table of operations and a list of variants, never a
 * node or a latch. An ordinary pthread program: it must contain no part of
 * the library, which is preloaded into it or not.
 */
#include "options.h"
#include "worker.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* struct outcome - a finished run */
struct outcome {
	uint64_t done[NR_OPS];
	uint64_t hits[NR_OPS];
	uint64_t ops;
	double seconds;
	char check[128];
};

static const char *const plural[NR_OPS] = {
#define OP(name, plural) plural,
	OPS(OP)
#undef OP
};

static int refuse(const char *what)
{
	fprintf(stderr, "index_bench: %s\n", what);
	return EXIT_USAGE;
}

/* The most an index of half full nodes and the journals can take. */
static double bytes_needed(const struct options *opts, const struct index_ops *ops)
{
	double inserts = (double)opts->ops * (double)opts->updates / 100;
	double removes = (double)opts->ops * (double)opts->deletes / 100;
	double per_key = (double)ops->node_size / ops->node_keys_min;

	/* Every change is recorded by its thread, and copied once for the comparison. */
	return ((double)opts->preload + inserts) * per_key +
	       2 * (inserts + removes) * (double)sizeof(struct change);
}

static int options_check(const struct options *opts, const struct index_ops *ops)
{
	double have = (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
	double need;

	if (!ops) {
		fprintf(stderr, "index_bench: --index=%s: does not run under --scheme=%s\n",
			index_choices[opts->index].name, scheme_choices[opts->scheme].name);
		return EXIT_USAGE;
	}
	if (opts->updates + opts->deletes + opts->scans > 100)
		return refuse("--updates, --deletes and --scans: must add up to at most 100");
	if (!scheme_allows(opts->scheme, (unsigned int)opts->threads,
			   opts->updates + opts->deletes > 0)) {
		fprintf(stderr, "index_bench: --scheme=%s: needs --threads=1, or --updates=0 and "
			"--deletes=0; threads that write would destroy the index\n",
			scheme_choices[opts->scheme].name);
		return EXIT_USAGE;
	}
	need = bytes_needed(opts, ops);
	if (need > have) {
		fprintf(stderr, "index_bench: --preload, --ops: need up to %.0f MiB of memory, and "
			"there are %.0f\n", need / 0x1p20, have / 0x1p20);
		return EXIT_USAGE;
	}
	return 0;
}

/* The even keys, in an order that leaves nodes as full as random inserts do. */
static int load(struct index *index, struct node_pool *pool, uint64_t preload)
{
	for (uint64_t i = 0; i < preload; i++) {
		uint64_t key = 2 * scatter(i, preload);
		int err = pool_reserve(pool, index->ops->nodes_per_insert);

		if (err)
			return err;
		index->ops->load(index, pool, key, value_of(key, WRITER_LOAD, 0));
	}
	return 0;
}

/* Run all threads to their end. A thread that cannot be started ends the process. */
static void run_threads(struct worker *workers, unsigned int nr)
{
	for (unsigned int i = 0; i < nr; i++) {
		int err = pthread_create(&workers[i].thread, NULL, worker_main, &workers[i]);

		if (err) {
			/* Those that run wait at the barrier for ever, so there is no way back. */
			fprintf(stderr, "index_bench: --threads=%u: thread %u: %s\n", nr, i + 1,
				strerror(err));
			exit(EXIT_FAILURE);
		}
	}
	for (unsigned int i = 0; i < nr; i++)
		pthread_join(workers[i].thread, NULL);
}

static void add_up(const struct worker *workers, unsigned int nr, struct outcome *out)
{
	uint64_t start = UINT64_MAX, end = 0;

	for (const struct worker *w = workers; w < workers + nr; w++) {
		for (unsigned int op = 0; op < NR_OPS; op++) {
			out->done[op] += w->done[op];
			out->hits[op] += w->hits[op];
			out->ops += w->done[op];
		}
		start = w->start_ns < start ? w->start_ns : start;
		end = w->end_ns > end ? w->end_ns : end;
	}
	/* A clock tick at least, or a short run would divide by zero. */
	out->seconds = (double)(end > start ? end - start : 1) * 1e-9;
}

static bool check(const struct run *run, const struct worker *workers, unsigned int nr,
		  struct journal *const *journals, struct outcome *out)
{
	for (unsigned int i = 0; i < nr; i++) {
		if (workers[i].err) {
			snprintf(out->check, sizeof(out->check), "thread %u ran out of memory", i);
			return false;
		}
	}
	if (!run->index->ops->check(run->index, out->check, sizeof(out->check)))
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
	strcpy(out->check, "ok");
	return true;
}

/* No string here has a character that JSON would escape: names, numbers, our own messages. */
static void print_json(const struct options *opts, const struct outcome *out)
{
	printf("{\"index\":\"%s\",\"scheme\":\"%s\",\"threads\":%" PRIu64 ",\"preload\":%" PRIu64,
	       index_choices[opts->index].name, scheme_choices[opts->scheme].name, opts->threads,
	       opts->preload);
	printf(",\"updates\":%" PRIu64 ",\"deletes_percent\":%" PRIu64, opts->updates,
	       opts->deletes);
	printf(",\"scans_percent\":%" PRIu64, opts->scans);
	printf(",\"keys\":\"%s\",\"seed\":%" PRIu64 ",\"ops\":%" PRIu64,
	       keys_choices[opts->keys].name, opts->seed, out->ops);
	for (unsigned int op = 0; op < NR_OPS; op++)
		printf(",\"%s\":{\"done\":%" PRIu64 ",\"hits\":%" PRIu64 "}", plural[op],
		       out->done[op], out->hits[op]);
	printf(",\"seconds\":%.9f,\"throughput_ops_s\":%.0f,\"check\":\"%s\"}\n", out->seconds,
	       (double)out->ops / out->seconds, out->check);
}

static void print_text(const struct options *opts, const struct outcome *out)
{
	static const char *const hit[NR_OPS] = {
		[OP_search] = "found",
		[OP_insert] = "new",
		[OP_remove] = "present",
		[OP_scan] = "not empty",
	};

	printf("%s under %s, %" PRIu64 " threads, %" PRIu64 " keys loaded, %s keys, seed %" PRIu64
	       "\n", index_choices[opts->index].name, scheme_choices[opts->scheme].name,
	       opts->threads, opts->preload, keys_choices[opts->keys].name, opts->seed);
	for (unsigned int op = 0; op < NR_OPS; op++) {
		if (out->done[op])
			printf("  %-10s %12" PRIu64 "  %" PRIu64 " %s\n", plural[op],
			       out->done[op], out->hits[op], hit[op]);
	}
	printf("  %-10s %12.6f s\n  %-10s %12.0f operations/s\n  %-10s %12s\n", "time",
	       out->seconds, "throughput", (double)out->ops / out->seconds, "check", out->check);
}

/*
 * struct bench - what a run needs
 * @run: what the threads see
 * @workers: the threads
 * @journals: theirs, in an array for the comparison
 * @nr: how many threads
 * @ready: how many of them are initialised
 * @loader: nodes of the loaded index
 */
struct bench {
	struct run run;
	struct worker *workers;
	struct journal **journals;
	unsigned int nr, ready;
	struct node_pool loader;
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

/* Memory for everything, and the loaded index. 0 or -ENOMEM; bench_free() is right after either. */
static int bench_prepare(struct bench *b, const struct options *opts, const struct index_ops *ops)
{
	int err;

	*b = (struct bench){ .nr = (unsigned int)opts->threads };
	b->run.mix = mix_of(opts);
	b->run.scan_length = opts->scan_length;
	pool_init(&b->loader, ops->node_size);
	b->workers = aligned_alloc(CACHE_LINE, b->nr * sizeof(*b->workers));
	b->journals = calloc(b->nr, sizeof(*b->journals));
	b->run.index = ops->create(&b->loader);
	if (!b->workers || !b->journals || !b->run.index)
		return -ENOMEM;
	err = load(b->run.index, &b->loader, opts->preload);
	while (!err && b->ready < b->nr) {
		unsigned int i = b->ready++;

		/* The first few threads do one more where the division leaves a rest. */
		err = worker_init(&b->workers[i], &b->run, i,
				  opts->ops / b->nr + (i < opts->ops % b->nr));
		b->journals[i] = &b->workers[i].journal;
	}
	return err;
}

static void bench_free(struct bench *b)
{
	if (b->run.index)
		b->run.index->ops->destroy(b->run.index);
	while (b->ready)
		worker_destroy(&b->workers[--b->ready]);
	pool_destroy(&b->loader);
	free(b->journals);
	free(b->workers);
}

/* The whole of a run; returns the exit status. */
static int bench(const struct options *opts, const struct index_ops *ops)
{
	struct outcome out = { .seconds = 0 };
	int status = EXIT_FAILURE;
	struct bench b;

	if (bench_prepare(&b, opts, ops) || pthread_barrier_init(&b.run.start, NULL, b.nr)) {
		fputs("index_bench: out of memory before the run; a smaller --preload or --ops "
		      "needs less\n", stderr);
		goto free_bench;
	}
	run_threads(b.workers, b.nr);
	pthread_barrier_destroy(&b.run.start);
	add_up(b.workers, b.nr, &out);
	if (check(&b.run, b.workers, b.nr, b.journals, &out))
		status = EXIT_SUCCESS;
	(opts->json ? print_json : print_text)(opts, &out);

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
