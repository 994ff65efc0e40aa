/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * activity.h - waits and holds over the time of the run, by samples: report --by time.
 *
 * Must never show more steps of time than the samples support.
 */
#ifndef ELIDE_ACTIVITY_H
#define ELIDE_ACTIVITY_H

#include "report.h"

/* Steps of time, and locks, at most. */
#define ACTIVITY_STEPS 120
#define ACTIVITY_LANES 16

/**
 * struct lane - the locks of a class, over time.
 * @class_index: the class
 * @kind:    enum elide_kind of the class
 * @name:    short name
 * @class:   identifies the class, without addresses
 * @wait:    cycles waited in all, exact
 * @waiting: mean number of threads that waited in each step
 * @held:    mean number of its holders in each step
 * @nr:      samples
 */
struct lane {
	uint32_t class_index;
	unsigned int kind;
	char name[SHORT_NAME];
	char *class;
	double wait;
	double held_total;
	double waiting[ACTIVITY_STEPS];
	double held[ACTIVITY_STEPS];
	size_t nr;
};

/**
 * struct activity - the locks whose waits or holds were sampled, the longest waits first.
 * @nr_all:  locks, of which the first @nr are in @lanes
 * @nr_steps: steps of time
 * @step:    cycles of a step
 * @samples: in all
 */
struct activity {
	struct lane *lanes;
	size_t nr;
	size_t nr_all;
	size_t nr_steps;
	double step;
	size_t samples;
};

/**
 * activity_build() - spread the samples of a report's file over the time of its run.
 *
 * The sums of each lock equal its counters: exactly for waits, as in the column HOLD for holds.
 *
 * Return: 0 or -errno; without samples, or if the length of the run is unknown, there is no lane.
 */
int activity_build(const struct report *r, struct activity *to);

/** activity_free() - release what activity_build() took. */
void activity_free(struct activity *a);

#endif
