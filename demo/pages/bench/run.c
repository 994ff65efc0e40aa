// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * run.c - the threads of page_bench, and what the main thread does meanwhile: it shows the
 * progress, writes the timeline, and ends the run.
 */
#include "run.h"
#include "../xmerge.h"

#include "../../base/progress.h"
#include "../../base/timeline.h"
#include "../../base/region.h"
#include "../../base/topology.h"
#include "../../bench/threads.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Interval at which the main thread looks whether the run is to end. */
#define WATCH_NS 10000000

/**
 * work_tree() - make or open the next tree of a workload
 * @w: the run
 * @name: its name
 * @create: make it
 *
 * Return: 0 or -errno.
 */
int work_tree(struct work *w, const char *name, bool create)
{
	struct page_tree_options options = options_tree(w->opts);
	struct page_tree *tree = &w->trees[w->nr_trees];
	int err = create ? page_tree_create(tree, &w->pool, name, &options) :
			   page_tree_open(tree, &w->pool, name, &options);

	/* XMerge sees the trees while they are being added. */
	if (!err)
		__atomic_store_n(&w->nr_trees, w->nr_trees + 1, __ATOMIC_RELEASE);
	return err;
}

/**
 * work_xmerge() - XMerge in the tree that has a page
 * @w: the run
 * @frame: the page
 * @id: its number when it was chosen
 */
void work_xmerge(struct work *w, struct frame *frame, uint32_t id)
{
	unsigned int nr = __atomic_load_n(&w->nr_trees, __ATOMIC_ACQUIRE);

	for (unsigned int i = 0; i < nr; i++)
		if (xmerge(&w->trees[i], frame, id))
			return;
}

static void step(struct worker *worker, struct histogram *latency)
{
	uint64_t before = latency ? now_ns() : 0;

	worker->err = worker->work->workload->step(worker);
	if (latency)
		histogram_count(latency, now_ns() - before);
}

/* Up to @nr operations, until the run ends. */
static void steps(struct worker *worker, uint64_t nr, struct histogram *latency)
{
	/* Relaxed, without a partner: the thread ends soon after the flag is set. */
	while (nr-- && !worker->err && !__atomic_load_n(&worker->work->stop, __ATOMIC_RELAXED))
		step(worker, latency);
}

/* Sums of a run at a time. */
struct sums {
	uint64_t done;
	uint64_t pages;
	struct page_tree_counts tree;
	struct pool_counts pool;
};

/* Add up or take away numbers, of which a struct consists. */
static void add(uint64_t *to, const uint64_t *from, size_t bytes, uint64_t sign)
{
	for (size_t i = 0; i < bytes / sizeof(*to); i++)
		to[i] += sign * __atomic_load_n(&from[i], __ATOMIC_RELAXED);
}

static void sum_up(const struct work *w, const struct worker *workers, struct sums *sums)
{
	memset(sums, 0, sizeof(*sums));
	for (unsigned int i = 0; i < w->opts->threads && workers; i++)
		sums->done += worker_done(&workers[i]);
	sums->pages = pool_pages(&w->pool);
	for (unsigned int i = 0; i < w->nr_trees; i++)
		add((uint64_t *)&sums->tree, (const uint64_t *)&w->trees[i].counts,
		    sizeof(sums->tree), 1);
	pool_count(&w->pool, &sums->pool);
}

/* The measured part begins: all threads are between two operations. */
static void begin(struct work *w, const struct worker *workers)
{
	sum_up(w, workers, w->before);
	/* Release: who sees the time sees the sums. */
	__atomic_store_n(&w->begin_ns, now_ns(), __ATOMIC_RELEASE);
}

/* Operations that are not measured, until all threads have carried them out. */
static void warm_up(struct worker *worker)
{
	struct work *w = worker->work;

	steps(worker, worker->warmup, NULL);
	memcpy(worker->before, worker->done, sizeof(worker->before));
	worker->waited_before = worker->tree.waited;
	pthread_barrier_wait(&w->start);
	if (!worker->nr)
		begin(w, worker);
	pthread_barrier_wait(&w->start);
}

/**
 * worker_main() - carry out operations until their number is reached or the run ends
 * @arg: the worker
 *
 * Return: NULL; the worker has the error, if any.
 */
void *worker_main(void *arg)
{
	struct worker *worker = arg;
	struct work *w = worker->work;

	pthread_barrier_wait(&w->start);
	if (w->opts->warmup)
		warm_up(worker);
	if (!worker->nr)
		region_request(REGION_BEGIN);
	worker->start_ns = now_ns();
	steps(worker, worker->operations, worker->latency);
	worker->end_ns = now_ns();
	/* A thread that cannot go on ends the others, too. */
	if (worker->err)
		__atomic_store_n(&w->stop, true, __ATOMIC_RELAXED);
	__atomic_fetch_sub(&w->running, 1, __ATOMIC_RELEASE);
	return NULL;
}

static const char *const columns[] = {
	"operations", "reads", "writes",
#define COUNT(id, help) #id,
#include "../tree-counts.def"
};

