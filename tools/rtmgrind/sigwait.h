/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sigwait.h - what signals mean to threads that wait; see sigwait.c.
 *
 * Must never take a signal: Valgrind keeps the book of them.
 */
#ifndef RTMGRIND_SIGWAIT_H
#define RTMGRIND_SIGWAIT_H

#include "vthread.h"

void wait_sigaction(Int signal, const struct vki_sigaction_base *action);
Bool wait_signals_handled(void);
Bool wait_signal_pending(void);
void wait_look_outside(Long at);
Bool wait_mask(Addr set);
void wait_frame_mask(ThreadId tid, vki_sigset_t *mask);
void wait_signal_taken(Int signal);
void wait_signal(ThreadId tid, Int signal);
enum syscall_verdict wait_signal_call(VexGuestAMD64State *guest);
Bool wait_child_there(const struct vthread *t);
enum syscall_verdict wait_child_call(VexGuestAMD64State *guest);

#endif
