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
