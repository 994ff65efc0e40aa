// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * tatp_bench.c - runs TATP on a storage manager and verifies the database.
 *
 * It is an ordinary pthread program: the library may be preloaded into it, but no part of the
 * library is linked.
 */
#include "output.h"
#include "watch.h"

#include "../../base/region.h"
#include "../../base/topology.h"
#include "../../bench/threads.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Set by the handler of SIGINT and SIGTERM. */
static volatile sig_atomic_t interrupted;

static void interrupt(int sig)
{
	interrupted = 1;
}

/*
 * struct bench - the data of a run
 * @sm: the storage manager
 * @run: what its threads share
 * @helpers: the helpers
 * @draws: how transactions are drawn
 * @workers: the threads
 * @nr: number of threads
 * @timeline: the timeline
 */
struct bench {
	struct sm sm;
	struct run run;
	struct helpers helpers;
	struct draws draws;
	struct worker *workers;
	unsigned int nr;
	struct timeline timeline;
};

static int complain(const char *what, int err)
{
	fprintf(stderr, "tatp_bench: %s: %s\n", what, strerror(-err));
	return EXIT_FAILURE;
}

static void show_population(uint64_t done, uint64_t all)
{
	progress_show("populating", done, all);
}

/* Make and populate the database. Returns 0 or an exit status after one line on stderr. */
static int prepare(struct bench *b, const struct options *opts)
{
	struct sm_options sm = schema_options(opts->subscribers, opts->seed,
					      now_ns() ^ (uint64_t)getpid() << 40);
	const char *file = options_file(opts);
	int err;

	sm.log = (struct log_options){ .path = file, .group = opts->group_commit,
				       .threads = (unsigned int)opts->threads };
	sm.inherit = opts->sli;
	sm.frames = options_frames(opts, sm.pages);
	err = sm_create(&b->sm, &sm);
	if (err == -EEXIST) {
		fprintf(stderr, "tatp_bench: --log=%s: it or its .pages exists; --recover reads "
			"it\n", file);
		return EXIT_USAGE;
	}
	if (err && err != -ENOMEM && file && b->sm.log.store.fd < 0) {
		fprintf(stderr, "tatp_bench: --log=%s: %s\n", file, strerror(-err));
		return EXIT_USAGE;
	}
	if (!err)
		err = populate(&b->sm, show_population);
	progress_clear();
	return err ? complain("population", err) : 0;
}

static int prepare_workers(struct bench *b, const struct options *opts)
{
	b->nr = (unsigned int)opts->threads;
	b->draws = (struct draws){
		.subscribers = opts->subscribers,
		.nurand = opts->keys == KEYS_nurand ? nurand_of(opts->subscribers) : 0,
		.only = opts->mix == MIX_tatp	? NR_TRANSACTIONS :
			opts->mix == MIX_getsub ? XCT_get_subscriber_data :
						  (unsigned int)opts->mix - MIX_first,
	};
	b->workers = aligned_alloc(CACHE_LINE, b->nr * sizeof(*b->workers));
	if (!b->workers)
		return -ENOMEM;
	memset(b->workers, 0, b->nr * sizeof(*b->workers));
	for (unsigned int i = 0; i < b->nr; i++) {
		struct worker *w = &b->workers[i];

		w->run = &b->run;
		w->operations = options_duration(opts) ? UINT64_MAX :
				share_of(opts->operations, b->nr, i);
		w->warmup = share_of(opts->warmup, b->nr, i);
		client_init(&w->client, &b->sm, i, &b->draws, opts->seed);
		w->latency = opts->latency ? calloc(NR_TRANSACTIONS, sizeof(*w->latency)) : NULL;
		if (opts->latency && !w->latency)
			return -ENOMEM;
	}
	return run_init(&b->run, b->nr, opts->warmup, &b->sm, &b->helpers);
}

