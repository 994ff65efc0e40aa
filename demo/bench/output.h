/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * output.h - prints the results of a run as text, JSON or CSV.
 */
#ifndef DEMO_OUTPUT_H
#define DEMO_OUTPUT_H

#include "../base/fields.h"
#include "../base/footprint.h"
#include "../base/histogram.h"
#include "../base/progress.h"
#include "options.h"
#include "workload.h"

/**
 * struct replay_result - what a run of operation files has beyond its outcome
 * @files: number of files
 * @load_ops: number of operations of file 0
 * @load_seconds: duration of file 0, which the outcome does not have
 * @load_cpu_seconds: processor time of all threads for file 0
 * @cpu_seconds: processor time of all threads for the other files
 */
struct replay_result {
	unsigned int files;
	uint64_t load_ops;
	double load_seconds;
	double load_cpu_seconds;
	double cpu_seconds;
};

/**
 * struct outcome - the results of a run
 * @done: number of operations of each kind
 * @hits: number of these that found, inserted or deleted a key, or visited an entry
 * @ops: number of operations of all kinds
 * @seconds: time from the start of the first thread to the end of the last one
 * @merge: result of merging the column data
 * @shape: size of the tree after the run, if it knows it
 * @counts: what the scheme counted, if it counts
 * @replay: results of operation files, else NULL
 * @latency: durations of all threads' operations, NULL if they were not timed
 * @footprint: sums of all threads, NULL if cache lines were not counted
 * @check: "ok", or a description of the first fault
 */
struct outcome {
	uint64_t done[NR_OPS];
	uint64_t hits[NR_OPS];
	uint64_t ops;
	double seconds;
	struct merge_result merge;
	struct tree_shape shape;
	struct counts counts;
	const struct replay_result *replay;
	struct histogram *latency;
	struct footprint *footprint;
	char check[CHECK_LEN];
};

void output_print(const struct options *opts, const struct index_ops *ops,
		  const struct outcome *out);
const char *shortage(int err);

#endif
