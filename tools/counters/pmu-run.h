/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pmu-run.h - the hardware counters of a run: PMU, the emulator's counters, PCM.
 *
 * One line is printed for each thing that cannot be counted, and the program runs.
 */
#ifndef ELIDE_PMU_RUN_H
#define ELIDE_PMU_RUN_H

#include "pcm.h"
#include "pmu.h"

/**
 * struct counting - the counters of a run.
 * @directory: of our own for files, empty if there is none
 * @emulated:  file that the emulator writes, empty if it writes none for us
 * @has_pcm, @pcm: PCM runs
 */
struct counting {
	struct pmu_stat stat;
	char directory[64];
	char emulated[PATH_MAX];
	int has_pcm;
	struct pcm pcm;
};

/**
 * counting_start() - begin to count, before the program is started.
 * @emulate: the program is going to run on an emulated machine
 * @pmu: ELIDE_PMU, NULL if it is not set
 * @pcm: run PCM too
 */
void counting_start(struct counting *c, int emulate, const char *pmu, int pcm);

/**
 * counting_end() - read the counters, after the program has ended.
 * @path: its data file, NULL if there is none
 * @pid: its process
 */
void counting_end(struct counting *c, const char *path, pid_t pid);

#endif
