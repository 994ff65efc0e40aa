/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * run.h - the measured part of page_bench.
 */
#ifndef DEMO_PAGES_RUN_H
#define DEMO_PAGES_RUN_H

#include "work.h"

/**
 * struct outcome - what a run did
 * @done: operations of each kind
 * @seconds: duration of the measured part
 * @latency: durations of all operations, or NULL
 * @eighth: operations of each eighth of the threads, in their order
 * @waited: operations that changed a leaf and found its latch held; counted with Contention Split
 * @wrong: look-ups with an impossible result
 * @err: why a thread ended early, or 0
 * @pool: what the pool did in the measured part
 * @tree: what the trees did in it
 * @shape: shape of all trees, if @verified
 * @verified: the trees were checked
 * @pages: pages in use
 * @pages_loaded: pages in use when the threads began
 * @pages_before: pages in use when the measured part began
 * @merge_seconds: duration of --xmerge=after
 * @merge_cycles: cycles of the time-stamp counter in which the thread ran meanwhile
 * @interrupted: a signal ended the run
 * @check: "ok", "off" or the first fault
 */
struct outcome {
	uint64_t done[NR_KINDS];
	double seconds;
	struct histogram *latency;
	uint64_t eighth[8];
	uint64_t waited;
	uint64_t wrong;
	int err;
	struct pool_counts pool;
	struct page_tree_counts tree;
	struct page_tree_report shape;
	bool verified;
	uint64_t pages;
	uint64_t pages_loaded;
	uint64_t pages_before;
	double merge_seconds;
	double merge_cycles;
	bool interrupted;
	char check[256];
};

uint64_t outcome_done(const struct outcome *out);
int run(struct work *w, struct outcome *out);
void output_print(const struct work *w, const struct outcome *out);

#endif
