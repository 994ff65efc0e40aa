/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * metrics.h - a file of metrics that is rewritten while a program runs: elide run --metrics.
 *
 * `elide report --openmetrics` writes it, in a process of its own. Must never delay the program.
 */
#ifndef ELIDE_METRICS_H
#define ELIDE_METRICS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "../base/paths.h"

/* Seconds between two reports without --every. */
#define METRICS_EVERY 10

/**
 * struct metrics - the file of metrics of a run.
 * @file:   to write, as of report --openmetrics; NULL if there is none
 * @every_ms: time between the beginnings of two reports
 * @next_ns: time from which on the next one may begin, see now_ns()
 * @output: ELIDE_OUTPUT, with its %p and %e
 * @run:    identifies the run
 * @writer: process that writes the file now; 0 if none does
 * @nr:     writers that were started
 * @failed: the last one failed
 * @said:   a writer has printed its messages; until one fails, the others are silent
 */
struct metrics {
	const char *file;
	uint64_t every_ms;
	uint64_t next_ns;
	const char *output;
	uint64_t run;
	pid_t writer;
	unsigned int nr;
	bool failed;
	bool said;
};

/**
 * metrics_tick() - begin to rewrite the file, unless that is still going on or the run has no data file.
 * @arg: struct metrics
 * @pid: the program
 */
void metrics_tick(void *arg, pid_t pid);

/** metrics_end() - write the file a last time, and wait for the writer. */
void metrics_end(struct metrics *m, const struct paths *files);

#endif
