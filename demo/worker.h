/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * worker.h - one thread of a run and what it saw.
 */
#ifndef DEMO_WORKER_H
#define DEMO_WORKER_H

#include "verify.h"
#include "workload.h"

#include <pthread.h>

/**
 * struct run - what all threads of a run read
 * @index: the index
 * @mix: the operations
 * @scan_length: entries a scan visits
 * @start: where the threads wait for each other
 */
struct run {
	struct index *index;
	struct mix mix;
	uint64_t scan_length;
	pthread_barrier_t start;
};

/**
 * struct worker - one thread
 * @run: the run it belongs to
 * @thread: its handle
 * @nr_ops: operations to do
 * @stream: which ones
 * @pool: its nodes
 * @journal: its changes to the index
 * @done: operations done, by kind
 * @hits: those that found, inserted or deleted a key, or visited an entry
 * @wrong: results that no correct index could have given
 * @sum: of all values read, so that no read is optimised away
 * @start_ns: when it passed the start
 * @end_ns: when its last operation was done
 * @err: 0, or -ENOMEM after which it stopped early with the index whole
 *
 * Nobody else writes to it or reads it before the thread has ended, and no two
 * share a cache line.
 */
struct worker {
	struct run *run;
	pthread_t thread;
	uint64_t nr_ops;
	struct stream stream;
	struct node_pool pool;
	struct journal journal;
	uint64_t done[NR_OPS];
	uint64_t hits[NR_OPS];
	uint64_t wrong;
	uint64_t sum;
	uint64_t start_ns;
	uint64_t end_ns;
	int err;
} __cacheline_aligned;

int worker_init(struct worker *worker, struct run *run, unsigned int nr, uint64_t nr_ops);
void *worker_main(void *worker);
void worker_destroy(struct worker *worker);

#endif