static void run_threads(struct bench *b, const struct options *opts)
{
	static unsigned int cpus[TOPOLOGY_MAX];
	unsigned int nr_cpus = opts->pin ? topology_order(cpus) : 0;

	for (unsigned int i = 0; i < b->nr; i++) {
		int err = thread_start(&b->workers[i].thread, worker_main, &b->workers[i], cpus,
				       nr_cpus, i);

		if (err) {
			/* The threads that were started wait at the barrier and cannot end. */
			fprintf(stderr, "tatp_bench: --threads=%u: thread %u: %s\n", b->nr, i + 1,
				strerror(err));
			exit(EXIT_FAILURE);
		}
	}
	watch(&b->run, b->workers, b->nr, opts, &b->timeline, &interrupted);
	for (unsigned int i = 0; i < b->nr; i++)
		worker_join(&b->workers[i]);
	region_request(REGION_END);
}

/* Add up what a thread did in the measured part. */
static void add_worker(const struct worker *w, const struct bench *b, struct outcome *out)
{
	/* At least 1 ns, so that the throughput of a short run does not divide by 0. */
	uint64_t ns = w->end_ns > w->start_ns ? w->end_ns - w->start_ns : 1, done = 0;
	double tps;

	for (unsigned int i = 0; i < NR_TRANSACTIONS; i++) {
		out->tally.done[i] += w->client.tally.done[i] - w->before.done[i];
		out->tally.ok[i] += w->client.tally.ok[i] - w->before.ok[i];
		out->tally.retried[i] += w->client.tally.retried[i] - w->before.retried[i];
		done += w->client.tally.done[i] - w->before.done[i];
		if (w != b->workers && w->latency)
			histogram_add(&b->workers->latency[i], &w->latency[i]);
	}
	tps = (double)done * 1e9 / (double)ns;
	if (w == b->workers)
		out->thread_least = out->thread_most = tps;
	out->thread_least = tps < out->thread_least ? tps : out->thread_least;
	out->thread_most = tps > out->thread_most ? tps : out->thread_most;
	out->thread_mean += tps / b->nr;
}

/* Add up what the threads did. Returns the first error of a thread. */
static int add_up(const struct bench *b, struct outcome *out)
{
	uint64_t start = UINT64_MAX, end = 0;
	int err = 0;

	for (const struct worker *w = b->workers; w < b->workers + b->nr; w++) {
		add_worker(w, b, out);
		start = w->start_ns < start ? w->start_ns : start;
		end = w->end_ns > end ? w->end_ns : end;
		err = err ? err : w->err;
	}
	out->latency = b->workers->latency;
	out->seconds = (double)(end > start ? end - start : 1) * 1e-9;
	out->bytes = (uint64_t)b->sm.volume.nr * PAGE_BYTES;
	out->interrupted = interrupted;
	return err;
}

/* Check the database after a run. @err is why it ended early. Returns true if all is well. */
static bool check(struct bench *b, int err, struct outcome *out)
{
	struct client *clients = calloc(b->nr, sizeof(*clients));
	bool ok = false;

	if (!clients) {
		snprintf(out->check, sizeof(out->check), "out of memory for the check");
		return false;
	}
	for (unsigned int i = 0; i < b->nr; i++)
		clients[i] = b->workers[i].client;
	/* After an error of the log a transaction is neither committed nor rolled back. */
	if (b->sm.log.err)
		snprintf(out->check, sizeof(out->check), "%s; what was committed is in the log",
			 strerror(-b->sm.log.err));
	else
		ok = check_integrity(&b->sm, out->check, sizeof(out->check)) &&
		     verify_content(&b->sm, clients, b->nr, out->check, sizeof(out->check));
	if (ok && err)
		snprintf(out->check, sizeof(out->check), "%s, the database is whole",
			 strerror(-err));
	else if (ok)
		strcpy(out->check, "ok");
	free(clients);
	return ok && !err;
}

