/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pcm.h - Intel PCM's pcm-tsx beside a run: counters of the whole machine.
 *
 * Must never end a process except the one it started.
 */
#ifndef ELIDE_PCM_H
#define ELIDE_PCM_H

#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/types.h>

#include "../../lib/datafile.h"

/* Events that pcm-tsx counts at once. */
#define PCM_EVENTS_MAX 4

/**
 * pcm_parse() - read what pcm-tsx -csv wrote when it was given events with -e.
 * @counters: PCM_EVENTS_MAX
 *
 * The file has a part for each interval: a line of the time, a line for each event's name, a line of
 * columns, a line for each core and one, marked *, of their sum. The sums of all parts are added.
 *
 * Return: number of @counters, or -EINVAL if there is no complete part.
 */
int pcm_parse(FILE *f, struct elide_counter *counters);

/**
 * pcm_why_not() - can pcm-tsx be run?
 * @root: "" or a directory in place of /
 * @program: PATH_MAX bytes, filled with the path of pcm-tsx
 * @is_root: the caller is root
 * @why: @size bytes, filled with the reason if not: one line
 *
 * Return: 0 or -errno.
 */
int pcm_why_not(const char *root, int is_root, char *program, char *why, size_t size);

/**
 * struct pcm - a pcm-tsx that runs.
 * @pid:   its process
 * @stop:  pipe whose end ends the counting
 * @csv:   its file
 */
struct pcm {
	pid_t pid;
	int stop;
	char csv[PATH_MAX];
};

/**
 * pcm_start() - start pcm-tsx, and wait until it counts.
 * @directory: of our own, for its file
 * @why: @size bytes, filled with its last line if it does not start
 *
 * Return: 0 or -errno.
 */
int pcm_start(struct pcm *p, const char *program, const char *directory, char *why, size_t size);

/**
 * pcm_stop() - end the counting and read what was counted.
 *
 * Return: as pcm_parse().
 */
int pcm_stop(struct pcm *p, struct elide_counter *counters);

#endif
