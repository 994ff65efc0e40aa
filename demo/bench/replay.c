// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * replay.c - runs operation files on an index and verifies each outcome.
 *
 * The files run one after the other, each with new threads, as in Schröder, "Using modern
 * synchronization mechanisms in databases", 2016, section 6.1. The time of a file is that
 * from the start of its first thread to the end of its last one. File 0, which loads the
 * index, is not in the sum. Each operation must succeed with the value of its record, and
 * at the end the index must have what the files inserted and did not delete.
 */
#include "replay.h"

#include "feasible.h"
#include "opfile.h"
#include "output.h"
#include "threads.h"
#include "verify.h"
#include "../base/region.h"
#include "../base/topology.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Interval of progress_show() in nanoseconds. */
#define PROGRESS_NS 100000000

/* Number of a record if there is none. */
#define NO_RECORD UINT64_MAX

struct replayer;

/*
 * struct replay - a run of operation files
 * @opts: the command line
 * @ops: the operations of the index
 * @index: the index
 * @files: the files
 * @nr_files: number of files
 * @file: the file that runs
 * @threads: the threads
 * @next: with DEAL_counter, number of the next record; on a line of its own
 * @outcome: the results
 * @result: those of the files
 */
struct replay {
	const struct options *opts;
	const struct index_ops *ops;
	struct index *index;
	struct opfile *files;
	unsigned int nr_files;
	const struct opfile *file;
	struct replayer *threads;
	pthread_barrier_t start;
	uint64_t next __cacheline_aligned;
	struct outcome outcome __cacheline_aligned;
	struct replay_result result;
};

/*
 * struct replayer - a thread
 * @run: the run
 * @thread: its handle
 * @nr: its number
 * @share: memory of the index that is reserved for it; kept from file to file
 * @begun: number of records of the file that it began; another thread shows the progress
 * @failed: number of operations that did not succeed with their values, of all files
 * @first: the first record of the file that failed, or NO_RECORD
 * @start_ns, @end_ns: time of its start and its end
 * @cpu_ns: processor time that it used between the two
 * @err: 0, or -ENOMEM or -ENOSPC if it ended early
 */
struct replayer {
	struct replay *run;
	pthread_t thread;
	unsigned int nr;
	struct index_thread *share;
	uint64_t begun;
	uint64_t failed;
	uint64_t first;
	uint64_t start_ns, end_ns;
	uint64_t cpu_ns;
	int err;
} __cacheline_aligned;

/* Keys are signed in a file and unsigned in an index: the order is the same. */
static uint64_t key_in_index(int64_t key)
{
	return (uint64_t)key ^ 1ull << 63;
}

/* Run an operation. Returns 1 if it succeeded, 0 if not, or -ENOMEM or -ENOSPC. */
static int act(struct replayer *t, const struct record *record)
{
	struct index *index = t->run->index;
	const struct index_ops *ops = index->ops;
	uint64_t key = key_in_index(record->key), value;
	int err;

	switch (record->op) {
	case OPFILE_INSERT:
		err = ops->reserve(index, t->share);
		return err ? err : ops->insert(index, t->share, key, record->value);
	case OPFILE_DELETE:
		err = index_reserve_remove(index, t->share);
		return err ? err : ops->remove(index, t->share, key, &value) &&
					   value == record->value;
	default:
		return ops->search(index, t->share, key, &value) && value == record->value;
	}
}

/* Run record @i. Returns false if the thread ran out of memory. */
static bool run_record(struct replayer *t, uint64_t i)
{
	int ret = act(t, &t->run->file->records[i]);

	if (unlikely(ret <= 0)) {
		if (ret < 0) {
			t->err = ret;
			return false;
		}
		t->failed++;
		t->first = i < t->first ? i : t->first;
	}
	__atomic_store_n(&t->begun, t->begun + 1, __ATOMIC_RELAXED);
	return true;
}

static void run_counter(struct replayer *t)
{
	struct replay *run = t->run;
	uint64_t i;

	do
		i = __atomic_fetch_add(&run->next, 1, __ATOMIC_RELAXED);
	while (i < run->file->nr && run_record(t, i));
}

static void run_share(struct replayer *t)
{
	unsigned int nr = (unsigned int)t->run->opts->threads;
	uint64_t i = 0, end;

	for (unsigned int before = 0; before < t->nr; before++)
		i += share_of(t->run->file->nr, nr, before);
	end = i + share_of(t->run->file->nr, nr, t->nr);
	while (i < end && run_record(t, i))
		i++;
}

static void *replayer_main(void *arg)
{
	struct replayer *t = arg;

	pthread_barrier_wait(&t->run->start);
	t->start_ns = now_ns();
	t->cpu_ns = thread_ns();
	if (t->run->opts->deal == DEAL_counter)
		run_counter(t);
	else
		run_share(t);
	t->cpu_ns = thread_ns() - t->cpu_ns;
	t->end_ns = now_ns();
	if (t->run->ops->idle)
		t->run->ops->idle(t->run->index, t->share);
	return NULL;
}

