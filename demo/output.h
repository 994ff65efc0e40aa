/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * output.h - a finished run, in words, as JSON and as CSV.
 */
#ifndef DEMO_OUTPUT_H
#define DEMO_OUTPUT_H

#include "footprint.h"
#include "histogram.h"
#include "options.h"
#include "workload.h"

/* Bytes of the line that says whether the run was right. */
#define CHECK_LEN 128

/**
 * struct outcome - a finished run
 * @done: operations by kind
 * @hits: those that found, inserted or deleted a key, or visited an entry
 * @ops: operations in all
 * @seconds: from the first thread's start to the last one's end
 * @merge: of the column data
 * @latency: of all threads, NULL if operations were not timed
 * @footprint: sums of all threads, NULL if lines were not counted
 * @check: "ok", or what was found
 */
struct outcome {
	uint64_t done[NR_OPS];
	uint64_t hits[NR_OPS];
	uint64_t ops;
	double seconds;
	struct merge_result merge;
	struct histogram *latency;
	struct footprint *footprint;
	char check[CHECK_LEN];
};

void output_print(const struct options *opts, const struct outcome *out);
void progress_show(const char *what, uint64_t done, uint64_t all);
void progress_clear(void);

#endif
