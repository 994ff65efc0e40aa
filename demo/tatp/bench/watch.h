/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * watch.h - what the main thread does while the others run transactions.
 */
#ifndef DEMO_TATP_WATCH_H
#define DEMO_TATP_WATCH_H

#include "options.h"
#include "worker.h"

#include <signal.h>
#include <stdio.h>

FILE *timeline_open(const char *path);
void watch(struct run *run, const struct worker *workers, unsigned int nr,
	   const struct options *opts, FILE *timeline, const volatile sig_atomic_t *interrupted);

#endif
