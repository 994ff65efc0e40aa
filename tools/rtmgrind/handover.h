/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * handover.h - which host thread executes the running guest thread; see handover.c.
 *
 * Must never decide which guest thread runs.
 */
#ifndef RTMGRIND_HANDOVER_H
#define RTMGRIND_HANDOVER_H

#include "rtmgrind.h"
#include "host.h"

void handover_lock(void);
void handover_unlock(void);
ThreadId handover_host(void);
void handover_set_host(ThreadId tid);
ThreadId handover_moved(void);
void handover_wake(ThreadId tid);
void handover_wake_sleeper(void);
Long handover_sleep(struct host_waitv *words, UInt nr, Long timeout_ns);
void handover_give_way(ThreadId me, ThreadId host, ThreadId next, Bool owned);
Bool handover_at_home(void);
void handover_go_home(void);
Int handover_lwp(Int lwp);
void handover_forked(void);

#endif
