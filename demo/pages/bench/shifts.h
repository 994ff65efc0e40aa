/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * shifts.h - what the workload of a news site does after a shift of its window: when contention
 * is detected, and when the throughput is what it was before.
 */
#ifndef DEMO_PAGES_SHIFTS_H
#define DEMO_PAGES_SHIFTS_H

#include <stdint.h>
#include <stdio.h>

/* Samples and shifts that are kept; what comes after them is not judged. */
#define SHIFTS_SAMPLES 65536
#define SHIFTS_MAX     1024

/* Samples between two shifts. */
#define SHIFTS_PARTS 40

/**
 * struct shifts - shifts, and samples of the run; all zero before the first
 * @sample: time in ns, operations and contention splits until then; written by one thread
 * @nr_samples: their number
 * @at: times of the shifts, ns; written by the thread that shifts the window
 * @nr: their number
 */
struct shifts {
	struct shift_sample {
		uint64_t ns;
		uint64_t done;
		uint64_t splits;
	} *sample;
	unsigned int nr_samples;
	unsigned int nr;
	uint64_t at[SHIFTS_MAX];
};

/**
 * struct shift_outcome - what followed a shift
 * @detected_ns: until the first contention split, to a sample; UINT64_MAX: none before the next shift
 * @recovered_ns: until the throughput of a sample is nine tenths of that of the half period before the
 *                shift; UINT64_MAX: it was not before the next shift
 */
struct shift_outcome {
	uint64_t detected_ns;
	uint64_t recovered_ns;
};

void shifts_note(struct shifts *shifts, uint64_t ns);
void shifts_sample(struct shifts *shifts, uint64_t ns, uint64_t done, uint64_t splits);
int shifts_judge(const struct shifts *shifts, unsigned int i, struct shift_outcome *to);
void shifts_print(const struct shifts *shifts, uint64_t begin_ns, FILE *file);

#endif
