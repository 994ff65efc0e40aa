/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * worker.h - a thread of a run and its results.
 */
#ifndef DEMO_WORKER_H
#define DEMO_WORKER_H

#include "../base/footprint.h"
#include "../base/histogram.h"
#include "verify.h"
#include "workload.h"

#include <pthread.h>

/**
 * struct run - data of a run that all its threads read
 * @index: the index
 * @ops: the operations of the index, valid also after it is destroyed
 * @mix: distribution of operations and keys, with @writers that of the threads that write
 * @readers: distribution of the other threads
 * @writers: number of threads that write, 0: all threads have the same distribution
 * @scan_length: maximum number of entries that a scan visits
 * @duration_ns: duration of the run in nanoseconds, 0 if a number of operations ends it
 * @latency: each operation is timed
 * @footprint: the cache lines of searches are counted
 * @dealt: the threads draw their turns from @next until @turns of them are drawn
 * @turns: operations of the measured part of all threads
 * @next: turns that are drawn, in a cache line of its own
 * @start: barrier before warm-up and before the measured part
 */
struct run {
	struct index *index;
	const struct index_ops *ops;
	struct mix mix, readers;
	unsigned int writers;
	uint64_t scan_length;
	uint64_t duration_ns;
	bool latency;
	bool footprint;
	bool dealt;
	uint64_t turns;
	uint64_t next __cacheline_aligned;
	pthread_barrier_t start __cacheline_aligned;
};

/**
 * struct worker - a thread of a run
 * @run: the run that the thread belongs to
 * @thread: handle of the thread
 * @nr_warmup: number of operations of the warm-up
 * @nr_ops: maximum number of operations of the measured part
 * @stream: generator of operations and keys
 * @share: memory of the index that is reserved for this thread
 * @journal: changes that the thread made to the index
 * @done: number of operations of each kind in the measured part
 * @hits: number of these that found, inserted or deleted a key, or visited an entry
 * @wrong: number of results that no correct index could have returned
 * @warmup_inserts: number of inserts of the warm-up
 * @counts: what the scheme counted in the warm-up
 * @latency: durations of the operations, NULL if they are not timed
 * @footprint: cache lines of the searches, NULL if they are not counted
 * @sum: sum of all values read, so that the compiler removes no read
 * @start_ns: time of the begin of the measured part in nanoseconds
 * @end_ns: time of the end of its last operation in nanoseconds
 * @err: 0, or -ENOMEM or -ENOSPC if the thread ended early; the index is whole then
 *
 * No other thread accesses the struct before the thread has ended, and no two of them
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
	uint64_t warmup_inserts;
	struct counts counts;
	struct histogram *latency;
	struct footprint *footprint;
	uint64_t sum;
	uint64_t start_ns;
	uint64_t end_ns;
	int err;
} __cacheline_aligned;

uint64_t likely_share(uint64_t nr_ops, unsigned int share);
int worker_init(struct worker *worker, struct run *run, unsigned int nr, uint64_t nr_warmup,
		uint64_t nr_ops);
void *worker_main(void *worker);
void worker_destroy(struct worker *worker);

#endif
