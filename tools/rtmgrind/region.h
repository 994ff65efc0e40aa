/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * region.h - the region of interest: where the cost model is on; see region.c.
 *
 * Must never be needed to decide whether a transaction aborts by a conflict.
 */
#ifndef RTMGRIND_REGION_H
#define RTMGRIND_REGION_H

#include "rtmgrind.h"

/* The cost model is on: latencies are charged, and caches simulated if the machine has some. */
extern Bool in_region;

Long region_cycles(void);
void region_set(Bool in);

#endif
