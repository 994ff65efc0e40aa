/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * syscalls.h - the treatment of each system call; see syscalls.c.
 *
 * Must never be called in a transaction: a system call aborts it first.
 */
#ifndef RTMGRIND_SYSCALLS_H
#define RTMGRIND_SYSCALLS_H

#include "rtmgrind.h"

ULong syscall_enter(VexGuestAMD64State *guest);
void syscall_pre(ThreadId tid, UInt nr, UWord *args, UInt nr_args);
void syscall_post(ThreadId tid, UInt nr, UWord *args, UInt nr_args, SysRes res);

#endif
