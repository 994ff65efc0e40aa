/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * slice.h - how long a thread runs before another one may; see slice.c.
 *
 * Must never decide which thread runs.
 */
#ifndef RTMGRIND_SLICE_H
#define RTMGRIND_SLICE_H

#include "rtmgrind.h"

void slice_init(void);
void slice_stop(VexGuestAMD64State *guest);
void slice_wait_turn(void);
void slice_park(void);
void slice_unpark(ThreadId tid, Long at);
void slice_begin(ThreadId me);
void slice_end(ThreadId me);

#endif
