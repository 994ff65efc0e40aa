// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * watch.c - shows the progress of a run, writes its timeline, and ends it.
 *
 * It only reads what the threads count. It must never hold a latch.
 */
#include "watch.h"
#include "wake.h"

#include "../../base/progress.h"

#include <inttypes.h>

/* Interval at which the main thread looks whether the run is to end. */
#define WATCH_NS 10000000

/* Sums of a run at a time; the columns of the timeline behind that of the time. */
#define WATCH_SUMS(X)                                                                              \
	X(transactions)                                                                            \
	X(retried)                                                                                 \
	X(log_bytes)                                                                               \
	X(log_writes)                                                                              \
	X(checkpoints)                                                                             \
	X(pages_cleaned)                                                                           \
	X(pages_read)

struct sums {
#define X(name) uint64_t name;
	WATCH_SUMS(X)
#undef X
};

/**
 * timeline_open() - make the file of a timeline, with its line of names
 * @path: its name
 *
 * Return: the file, or NULL with errno set.
 */
FILE *timeline_open(const char *path)
{
	FILE *file = fopen(path, "we");

	if (!file)
		return NULL;
	fputs("ms", file);
#define X(name) fputs("," #name, file);
	WATCH_SUMS(X)
#undef X
	fputc('\n', file);
	return file;
}

/* Before the measured part @workers is NULL: its transactions are not counted. */
static struct sums sum_up(const struct run *run, const struct worker *workers, unsigned int nr)
{
	const struct sm *sm = run->sm;
	struct sums s = {
		.log_bytes = READ_ONCE(sm->log.tail),
		.log_writes = READ_ONCE(sm->log.syncs),
		.checkpoints = READ_ONCE(run->helpers->checkpoints),
		.pages_cleaned = READ_ONCE(run->helpers->cleaned),
		.pages_read = READ_ONCE(sm->buffer.reads),
	};

	for (const struct worker *w = workers; w < workers + nr; w++) {
		for (unsigned int i = 0; i < NR_TRANSACTIONS; i++) {
			s.transactions += READ_ONCE(w->client.tally.done[i]) - w->before.done[i];
			s.retried += READ_ONCE(w->client.tally.retried[i]) - w->before.retried[i];
		}
	}
	return s;
}

/* Sums at the begin of the measured part. */
static struct sums sums_of(const struct counters *c)
{
	return (struct sums){
		.log_bytes = c->log_bytes,
		.log_writes = c->log_writes,
		.checkpoints = c->checkpoints,
		.pages_cleaned = c->cleaned,
		.pages_read = c->reads,
	};
}

/* A line of the timeline: what was done since the line before. */
static void write_line(FILE *file, uint64_t ns, struct sums *before, struct sums now)
{
	fprintf(file, "%.3f", (double)ns * 1e-6);
#define X(name) fprintf(file, ",%" PRIu64, now.name - before->name);
	WATCH_SUMS(X)
#undef X
	fputc('\n', file);
	*before = now;
}

/**
 * watch() - wait until all threads have ended, and end them after the time or a signal
 * @run: the run
 * @workers: its threads
 * @nr: their number
 * @opts: the command line
 * @timeline: file of the timeline, or NULL
 * @interrupted: set by a signal
 */
void watch(struct run *run, const struct worker *workers, unsigned int nr,
	   const struct options *opts, FILE *timeline, const volatile sig_atomic_t *interrupted)
{
	uint64_t interval = opts->interval * 1000000u, duration = options_duration(opts);
	uint64_t pause = timeline && interval < WATCH_NS ? interval : WATCH_NS, line = 0;
	struct sums before;

	/* Acquire: pairs with the release of a thread that ends. */
	while (__atomic_load_n(&run->running, __ATOMIC_ACQUIRE)) {
		/* Acquire: pairs with the release in run_begin(). */
		uint64_t begin = __atomic_load_n(&run->begin_ns, __ATOMIC_ACQUIRE), now = now_ns();
		uint64_t ns = begin && now > begin ? now - begin : 0;

		if (begin && !line) {
			before = sums_of(&run->before);
			line = interval;
		}
		if (*interrupted || (duration && begin && ns >= duration))
			__atomic_store_n(&run->stop, true, __ATOMIC_RELAXED);
		else if (duration && begin)
			progress_show("running", ns, duration);
		if (timeline && line && ns >= line) {
			write_line(timeline, ns, &before, sum_up(run, workers, nr));
			line += interval;
		}
		wake_pause(run->ended, pause);
	}
	progress_clear();
	if (timeline) {
		before = line ? before : sums_of(&run->before);
		write_line(timeline, now_ns() - run->begin_ns, &before, sum_up(run, workers, nr));
	}
}
