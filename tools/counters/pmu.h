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

#include "../../lib/datafile.h"
#include "../base/machine.h"

/* The most events of a run; pmu.def has fewer for each processor. */
#define PMU_EVENTS_MAX 24

/* Opens an event like perf_event_open(2), but returns -errno; tests replace it. */
typedef int pmu_open_fn(struct perf_event_attr *attr);

/** pmu_open() - open an event with the system call, on any processor, with close-on-exec. */
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
 * struct pmu_stat - counters that are open.
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
 * Counting begins with their first exec. The caller's own code is never counted.
 *
 * Return: 0, or -errno of the first event if none can be counted.
 */
int pmu_stat_open(struct pmu_stat *s, const struct pmu_event *events, size_t nr,
		  pmu_open_fn *open);

/**
 * pmu_stat_close() - read the counters and close them.
 * @counters: PMU_EVENTS_MAX
 *
 * Return: number of @counters, without events that were never on the processor.
 */
size_t pmu_stat_close(struct pmu_stat *s, struct elide_counter *counters);

#endif
