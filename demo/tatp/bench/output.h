/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * output.h - prints the results of tatp_bench as text, JSON or CSV.
 */
#ifndef DEMO_TATP_OUTPUT_H
#define DEMO_TATP_OUTPUT_H

#include "counters.h"
#include "options.h"

#include "../../base/fields.h"
#include "../../base/progress.h"

/**
 * struct outcome - the results of a run
 * @tally: what all threads did
 * @seconds: time from the start of the first thread to the end of the last one
 * @counters: what was counted in the measured part
 * @latency: durations of each kind of transaction, an array, or NULL
 * @thread_least: transactions a second of the slowest thread in its own time
 * @thread_mean: the mean of all threads
 * @thread_most: those of the fastest thread
 * @bytes: bytes of the pages
 * @interrupted: a signal ended the run
 * @check: "ok", or a description of the first fault
 */
struct outcome {
	struct tally tally;
	double seconds;
	struct counters counters;
	const struct histogram *latency;
	double thread_least, thread_mean, thread_most;
	uint64_t bytes;
	bool interrupted;
	char check[CHECK_LEN];
};

uint64_t outcome_done(const struct outcome *out);
void output_print(const struct options *opts, const struct outcome *out);
void output_recovered(const struct options *opts, const struct sm *sm, const struct recovered *r,
		      const char *check);

#endif