/* Show the progress of a file on a terminal until all its records have begun. */
static void watch(const struct replay *run)
{
	struct timespec pause = { .tv_nsec = PROGRESS_NS };
	uint64_t begun = 0, before;

	do {
		before = begun;
		begun = 0;
		for (unsigned int i = 0; i < run->opts->threads; i++)
			begun += __atomic_load_n(&run->threads[i].begun, __ATOMIC_RELAXED);
		progress_show(run->file == run->files ? "loading" : "replaying", begun,
			      run->file->nr);
		nanosleep(&pause, NULL);
	} while (begun < run->file->nr && begun > before);
	progress_clear();
}

/* The first failure of a file, if any, as the result of the check. */
static void note_failure(struct replay *run)
{
	const struct record *record;
	uint64_t first = NO_RECORD;

	for (unsigned int i = 0; i < run->opts->threads; i++)
		first = run->threads[i].first < first ? run->threads[i].first : first;
	if (first == NO_RECORD || *run->outcome.check)
		return;
	record = &run->file->records[first];
	snprintf(run->outcome.check, sizeof(run->outcome.check), "file %u, operation %" PRIu64
		 ": %c %" PRId64 " %" PRIu64 " did not succeed", (unsigned int)(run->file -
		 run->files), first, (char)record->op, record->key, record->value);
}

/* Run a file. If a thread cannot be started, the process exits. */
static void run_file(struct replay *run, const unsigned int *cpus, unsigned int nr_cpus)
{
	unsigned int nr = (unsigned int)run->opts->threads;
	uint64_t start = UINT64_MAX, end = 0, cpu_ns = 0;
	double seconds;

	run->next = 0;
	for (unsigned int i = 0; i < nr; i++) {
		struct replayer *t = &run->threads[i];
		int err;

		t->begun = 0;
		t->first = NO_RECORD;
		err = thread_start(&t->thread, replayer_main, t, cpus, nr_cpus, i);
		if (err) {
			/* The threads that were started wait at the barrier and cannot end. */
			fprintf(stderr, "index_bench: --threads=%u: thread %u: %s\n", nr, i + 1,
				strerror(err));
			exit(EXIT_FAILURE);
		}
	}
	if (isatty(STDERR_FILENO))
		watch(run);
	for (unsigned int i = 0; i < nr; i++) {
		const struct replayer *t = &run->threads[i];

		pthread_join(t->thread, NULL);
		start = t->start_ns < start ? t->start_ns : start;
		end = t->end_ns > end ? t->end_ns : end;
		cpu_ns += t->cpu_ns;
	}
	note_failure(run);
	seconds = (double)(end > start ? end - start : 1) * 1e-9;
	if (run->file == run->files) {
		run->result.load_seconds = seconds;
		run->result.load_cpu_seconds = (double)cpu_ns * 1e-9;
		return;
	}
	run->outcome.seconds += seconds;
	run->result.cpu_seconds += (double)cpu_ns * 1e-9;
	run->outcome.ops += run->file->nr;
	run->outcome.done[OP_search] += run->file->nr_of[OPFILE_SEARCH];
	run->outcome.done[OP_insert] += run->file->nr_of[OPFILE_INSERT];
	run->outcome.done[OP_remove] += run->file->nr_of[OPFILE_DELETE];
}

/* The changes of all files as a journal: 0, or -ENOMEM. */
static int journal_of(const struct replay *run, struct journal *journal)
{
	uint64_t nr = 0;

	for (unsigned int f = 0; f < run->nr_files; f++)
		nr += run->files[f].nr - run->files[f].nr_of[OPFILE_SEARCH];
	if (journal_reserve(journal, nr))
		return -ENOMEM;
	for (unsigned int f = 0; f < run->nr_files; f++) {
		for (uint64_t i = 0; i < run->files[f].nr; i++) {
			const struct record *r = &run->files[f].records[i];

			if (r->op != OPFILE_SEARCH)
				journal_add(journal, key_in_index(r->key), r->value,
					    r->op == OPFILE_INSERT ? +1 : -1);
		}
	}
	return 0;
}

/* Check the structure, the outcome of each operation and the content. */
static bool check(struct replay *run)
{
	struct journal journal = { .nr = 0 }, *journals = &journal;
	char *why = run->outcome.check;
	size_t len = sizeof(run->outcome.check);
	uint64_t failed = 0;
	bool ok;

	for (unsigned int i = 0; i < run->opts->threads; i++) {
		failed += run->threads[i].failed;
		if (run->threads[i].err) {
			snprintf(why, len, "thread %u ran out of %s", i,
				 shortage(run->threads[i].err));
			return false;
		}
	}
	if (failed) {
		snprintf(why + strlen(why), len - strlen(why), ", %" PRIu64 " in all", failed);
		return false;
	}
	if (!run->ops->tree->check(run->index->tree, why, len))
		return false;
	if (journal_of(run, &journal)) {
		snprintf(why, len, "out of memory for the comparison of the content");
		return false;
	}
	ok = verify_content(run->index, 0, &journals, 1, why, len);
	journal_free(&journal);
	if (ok)
		strcpy(why, "ok");
	return ok;
}

