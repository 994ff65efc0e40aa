/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sched.h - Valgrind's big lock: which guest thread runs; see sched.c.
 *
 * Must never be called with the scheduler's guard held, except for sched_watch_kernel().
 */
#ifndef RTMGRIND_SCHED_H
#define RTMGRIND_SCHED_H

#include "vthread.h"

void sched_init(void);
Bool sched_is_idle(void);
Bool sched_alone(void);
ThreadId sched_watch_kernel(void);
void sched_thread_create(ThreadId parent, ThreadId child);
void sched_thread_exit(ThreadId tid);

#endif
