/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * output.h - prints the results of tatp_bench as text, JSON or CSV.
 */
#ifndef DEMO_TATP_OUTPUT_H
#define DEMO_TATP_OUTPUT_H

#include "options.h"

#include "../../base/fields.h"
#include "../../base/progress.h"

/**
 * struct outcome - the results of a run
 * @tally: what all threads did
 * @seconds: time from the start of the first thread to the end of the last one
 * @sections: acquisitions of the latches of each role in that time
 * @locks: counts of the lock manager
 * @bytes: bytes of the pages
 * @log_bytes: bytes of the log
 * @log_writes: number of writes of the log
 * @checkpoints: number of checkpoints of the helper
 * @cleaned: pages that the cleaner wrote
 * @reads: pages that were read into the buffer pool
 * @interrupted: a signal ended the run
 * @check: "ok", or a description of the first fault
 */
struct outcome {
	struct tally tally;
	double seconds;
	uint64_t sections[NR_LATCH_ROLES];
	struct lock_counts locks;
	uint64_t bytes, log_bytes, log_writes, checkpoints, cleaned, reads;
	bool interrupted;
	char check[CHECK_LEN];
};

uint64_t outcome_done(const struct outcome *out);
void output_print(const struct options *opts, const struct outcome *out);
void output_recovered(const struct options *opts, const struct sm *sm, const struct recovered *r,
		      const char *check);

#endif
