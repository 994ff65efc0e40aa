/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * process.h - what was decided for the whole process at its start.
 */
#ifndef ELIDE_PROCESS_H
#define ELIDE_PROCESS_H

#include <stdbool.h>
#include <stdint.h>

#include "datafile.h"
#include "policy.h"

#pragma GCC visibility push(hidden)

/* Natively one in so many first attempts is timed: two RDTSC cost about as much as a short section. */
#define ELIDE_TIME_PERIOD 16

/**
 * struct elide_process - constant after the start, but for @running.
 * @running: calls are counted; false before the start, when off, and in a child not followed
 * @mode:    enum elide_run_mode
 * @rtm:     enum elide_rtm
 * @config:  of the policy
 * @policy:  its name
 * @why:     why @mode is what it is
 * @short_way: the wrappers know the locks' words and may take them without calling glibc
 */
struct elide_process {
	bool running;
	enum elide_run_mode mode;
	enum elide_rtm rtm;
	struct policy_config config;
	char policy[32];
	char why[256];
	bool short_way;
};

extern struct elide_process elide_process;

/** elide_short_way() - may the wrappers take their short way, which never looks for a transaction? */
static inline bool elide_short_way(void)
{
	return elide_process.short_way && elide_process.mode != ELIDE_RUN_ELIDE;
}

/**
 * elide_tid_is_own() - is @tid this thread, now or before it was forked?
 *
 * A child of fork() may release what its parent's thread had locked.
 */
bool elide_tid_is_own(uint32_t tid);

#pragma GCC visibility pop

#endif
