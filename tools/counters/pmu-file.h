/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pmu-file.h - reads counters from the emulator's file, and appends them to the data file.
 *
 * Must never touch the file of another process than the one that was run.
 */
#ifndef ELIDE_PMU_FILE_H
#define ELIDE_PMU_FILE_H

#include <stddef.h>
#include <stdio.h>
#include <sys/types.h>

#include "../../lib/datafile.h"

/**
 * pmu_read_emulated() - read what rtmgrind's --counters wrote.
 * @counters: filled, @max at most
 *
 * Counters of HLE, and those that a processor does not have, are left out, except those of the probe.
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

#endif
