/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * worker.h - the threads that run transactions, and the helpers beside them.
 */
#ifndef DEMO_TATP_WORKER_H
#define DEMO_TATP_WORKER_H

#include "tatp.h"

#include <pthread.h>

/**
 * struct run - a run of all threads
 * @start: barrier at which the threads begin
 * @stop: set when the threads are to end; the handler of SIGINT sets it, too
 * @running: number of threads that have not ended
 */
struct run {
	pthread_barrier_t start;
	bool stop;
	unsigned int running;
};

/**
 * struct worker - a thread
 * @client: its transactions
 * @run: the run
 * @thread: the thread
 * @operations: number of transactions, after which it ends
 * @start_ns: time of its begin
 * @end_ns: time of its end
 * @err: why it ended early, or 0
 */
struct worker {
	struct client client;
	struct run *run;
	pthread_t thread;
	uint64_t operations;
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
 * @err: the first error of one of them
 * @checkpoints: number of checkpoints
 * @cleaned: number of pages written
 */
struct helpers {
	struct sm *sm;
	pthread_t threads[NR_HELPERS];
	unsigned int nr;
	bool stop;
	int err;
	uint64_t checkpoints;
	uint64_t cleaned;
};

int run_init(struct run *run, unsigned int threads);
void *worker_main(void *arg);
void worker_join(struct worker *w);
int helpers_start(struct helpers *h, struct sm *sm);
int helpers_stop(struct helpers *h);

#endif
