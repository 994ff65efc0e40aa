/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * work.h - a run of page_bench: the trees of a workload, and the threads that work on them.
 */
#ifndef DEMO_PAGES_WORK_H
#define DEMO_PAGES_WORK_H

#include "options.h"
#include "shifts.h"

#include "../../base/histogram.h"
#include "../../base/zipf.h"

/* Most trees of a workload. */
#define WORK_TREES 16

/* What has to be kept in a file so that it can be opened again: see pool_note(). */
enum work_note {
	NOTE_family,
	NOTE_loaded,
	NOTE_data,
	NOTE_order,
	NOTE_value,
	NOTE_seed,
	NOTE_next,
	NOTE_holes,
	NOTE_updates,
	NOTE_newest,
	NOTE_window,
	NOTE_warehouses,
	NOTE_scale,
};

/* Workloads of a family have the same trees. */
enum work_family {
	FAMILY_none,
	FAMILY_entries,
	FAMILY_news,
	FAMILY_tpcc,
};

enum kind_id {
#define KIND(workload, id, name) KIND_##id,
#include "workloads.def"
	NR_KINDS
};

struct work;
struct worker;
struct sums;

/**
 * struct workload - what the threads do
 * @family: its trees
 * @load: make the trees and what they have before the run
 * @open: open the trees of a file
 * @step: carry out an operation, and count it
 * @verify: compare the content with what the operations did, after the trees were checked;
 *	    receives what is wrong
 * @prepare: prepare a thread, or NULL
 * @done: free what @load or @open allocated, or NULL
 *
 * All but @verify return 0 or -errno; @verify 0, -EBADMSG with a text, or another -errno.
 */
struct workload {
	enum work_family family;
	int (*load)(struct work *w);
	int (*open)(struct work *w);
	int (*step)(struct worker *worker);
	int (*verify)(struct work *w, char *why, size_t len);
	int (*prepare)(struct worker *worker);
	void (*done)(struct work *w);
};

/**
 * struct work - a run
 * @opts: the command line
 * @workload: what the threads do
 * @pool: the pages
 * @trees: the trees
 * @nr_trees: their number
 * @value: bytes of a value
 * @data, @order: of the entries
 * @seed: seed of the entries, which a file keeps
 * @of_workload: what the workload has besides
 * @interrupted: whether a signal has asked the program to end
 * @next: number of the next entry to insert
 * @loaded: entries, and those of them that were there before the run
 * @holes: entries that could not be inserted
 * @updates: changes of entries since they were loaded, summed after the run
 * @newest: of news: number of the entry behind the newest one
 * @merging: calls of XMerge by the pool that have not ended
 * @quiet: the pool calls XMerge no more
 * @stop: the threads end
 * @running: threads that have not ended
 * @start: the threads begin together
 * @before: sums when the measured part begins
 * @begin_ns: time of that, 0 before
 * @shifts: of news: the shifts of the window, and what followed
 */
struct work {
	const struct options *opts;
	const struct workload *workload;
	struct page_pool pool;
	struct page_tree trees[WORK_TREES];
	unsigned int nr_trees;
	unsigned int value;
	enum data_id data;
	enum order_id order;
	uint64_t seed;
	void *of_workload;
	bool (*interrupted)(void);
	uint64_t loaded;
	uint64_t holes;
	uint64_t updates;
	pthread_barrier_t start;
	uint64_t next __cacheline_aligned;
	uint64_t newest __cacheline_aligned;
	unsigned int merging __cacheline_aligned;
	bool quiet;
	bool stop __cacheline_aligned;
	unsigned int running;
	struct sums *before;
	uint64_t begin_ns;
	struct shifts shifts;
};

/**
 * struct worker - a thread of a run
 * @work: the run
 * @nr: number of the thread
 * @operations: number of its operations, after which it ends
 * @warmup: number of those before that are not measured
 * @rng: its random numbers
 * @tree: its part of the trees
 * @zipf: of news: the ranks of the window
 * @shift_ns: of news: time of the next shift
 * @latency: durations of its operations, or NULL
 * @done: operations of each kind
 * @before: those of them that are not measured
 * @waited_before: as @before, of what @tree counts
 * @changes: changes of entries
 * @wrong: look-ups with an impossible result
 * @err: why it ended early, or 0
 * @start_ns: time of its begin
 * @end_ns: time of its end
 * @thread: the thread
 */
struct worker {
	struct work *work;
	unsigned int nr;
	uint64_t operations;
	uint64_t warmup;
	struct rng rng;
	struct page_tree_thread tree;
	struct zipf zipf;
	uint64_t shift_ns;
	struct histogram *latency;
	uint64_t done[NR_KINDS];
	uint64_t before[NR_KINDS];
	uint64_t waited_before;
	uint64_t changes;
	uint64_t wrong;
	int err;
	uint64_t start_ns, end_ns;
	pthread_t thread;
} __cacheline_aligned;

#define WORKLOAD(id, name, help) extern const struct workload work_##id;
#include "workloads.def"

/* Bytes of the longest key and value of an entry. */
#define ENTRY_KEY 256
#define ENTRY_VALUE 1024

struct bytes entry_key(const struct work *w, uint64_t i, unsigned char *key);
struct bytes entry_value(const struct work *w, struct bytes key, unsigned char *value);
uint64_t entry_check(struct bytes key);
int entries_load(struct work *w, uint64_t nr);
int entries_open(struct work *w);
int entries_verify(struct work *w, uint64_t entries, uint64_t updates, char *why, size_t len);

void work_xmerge(struct work *w, struct frame *frame, uint32_t id);
int work_tree(struct work *w, const char *name, bool create);
uint64_t work_pages(const struct options *opts);
uint64_t tpcc_pages(const struct options *opts);
void *worker_main(void *arg);

/* Number of a workload's operations that a thread has done, which it may be changing. */
static inline uint64_t worker_done(const struct worker *worker)
{
	uint64_t sum = 0;

	for (unsigned int i = 0; i < NR_KINDS; i++)
		sum += __atomic_load_n(&worker->done[i], __ATOMIC_RELAXED);
	return sum;
}

/* Count an operation. */
static inline void worker_count(struct worker *worker, enum kind_id kind)
{
	__atomic_store_n(&worker->done[kind], worker->done[kind] + 1, __ATOMIC_RELAXED);
}

/* Add to the number in the second 8 bytes of a value. */
static inline void entry_change(void *ctx, void *value, unsigned int len)
{
	unsigned char *at = (unsigned char *)value + sizeof(uint64_t);
	uint64_t n;

	__builtin_memcpy(&n, at, sizeof(n));
	n++;
	__builtin_memcpy(at, &n, sizeof(n));
}

#endif
