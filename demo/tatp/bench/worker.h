/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * worker.h - the threads that run transactions, and the helpers beside them.
 */
#ifndef DEMO_TATP_WORKER_H
#define DEMO_TATP_WORKER_H

#include "counters.h"
#include "tatp.h"

#include "../../base/histogram.h"

#include <pthread.h>

/**
 * struct run - a run of all threads
 * @sm: the storage manager
 * @helpers: its helpers
 * @start: barrier at which the threads begin
 * @warm: there is a warm-up
 * @before: counters at the begin of the measured part
 * @begin_ns: time of that, 0 before
 * @stop: set when the threads are to end
 * @running: number of threads that have not ended
 * @ended: the last one wakes watch(), see wake.h
 */
struct run {
	const struct sm *sm;
	const struct helpers *helpers;
	pthread_barrier_t start;
	bool warm;
	struct counters before;
	uint64_t begin_ns;
	bool stop;
	unsigned int running;
	int ended;
};

/**
 * struct worker - a thread
 * @client: its transactions
 * @run: the run
 * @thread: the thread
 * @operations: number of transactions, after which it ends
 * @warmup: number of those before that are not measured
 * @before: what @client had done before the measured part
 * @latency: durations of each kind of transaction, an array, or NULL
 * @start_ns: time of its begin
 * @end_ns: time of its end
 * @err: why it ended early, or 0
 */
struct worker {
	struct client client;
	struct run *run;
	pthread_t thread;
	uint64_t operations;
	uint64_t warmup;
	struct tally before;
	struct histogram *latency;
	uint64_t start_ns, end_ns;
	int err;
} __cacheline_aligned;

/* The flusher, the cleaner and the checkpointer. */
#define NR_HELPERS 3

/**
 * struct helpers - the threads that write pages and log beside the others
 * @sm: the storage manager
 * @threads: the threads
 * @nr: number of threads that were started
 * @stop: set when they are to end
 * @wake: what they pause at, see wake.h
 * @err: the first error of one of them
 * @checkpoints: number of checkpoints
 * @cleaned: number of pages written
 */
struct helpers {
	struct sm *sm;
	pthread_t threads[NR_HELPERS];
	unsigned int nr;
	bool stop;
	int wake;
	int err;
	uint64_t checkpoints;
	uint64_t cleaned;
};

int run_init(struct run *run, unsigned int threads, bool warm, const struct sm *sm,
	     const struct helpers *helpers);
void run_begin(struct run *run);
void run_destroy(struct run *run);
void *worker_main(void *arg);
void worker_join(struct worker *w);
void worker_free(struct worker *w);
int helpers_start(struct helpers *h, struct sm *sm);
int helpers_stop(struct helpers *h);

#endif
