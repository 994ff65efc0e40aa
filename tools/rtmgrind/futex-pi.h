/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * futex-pi.h - priority-inheriting locks in virtual time; see futex-pi.c.
 *
 * Must never wait in the kernel, whose clocks are not those of virtual time.
 */
#ifndef RTMGRIND_FUTEX_PI_H
#define RTMGRIND_FUTEX_PI_H

#include "rtmgrind.h"

Bool futex_pi_free(Addr word);
enum syscall_verdict futex_pi_call(VexGuestAMD64State *guest, UInt op);
void futex_pi_owner_exits(ThreadId tid);

#endif