#define NR_COLUMNS (sizeof(columns) / sizeof(*columns))

_Static_assert(NR_COLUMNS <= TIMELINE_COLUMNS, "there is room for all columns");

/* The sums of @columns. */
static const uint64_t *column_sums(const struct sums *sums, uint64_t *to)
{
	unsigned int nr = 0;

	to[nr++] = sums->done;
	to[nr++] = sums->pool.reads;
	to[nr++] = sums->pool.writes;
#define COUNT(id, help) to[nr++] = sums->tree.id;
#include "../tree-counts.def"
	return to;
}

/* Show how far the run is; @now is 0 before its measured part. */
static void show(const struct work *w, const struct sums *sums, uint64_t now)
{
	const struct options *opts = w->opts;

	if (!now)
		progress_show("warming up", sums->done, opts->warmup);
	else if (options_duration(opts))
		progress_show("running", now - w->begin_ns, options_duration(opts));
	else
		progress_show("running", sums->done - w->before->done, opts->operations);
}

static bool shifts(const struct options *opts)
{
	return opts->workload == WORKLOAD_news && opts->shift_ms;
}

/* Time between two looks at the run, ns. */
static uint64_t pause_of(const struct options *opts, const struct timeline *timeline)
{
	uint64_t pause = WATCH_NS;

	if (timeline->file && timeline->interval < pause)
		pause = timeline->interval;
	if (shifts(opts) && opts->shift_ms * 1000000u / SHIFTS_PARTS < pause)
		pause = opts->shift_ms * 1000000u / SHIFTS_PARTS;
	return pause;
}

/* Wait until all threads have ended, and end them after the time or a signal. */
static void watch(struct work *w, const struct worker *workers, struct timeline *timeline)
{
	const struct options *opts = w->opts;
	uint64_t begin = 0, now, duration = options_duration(opts);
	uint64_t pause_ns = pause_of(opts, timeline), to[NR_COLUMNS];
	struct timespec pause = { .tv_nsec = (long)pause_ns };
	struct sums sums;

	while (__atomic_load_n(&w->running, __ATOMIC_ACQUIRE)) {
		now = now_ns();
		/* Acquire: pairs with the release in begin(). */
		if (!begin && (begin = __atomic_load_n(&w->begin_ns, __ATOMIC_ACQUIRE))) {
			timeline_begin(timeline, column_sums(w->before, to));
			now = now > begin ? now : begin;
		}
		if (w->interrupted() || (begin && duration && now - begin >= duration))
			__atomic_store_n(&w->stop, true, __ATOMIC_RELAXED);
		sum_up(w, workers, &sums);
		if (begin && timeline_due(timeline, now - begin))
			timeline_line(timeline, now - begin, column_sums(&sums, to));
		if (shifts(opts) && begin)
			shifts_sample(&w->shifts, now, sums.done, sums.tree.contention_splits);
		show(w, &sums, begin ? now : 0);
		nanosleep(&pause, NULL);
	}
	progress_clear();
	if (!timeline->file)
		return;
	timeline_begin(timeline, column_sums(w->before, to));
	sum_up(w, workers, &sums);
	timeline_line(timeline, now_ns() - w->begin_ns, column_sums(&sums, to));
}

static int start_threads(struct work *w, struct worker *workers)
{
	static unsigned int cpus[TOPOLOGY_MAX];
	unsigned int nr_cpus = w->opts->pin ? topology_order(cpus) : 0;

	for (unsigned int i = 0; i < w->opts->threads; i++) {
		int err = thread_start(&workers[i].thread, worker_main, &workers[i], cpus, nr_cpus,
				       i);

		if (err) {
			/* The threads that were started wait at the barrier and cannot end. */
			fprintf(stderr, "page_bench: --threads=%" PRIu64 ": thread %u: %s\n",
				w->opts->threads, i + 1, strerror(err));
			exit(EXIT_FAILURE);
		}
	}
	return 0;
}

static int prepare_worker(struct work *w, struct worker *worker, unsigned int nr)
{
	const struct options *opts = w->opts;

	worker->work = w;
	worker->nr = nr;
	worker->operations = options_duration(opts) ? UINT64_MAX :
			     share_of(opts->operations, (unsigned int)opts->threads, nr);
	worker->warmup = share_of(opts->warmup, (unsigned int)opts->threads, nr);
	rng_seed(&worker->rng, opts->seed, nr);
	page_tree_thread_init(&worker->tree, opts->seed ^ 0x5eed, nr);
	if (opts->latency) {
		worker->latency = calloc(1, sizeof(*worker->latency));
		if (!worker->latency)
			return -ENOMEM;
	}
	return w->workload->prepare ? w->workload->prepare(worker) : 0;
}

static uint64_t merged(const struct work *w)
{
	uint64_t sum = 0;

	for (unsigned int i = 0; i < w->nr_trees; i++)
		sum += __atomic_load_n(&w->trees[i].counts.xmerges, __ATOMIC_RELAXED);
	return sum;
}

