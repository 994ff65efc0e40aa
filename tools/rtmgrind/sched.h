/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sched.h - which guest thread runs, and for how long; see sched.c.
 *
 * Must never be called with the scheduler's guard held.
 */
#ifndef RTMGRIND_SCHED_H
#define RTMGRIND_SCHED_H

#include "vthread.h"
#include "host.h"

void sched_init(void);
Long sched_latest(void);
void sched_note_end(void);
Long sched_end_time(void);
void sched_end_slice(VexGuestAMD64State *guest);
Bool sched_is_idle(void);
Bool sched_alone(void);
void sched_wait_turn(void);
void sched_park(void);
void sched_unpark(ThreadId tid, Long at);
Long sched_sleep(struct host_waitv *words, UInt nr, Long timeout_ns);
Bool sched_at_home(void);
void sched_go_home(void);
Int sched_lwp(Int lwp);
void sched_thread_create(ThreadId parent, ThreadId child);
void sched_thread_exit(ThreadId tid);

#endif
