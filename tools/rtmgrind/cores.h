/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cores.h - which threads have one of the simulated processors; see cores.c.
 *
 * Only the running thread, or a holder of the scheduler's guard, may call it.
 */
#ifndef RTMGRIND_CORES_H
#define RTMGRIND_CORES_H

#include "rtmgrind.h"

void cores_init(void);
void cores_reset(ThreadId only);
void cores_release(ThreadId tid);
Bool cores_shared(Int cpu);
void cores_place(void);
Bool cores_wanted(ThreadId tid);
Bool cores_preempt(ThreadId tid);
Bool cores_evict(ThreadId tid);

#endif
