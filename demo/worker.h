/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * worker.h - one thread of a run and what it saw.
 */
#ifndef DEMO_WORKER_H
#define DEMO_WORKER_H

#include "footprint.h"
#include "histogram.h"
#include "verify.h"
#include "workload.h"

#include <pthread.h>

/**
 * struct run - what all threads of a run read
 * @index: the index
 * @ops: its operations, which outlive it
 * @mix: the operations
 * @scan_length: entries a scan visits
 * @duration_ns: how long threads work, 0 for as many operations as each has to do
 * @latency: whether each operation is timed
 * @footprint: whether the cache lines of searches are counted
 * @rows: whether the index keeps column data
 * @start: where the threads wait for each other
 */
struct run {
	struct index *index;
	const struct index_ops *ops;
	struct mix mix;
	uint64_t scan_length;
	uint64_t duration_ns;
	bool latency;
	bool footprint;
	bool rows;
	pthread_barrier_t start;
};

/**
 * struct worker - one thread
 * @run: the run it belongs to
 * @thread: its handle
 * @nr_warmup: operations to do before the clock starts
 * @nr_ops: operations to do then
 * @stream: which ones
 * @share: memory for its inserts
 * @journal: its changes to the index
 * @done: operations done, by kind
 * @hits: those that found, inserted or deleted a key, or visited an entry
 * @wrong: results that no correct index could have given
 * @warmup_rows: rows that inserts before the clock started appended, where rows are kept
 * @latency: how long operations took, NULL if they are not timed
 * @footprint: cache lines of searches, NULL if they are not counted
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
	uint64_t nr_warmup;
	uint64_t nr_ops;
	struct stream stream;
	struct index_thread *share;
	struct journal journal;
	uint64_t done[NR_OPS];
	uint64_t hits[NR_OPS];
	uint64_t wrong;
	uint64_t warmup_rows;
	struct histogram *latency;
	struct footprint *footprint;
	uint64_t sum;
	uint64_t start_ns;
	uint64_t end_ns;
	int err;
} __cacheline_aligned;

uint64_t likely_share(uint64_t nr_ops, unsigned int percent);
int worker_init(struct worker *worker, struct run *run, unsigned int nr, uint64_t nr_warmup,
		uint64_t nr_ops);
void *worker_main(void *worker);
void worker_destroy(struct worker *worker);

#endif
