/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * lwp.h - host threads: which one calls, sleeps or has ended, and when each polls; see lwp.c.
 *
 * Must never apply the stacks of a parent to its child.
 */
#ifndef RTMGRIND_LWP_H
#define RTMGRIND_LWP_H

#include "rtmgrind.h"

Bool lwp_same_stack(Addr a, Addr b);
ThreadId lwp_find(void);
void lwp_note_call(Bool forks);
void lwp_poll_soon(void);
Bool lwp_sleeps(Int lwp);
void lwp_await_end(Int lwp);
enum syscall_verdict lwp_signal_call(VexGuestAMD64State *guest);

#endif
