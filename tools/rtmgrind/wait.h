/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * wait.h - threads that wait in front of a system call; see wait.c.
 *
 * Must never depend on real time.
 */
#ifndef RTMGRIND_WAIT_H
#define RTMGRIND_WAIT_H

#include "vthread.h"

void wait_set_kind(struct wait *wait, enum wait_kind kind);
Bool wait_again(VexGuestAMD64State *guest);
void wait_begin(VexGuestAMD64State *guest, enum wait_kind kind, Long deadline, Long at_deadline);
void wait_outside(void);
struct vki_pollfd *wait_fds(UInt nr);
void wait_cancel(ThreadId tid);
enum syscall_verdict wait_answer(VexGuestAMD64State *guest, Long result);
void wait_complete(ThreadId tid, Long result, Long at);
void wait_expire(ThreadId tid);
Bool wait_expired(void);
Long wait_key(const struct vthread *t, Bool busy);
void wait_poke(ThreadId tid, Long at);
void wait_poke_signalled_at(Int lwp, Long at);
void wait_poke_signalled(Int lwp);
void wait_poke_fds(Long at);
void wait_fds_changed(void);
Bool wait_fd_waiters(void);
void wait_child_started(void);
void wait_child_reaped(void);
Bool wait_children(void);
Bool wait_real_children(void);
void wait_forked(void);
Bool wait_alone(void);
Bool wait_kernel_may(void);

#endif
