/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * timers.h - timers that send signals; see timers.c.
 *
 * Must never arm a timer of the host, except just before exec replaces the program.
 */
#ifndef RTMGRIND_TIMERS_H
#define RTMGRIND_TIMERS_H

#include "rtmgrind.h"

Long timers_next(void);
Bool timers_armed(void);
Long timers_slice(ThreadId tid, Long slice);
void timers_expire(Long now);
void timers_delivered(vki_siginfo_t *info);
void timers_thread_exits(ThreadId tid);
void timers_date_moved(Long by, Long at);
void timers_forked(void);
void timers_exec(Bool begins);
void timers_init(void);
enum syscall_verdict timers_call(VexGuestAMD64State *guest, Bool *ours);

#endif
