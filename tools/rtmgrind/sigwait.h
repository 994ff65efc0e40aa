/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sigwait.h - the effect of signals on waiting threads; see sigwait.c.
 *
 * Must never take a signal, as Valgrind keeps the record of them.
 */
#ifndef RTMGRIND_SIGWAIT_H
#define RTMGRIND_SIGWAIT_H

#include "vthread.h"

void sigwait_action(Int signal, const struct vki_sigaction_base *action);
Bool sigwait_any_handled(void);
Bool sigwait_pending(void);
Bool sigwait_look(void);
Bool sigwait_mask(Addr set);
void sigwait_frame_mask(ThreadId tid, vki_sigset_t *mask);
void sigwait_taken(Int signal);
void sigwait_handler(ThreadId tid, Int signal);
enum syscall_verdict sigwait_call(VexGuestAMD64State *guest);
Bool sigwait_child_there(const struct vthread *t);
Bool sigwait_over(const struct vthread *t);
Bool sigwait_for_child(const struct vthread *t);
enum syscall_verdict sigwait_child_call(VexGuestAMD64State *guest);

#endif
