/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * watch.h - what the main thread does while the others run transactions.
 */
#ifndef DEMO_TATP_WATCH_H
#define DEMO_TATP_WATCH_H

#include "options.h"
#include "worker.h"

#include "../../base/timeline.h"

#include <signal.h>

int watch_timeline(struct timeline *t, const struct options *opts);
void watch(struct run *run, const struct worker *workers, unsigned int nr,
	   const struct options *opts, struct timeline *timeline, const volatile sig_atomic_t *interrupted);

#endif
