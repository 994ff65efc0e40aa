/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * guest.h - the guest program's memory, its current instruction and its system call; see guest.c.
 *
 * Must never be needed by code without a guest, such as caches and distances.
 */
#ifndef RTMGRIND_GUEST_H
#define RTMGRIND_GUEST_H

#include "rtmgrind.h"

/*
 * Address of the guest instruction that has called the emulator. Valgrind's own instruction
 * pointer is up to date at the beginning of a block only.
 */
extern Addr current_pc;

Bool guest_may(Addr addr, SizeT size, UInt prot);
enum syscall_verdict guest_answer(VexGuestAMD64State *guest, Long result);

#endif
