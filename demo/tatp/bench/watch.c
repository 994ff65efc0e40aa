// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * watch.c - shows the progress of a run, writes its timeline, and ends it.
 *
 * It only reads what the threads count. It must never hold a latch.
 */
#include "watch.h"
#include "wake.h"

#include "../../base/progress.h"

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

#define NR_SUMS (sizeof(struct sums) / sizeof(uint64_t))

_Static_assert(NR_SUMS <= TIMELINE_COLUMNS, "there is room for all columns");

/**
 * watch_timeline() - make the timeline that the command line names, if it names one
 * @t: receives it
 * @opts: the command line
 *
 * Return: 0 or -errno.
 */
int watch_timeline(struct timeline *t, const struct options *opts)
{
	static const char *const names[] = {
#define X(name) #name,
		WATCH_SUMS(X)
#undef X
	};

	return timeline_open(t, opts->timeline, names, NR_SUMS, opts->interval * 1000000u);
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

/**
 * watch() - wait until all threads have ended, and end them after the time or a signal
 * @run: the run
 * @workers: its threads
 * @nr: their number
 * @opts: the command line
 * @timeline: from watch_timeline()
 * @interrupted: set by a signal
 */
void watch(struct run *run, const struct worker *workers, unsigned int nr,
	   const struct options *opts, struct timeline *timeline, const volatile sig_atomic_t *interrupted)
{
	uint64_t interval = opts->interval * 1000000u, duration = options_duration(opts);
	uint64_t pause = timeline->file && interval < WATCH_NS ? interval : WATCH_NS;
	struct sums sums;

	/* Acquire: pairs with the release of a thread that ends. */
	while (__atomic_load_n(&run->running, __ATOMIC_ACQUIRE)) {
		/* Acquire: pairs with the release in run_begin(). */
		uint64_t begin = __atomic_load_n(&run->begin_ns, __ATOMIC_ACQUIRE), now = now_ns();
		uint64_t ns = begin && now > begin ? now - begin : 0;

		if (begin) {
			sums = sums_of(&run->before);
			timeline_begin(timeline, (const uint64_t *)&sums);
		}
		if (*interrupted || (duration && begin && ns >= duration))
			__atomic_store_n(&run->stop, true, __ATOMIC_RELAXED);
		else if (duration && begin)
			progress_show("running", ns, duration);
		if (timeline_due(timeline, ns)) {
			sums = sum_up(run, workers, nr);
			timeline_line(timeline, ns, (const uint64_t *)&sums);
		}
		wake_pause(run->ended, pause);
	}
	progress_clear();
	if (!timeline->file)
		return;
	sums = sums_of(&run->before);
	timeline_begin(timeline, (const uint64_t *)&sums);
	sums = sum_up(run, workers, nr);
	timeline_line(timeline, now_ns() - run->begin_ns, (const uint64_t *)&sums);
}
