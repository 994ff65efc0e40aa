/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * timerfd.h - timers that are file descriptors; see timerfd.c.
 *
 * Must never let the kernel decide when one expires.
 */
#ifndef RTMGRIND_TIMERFD_H
#define RTMGRIND_TIMERFD_H

#include "rtmgrind.h"

void timerfd_note(UInt nr, const UWord *args, Long result);
void timerfd_date_moved(Long by, Long at);
Long timerfd_next(void);
void timerfd_expire(Long now);
Bool timerfd_outside(const struct vki_pollfd *fds, UInt nr);
Bool timerfd_read(VexGuestAMD64State *guest, enum syscall_verdict *verdict);
enum syscall_verdict timerfd_call(VexGuestAMD64State *guest, Bool *ours);

#endif
