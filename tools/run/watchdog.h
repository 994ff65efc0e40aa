/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * watchdog.h - the stacks of a process that hangs: elide run --watchdog.
 *
 * `elide stacks` writes them, in a process of its own. Must never delay the program, but for the moment in
 * which that stops it.
 */
#ifndef ELIDE_WATCHDOG_H
#define ELIDE_WATCHDOG_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* What the name of a file of stacks adds to that of the process's data file. */
#define WATCHDOG_SUFFIX ".stacks"

/**
 * struct watched - a process that has hung.
 * @pid, @started: identify it, see data_started()
 * @limit: time-stamp counter when it was reported, less @limit_ms: waits that began before were reported
 */
struct watched {
	uint32_t pid;
	uint64_t started;
	uint64_t limit;
};

/**
 * struct watchdog - the watch over a run.
 * @limit_ms: waits for locks that last longer are reported; 0: none are
 * @output: ELIDE_OUTPUT, with its %p and %e
 * @run:    identifies the run
 * @quiet:  print nothing
 * @all, @nr: processes that have hung
 * @writer: process that writes stacks now; 0 if none does
 * @what:   why it does, in words
 * @file:   to which
 */
struct watchdog {
	uint64_t limit_ms;
	const char *output;
	uint64_t run;
	bool quiet;
	struct watched *all;
	size_t nr;
	pid_t writer;
	char what[128];
	char file[PATH_MAX];
};

/** watchdog_every_ms() - the time from one look to the next. */
uint64_t watchdog_every_ms(const struct watchdog *w);

/**
 * watchdog_tick() - look at the processes of the run, and begin to write the stacks of one that hangs.
 * @pid: the program
 *
 * A process hangs while a thread has waited for a lock for longer than the limit, or while all of its threads
 * have waited that long, for whatever. It is reported once, until all waits that were reported have ended.
 */
void watchdog_tick(struct watchdog *w, pid_t pid);

/** watchdog_end() - the program has ended: wait for the writer. */
void watchdog_end(struct watchdog *w);

#endif
