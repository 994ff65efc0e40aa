/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * perf.h - the text output of perf script.
 *
 * Must never guess a value that perf does not print.
 */
#ifndef ELIDE_PERF_H
#define ELIDE_PERF_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Frames kept of a callchain; perf records 127 at most by default (kernel.perf_event_max_stack). */
#define PERF_FRAMES_MAX 128

/**
 * struct perf_frame - an address with perf's names.
 * @symbol, @object: NULL if unknown; @object is without directory
 * @offset: from the symbol, if perf script printed it (-F symoff)
 */
struct perf_frame {
	uint64_t ip;
	char *symbol;
	char *object;
	uint64_t offset;
};

/**
 * struct perf_sample - a sample.
 * @pid:         -1 if unknown: by default perf script prints the thread's id only
 * @event:       its name, cut off if it is long
 * @weight:      of an abort the cycles of the transaction
 * @transaction: PERF_TXN_*, of perf script -D alone
 * @frames:      of @nr_frames: where it was, then its callers
 */
struct perf_sample {
	long pid;
	char event[48];
	int has_weight;
	int has_transaction;
	uint64_t weight;
	uint64_t transaction;
	struct perf_frame *frames;
	size_t nr_frames;
};

/**
 * struct perf_samples - a file.
 * @nr_strange: unknown lines
 * @nr_no_place: samples without an address, left out
 */
struct perf_samples {
	struct perf_sample *samples;
	size_t nr;
	size_t nr_strange;
	size_t nr_no_place;
};

/**
 * perf_parse() - read what perf script printed.
 *
 * Reads the default form, -F with any of comm, pid, tid, cpu, time, period,
 * event, weight, ip, sym, symoff, dso, with callchains or without, and -D.
 *
 * Return: 0 or -ENOMEM.
 */
int perf_parse(FILE *f, struct perf_samples *s);

/** perf_free() - release the samples. */
void perf_free(struct perf_samples *s);

#endif
