/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * timeline.h - a file with a line for each interval of a run: what was done since the line before.
 */
#ifndef DEMO_TIMELINE_H
#define DEMO_TIMELINE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* Columns behind that of the time, at most. */
#define TIMELINE_COLUMNS 32

/**
 * struct timeline - the file
 * @file: NULL if there is none: then nothing is due
 * @nr: columns behind that of the time
 * @interval: nanoseconds between two lines
 * @due: time of the next line, nanoseconds since the begin; 0: the measured part has not begun
 * @before: sums at the line before
 */
struct timeline {
	FILE *file;
	unsigned int nr;
	uint64_t interval, due;
	uint64_t before[TIMELINE_COLUMNS];
};

int timeline_open(struct timeline *t, const char *path, const char *const *names, unsigned int nr,
		  uint64_t interval);
void timeline_begin(struct timeline *t, const uint64_t *sums);
bool timeline_due(const struct timeline *t, uint64_t ns);
void timeline_line(struct timeline *t, uint64_t ns, const uint64_t *sums);
int timeline_close(struct timeline *t);

#endif
