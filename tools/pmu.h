/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pmu.h - the processor's performance counters of transactions, over a whole run.
 *
 * Must never change how the program behaves.
 */
#ifndef ELIDE_PMU_TOOL_H
#define ELIDE_PMU_TOOL_H

#include <linux/perf_event.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#include "../lib/datafile.h"
#include "machine.h"

/* Events of a run, at most; more than pmu.def has of any processor. */
#define PMU_EVENTS_MAX 24

/* As perf_event_open(2), but for -errno; tests put another in its place. */
typedef int pmu_open_fn(struct perf_event_attr *attr);

/** pmu_open() - the real one: on any processor, with close-on-exec. */
pmu_open_fn pmu_open;

/**
 * struct pmu_event - what to count.
 * @type, @config: as in struct perf_event_attr
 */
struct pmu_event {
	const char *name;
	uint32_t type;
	uint64_t config;
};

/**
 * pmu_events() - the events of transactions that a processor has.
 * @events: PMU_EVENTS_MAX
 *
 * Return: their number, 0 if the processor is not known.
 */
size_t pmu_events(const struct machine *m, struct pmu_event *events);

/**
 * pmu_why_not() - can transactions be counted?
 * @open: tries an event; NULL to judge by @m alone
 * @why: @size bytes, filled with the reason if not: one line
 *
 * Return: 0, or -errno.
 */
int pmu_why_not(const struct machine *m, pmu_open_fn *open, char *why, size_t size);

/**
 * struct pmu_stat - counters that run.
 * @fds, @names: of @nr
 * @nr_refused: events that the kernel does not count here
 */
struct pmu_stat {
	int fds[PMU_EVENTS_MAX];
	const char *names[PMU_EVENTS_MAX];
	size_t nr;
	size_t nr_refused;
};

/**
 * pmu_stat_open() - count in the processes that the caller is going to start.
 *
 * Each begins to count with its first exec. The caller's own code is never counted.
 *
 * Return: 0, or -errno of the first event if there is none that can be counted.
 */
int pmu_stat_open(struct pmu_stat *s, const struct pmu_event *events, size_t nr,
		  pmu_open_fn *open);

/**
 * pmu_stat_close() - the end: read and release the counters.
 * @counters: PMU_EVENTS_MAX
 *
 * Return: number of @counters; of an event that was never on the processor there is none.
 */
size_t pmu_stat_close(struct pmu_stat *s, struct elide_counter *counters);

/**
 * pmu_read_emulated() - read what rtmgrind's --counters wrote.
 * @counters: of @max
 *
 * Of HLE and of what the emulator knows beyond a processor nothing is taken.
 *
 * Return: number of @counters.
 */
size_t pmu_read_emulated(FILE *f, struct elide_counter *counters, size_t max);

/**
 * pmu_append() - append counters to the data file of process @pid, which has ended.
 *
 * Return: 0 or -errno; -ESRCH if it is another process's file.
 */
int pmu_append(const char *path, pid_t pid, const struct elide_counter *counters, size_t nr);

struct report;

/** counters_print() - the counters of a run, beside what the library has counted. */
void counters_print(const struct report *r, FILE *out);

#endif
