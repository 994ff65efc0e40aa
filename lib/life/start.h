/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * start.h - start and end of the engine in a process.
 */
#ifndef ELIDE_START_H
#define ELIDE_START_H

#include <stdbool.h>

#pragma GCC visibility push(hidden)

/**
 * elide_start() - read the settings, detect RTM, make the tables.
 * @secure: the process is setuid: ignore the environment and stay off
 *
 * Called once, by a constructor. Before it every call passes through.
 */
void elide_start(bool secure);

/**
 * elide_start_late() - start in a process that has run without the library, or with it until elide_leave().
 * @settings: as environ: ELIDE_NAME=VALUE, NULL last
 *
 * Opens the data file, and begins to count. The bounds of the tables are those of the first start. Not in a
 * signal handler, nor in a section.
 *
 * Return: 0; -ENOTSUP if @settings have ELIDE_MODE=elide and the processor has no usable RTM, with the reason in
 * elide_process.why; another -errno if the data file cannot be made, or memory is lacking, with the reason in
 * elide_log_last().
 */
int elide_start_late(char *const *settings);

/** elide_stop_eliding() - no further section is elided, and no thread restricted. */
void elide_stop_eliding(void);

/**
 * elide_leave() - close the data file and count nothing more: the process goes on without the library.
 *
 * A thread that is in a lock call completes that call, whenever it ends.
 */
void elide_leave(void);

/** elide_stop() - the process ends: close the data file. Later calls are still counted in it. */
void elide_stop(void);

/**
 * elide_finish() - the process is about to lose the time-stamp counter: write all as elide_stop() does, as
 * its exit is not noticed. In a global-lock path.
 */
void elide_finish(void);

/** elide_unfinish() - the process has not lost it. */
void elide_unfinish(void);

/**
 * elide_keep_file() - the process is about to give up privileges, or to change its root directory.
 *
 * Opens the data file if need be, and keeps it open, so that it can still grow.
 */
void elide_keep_file(void);

/**
 * elide_disable() - stop eliding in this process.
 * @why: said once on standard error
 */
void elide_disable(const char *why);

#pragma GCC visibility pop

#endif