/* Run the threads and helpers, and check. Returns the exit status. */
static int measure(struct bench *b, const struct options *opts)
{
	struct outcome out = { .seconds = 0 };
	int err = opts->helpers ? helpers_start(&b->helpers, &b->sm) : 0, helper_err = 0;

	if (err) {
		helpers_stop(&b->helpers);
		return complain("helpers", err);
	}
	if (!opts->warmup)
		run_begin(&b->run);
	run_threads(b, opts);
	counters_read(&out.counters, &b->sm, &b->helpers);
	counters_since(&out.counters, &b->run.before);
	if (opts->helpers)
		helper_err = helpers_stop(&b->helpers);
	err = add_up(b, &out);
	err = err ? err : helper_err;
	if (!opts->check && !err) {
		strcpy(out.check, "off");
	} else if (!check(b, err, &out)) {
		fprintf(stderr, "tatp_bench: %s\n", out.check);
		err = EXIT_FAILURE;
	}
	output_print(opts, &out);
	return err ? EXIT_FAILURE : interrupted ? EXIT_INTERRUPTED : EXIT_SUCCESS;
}

/* Memory of the heap: a profile names latches there by the functions that initialise them. */
static void *heap_zeroed(size_t size)
{
	void *p = aligned_alloc(CACHE_LINE, (size + CACHE_LINE - 1) / CACHE_LINE * CACHE_LINE);

	if (!p) {
		complain("memory", -ENOMEM);
		exit(EXIT_FAILURE);
	}
	return memset(p, 0, size);
}

static int bench(const struct options *opts)
{
	struct bench *b = heap_zeroed(sizeof(*b));
	int ret, err;

	topology_warn("tatp_bench", opts->threads);
	err = watch_timeline(&b->timeline, opts);
	if (err) {
		fprintf(stderr, "tatp_bench: --timeline=%s: %s\n", opts->timeline, strerror(-err));
		free(b);
		return EXIT_USAGE;
	}
	/* A simulated machine measures nothing before the threads start. */
	region_request(REGION_END);
	ret = prepare(b, opts);
	if (!ret) {
		err = prepare_workers(b, opts);
		ret = err ? complain("--threads", err) : measure(b, opts);
		if (!err)
			run_destroy(&b->run);
	}
	for (unsigned int i = 0; i < b->nr && b->workers; i++)
		worker_free(&b->workers[i]);
	free(b->workers);
	err = timeline_close(&b->timeline);
	if (err && !ret)
		ret = complain("--timeline", err);
	sm_destroy(&b->sm);
	free(b);
	return ret;
}

/* Recover the database of a log, and check it. */
static int recover_file(const struct options *opts)
{
	const char *file = options_file(opts);
	struct sm_options sm_opts;
	char why[CHECK_LEN] = "";
	struct identity id;
	struct recovered r;
	static struct sm sm;
	int ret = EXIT_SUCCESS;

	if (log_identity(file, &id, why, sizeof(why)))
		goto refuse;
	if (id.subscribers < 1 || id.subscribers > SUBSCRIBERS_MAX) {
		snprintf(why, sizeof(why), "has %" PRIu64 " subscribers", id.subscribers);
		goto refuse;
	}
	sm_opts = schema_options(id.subscribers, id.seed, id.born);
	if (!options_fit(opts, id.subscribers))
		return EXIT_USAGE;
	sm_opts.log = (struct log_options){ .path = file, .group = true, .threads = 1 };
	sm_opts.frames = options_frames(opts, sm_opts.pages);
	if (sm_open(&sm, &sm_opts, &r, why, sizeof(why))) {
		sm_destroy(&sm);
		goto refuse;
	}
	if (!check_integrity(&sm, why, sizeof(why))) {
		fprintf(stderr, "tatp_bench: %s\n", why);
		ret = EXIT_FAILURE;
	}
	output_recovered(opts, &sm, &r, ret ? why : "ok");
	sm_destroy(&sm);
	return ret;
refuse:
	fprintf(stderr, "tatp_bench: --log=%s: %s\n", file, why);
	return EXIT_USAGE;
}

int main(int argc, char **argv)
{
	struct sigaction action = { .sa_handler = interrupt };
	struct options opts;
	int ret;

	if (options_parse(&opts, argc, argv))
		return EXIT_USAGE;
	if (OPTIONS_TOLD(&opts))
		return EXIT_SUCCESS;
	if (options_check(&opts))
		return EXIT_USAGE;
	section_attempts = (unsigned int)opts.attempts;
	latch_setup();
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	ret = opts.recover ? recover_file(&opts) : bench(&opts);
	return output_end("tatp_bench", ret);
}