/* Read and check all files of the folder. Returns 0, or EXIT_USAGE after a message. */
static int open_files(struct replay *run)
{
	const char *folder = run->opts->replay;
	unsigned int nr = 0;

	while (opfile_exists(folder, nr))
		nr++;
	if (!nr) {
		fprintf(stderr, "index_bench: --replay=%s: has no file 0.ops or 0.txt\n", folder);
		return EXIT_USAGE;
	}
	run->files = calloc(nr, sizeof(*run->files));
	if (!run->files) {
		fputs("index_bench: --replay: out of memory\n", stderr);
		return EXIT_FAILURE;
	}
	for (unsigned int i = 0; i < nr; i++) {
		int err = opfile_open(&run->files[run->nr_files++], folder, i);

		if (err)
			return EXIT_USAGE;
	}
	return 0;
}

/* Make the index and the threads' shares of it: 0, or the exit status after a message. */
static int prepare(struct replay *run)
{
	unsigned int nr = (unsigned int)run->opts->threads;
	struct index_config config;
	uint64_t inserts = 0;
	int ret;

	for (unsigned int i = 0; i < run->nr_files; i++)
		inserts += run->files[i].nr_of[OPFILE_INSERT];
	ret = entries_check(run->opts, run->ops, inserts);
	if (ret)
		return ret;
	config = config_of(run->opts, inserts ? inserts : 1);
	run->index = run->ops->create(&config);
	run->threads = aligned_alloc(CACHE_LINE, nr * sizeof(*run->threads));
	if (run->threads)
		memset(run->threads, 0, nr * sizeof(*run->threads));
	for (unsigned int i = 0; run->threads && run->index && i < nr; i++) {
		struct replayer *t = &run->threads[i];

		*t = (struct replayer){ .run = run, .nr = i };
		t->share = run->ops->tree->attach(run->index->tree, i, inserts / nr);
		if (!t->share)
			goto no_memory;
	}
	if (run->threads && run->index && !pthread_barrier_init(&run->start, NULL, nr))
		return 0;

no_memory:
	fputs("index_bench: out of memory before the run\n", stderr);
	return EXIT_FAILURE;
}

static void finish(struct replay *run)
{
	if (run->index)
		run->ops->destroy(run->index);
	for (unsigned int i = 0; run->threads && i < run->opts->threads; i++)
		if (run->threads[i].share)
			run->ops->tree->detach(run->threads[i].share);
	free(run->threads);
	for (unsigned int i = 0; i < run->nr_files; i++)
		opfile_close(&run->files[i]);
	free(run->files);
}

/* Run the files one after the other, and sum what the scheme counted behind file 0. */
static void run_files(struct replay *run)
{
	static unsigned int cpus[TOPOLOGY_MAX];
	unsigned int nr_cpus = run->opts->pin ? topology_order(cpus) : 0;
	struct counts loaded = { 0 }, all = { 0 }, none = { 0 };

	for (unsigned int f = 0; f < run->nr_files; f++) {
		run->file = &run->files[f];
		if (f == 1)
			region_request(REGION_BEGIN);
		run_file(run, cpus, nr_cpus);
		for (unsigned int i = 0; !f && run->ops->counts && i < run->opts->threads; i++)
			counts_add(&loaded, run->ops->counts(run->threads[i].share), &none);
	}
	region_request(REGION_END);
	for (unsigned int i = 0; run->ops->counts && i < run->opts->threads; i++)
		counts_add(&all, run->ops->counts(run->threads[i].share), &none);
	counts_add(&run->outcome.counts, &all, &loaded);
	for (unsigned int op = 0; op < NR_OPS; op++)
		run->outcome.hits[op] = run->outcome.done[op];
	run->result.files = run->nr_files;
	run->result.load_ops = run->files[0].nr;
	run->outcome.replay = &run->result;
	/* A folder with file 0 alone is nothing but the loading. */
	if (run->outcome.seconds <= 0)
		run->outcome.seconds = 1e-9;
}

/**
 * replay() - run the operation files of a folder
 * @opts: the command line
 * @ops: the operations of the index
 *
 * Return: the exit status.
 */
int replay(const struct options *opts, const struct index_ops *ops)
{
	static struct replay run;
	int status;

	run = (struct replay){ .opts = opts, .ops = ops };
	/* A simulated machine measures nothing before file 1. */
	region_request(REGION_END);
	status = open_files(&run);
	if (!status)
		status = prepare(&run);
	if (!status) {
		run_files(&run);
		pthread_barrier_destroy(&run.start);
		if (check(&run)) {
			if (ops->tree->shape)
				ops->tree->shape(run.index->tree, &run.outcome.shape);
		} else {
			fprintf(stderr, "index_bench: %s\n", run.outcome.check);
			status = EXIT_FAILURE;
		}
		output_print(opts, ops, &run.outcome);
	}
	finish(&run);
	return status;
}