/*
 * --xmerge=after: XMerge for each page in memory, in random order, until a round frees no page, or
 * so many are freed that the pages in use are @opts->until per cent of those at the begin.
 */
static void merge_after(struct work *w)
{
	uint64_t least = pool_pages(&w->pool) * w->opts->until / 100, before;
	struct rng rng;

	rng_seed(&rng, w->opts->seed, UINT32_MAX);
	do {
		before = merged(w);
		for (uint32_t i = 0; i < w->pool.nr && pool_pages(&w->pool) > least; i++) {
			struct frame *frame = &w->pool.frames[rng_below(&rng, w->pool.nr)];
			uint32_t id = frame_id(frame);

			if (id)
				work_xmerge(w, frame, id);
		}
	} while (merged(w) > before && pool_pages(&w->pool) > least && !w->interrupted());
}

static void time_merge(struct work *w, struct outcome *out)
{
	uint64_t tsc = __builtin_ia32_rdtsc(), start = now_ns(), cpu = thread_ns();
	uint64_t ns;

	merge_after(w);
	cpu = thread_ns() - cpu;
	ns = now_ns() - start;
	tsc = __builtin_ia32_rdtsc() - tsc;
	out->merge_seconds = (double)ns * 1e-9;
	/* Others may have had the processor meanwhile, and the counter went on. */
	out->merge_cycles = (double)tsc * (double)cpu / (double)(ns ? ns : 1);
}

/* Number of operations that a thread did in the measured part. */
static uint64_t measured(const struct worker *t)
{
	uint64_t sum = 0;

	for (unsigned int i = 0; i < NR_KINDS; i++)
		sum += t->done[i] - t->before[i];
	return sum;
}

/* Add up what the threads did. */
static void add_up(struct work *w, struct worker *workers, struct outcome *out)
{
	uint64_t begin = UINT64_MAX, end = 0;

	for (struct worker *t = workers; t < workers + w->opts->threads; t++) {
		for (unsigned int i = 0; i < NR_KINDS; i++)
			out->done[i] += t->done[i] - t->before[i];
		out->eighth[8 * (t - workers) / (ptrdiff_t)w->opts->threads] += measured(t);
		out->waited += t->tree.waited - t->waited_before;
		out->wrong += t->wrong;
		out->err = out->err ? out->err : t->err;
		w->updates += t->changes;
		if (t->latency && t != workers)
			histogram_add(workers->latency, t->latency);
		begin = t->start_ns < begin ? t->start_ns : begin;
		end = t->end_ns > end ? t->end_ns : end;
	}
	out->latency = workers->latency;
	workers->latency = NULL;
	/* At least 1 ns, so that the throughput of a short run does not divide by 0. */
	out->seconds = (double)(end > begin ? end - begin : 1) * 1e-9;
}

/** outcome_done() - number of operations of all kinds */
uint64_t outcome_done(const struct outcome *out)
{
	uint64_t sum = 0;

	for (unsigned int i = 0; i < NR_KINDS; i++)
		sum += out->done[i];
	return sum;
}

/**
 * run() - run the threads
 * @w: the run, whose trees are loaded
 * @out: receives what they did; @out->latency is to be freed
 *
 * Return: 0 or -errno if they could not begin.
 */
int run(struct work *w, struct outcome *out)
{
	unsigned int nr = (unsigned int)w->opts->threads;
	struct worker *workers = aligned_alloc(CACHE_LINE, nr * sizeof(*workers));
	struct timeline timeline;
	struct sums before, after;
	int err, closed;

	err = timeline_open(&timeline, w->opts->timeline, columns, NR_COLUMNS,
			    w->opts->interval * 1000000u);
	if (!err && !workers)
		err = -ENOMEM;
	if (!err)
		memset(workers, 0, nr * sizeof(*workers));
	for (unsigned int i = 0; i < nr && !err; i++)
		err = prepare_worker(w, &workers[i], i);
	if (!err)
		err = -pthread_barrier_init(&w->start, NULL, nr);
	if (err)
		goto free_workers;
	w->running = nr;
	w->before = &before;
	out->pages_loaded = pool_pages(&w->pool);
	if (!w->opts->warmup)
		begin(w, workers);
	else
		sum_up(w, NULL, &before);
	start_threads(w, workers);
	watch(w, workers, &timeline);
	for (unsigned int i = 0; i < nr; i++)
		pthread_join(workers[i].thread, NULL);
	if (w->opts->xmerge == XMERGE_after)
		time_merge(w, out);
	region_request(REGION_END);
	pthread_barrier_destroy(&w->start);
	sum_up(w, NULL, &after);
	add((uint64_t *)&after, (const uint64_t *)&before, sizeof(after), -1ull);
	out->pages_before = before.pages;
	out->tree = after.tree;
	out->pool = after.pool;
	add_up(w, workers, out);
free_workers:
	for (unsigned int i = 0; i < nr && workers; i++)
		free(workers[i].latency);
	free(workers);
	closed = timeline_close(&timeline);
	return err ? err : closed;
}
