/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fdwait.h - system calls that may wait for a file descriptor; see fdwait.c.
 *
 * Must never let such a call wait in the kernel while another thread could run.
 */
#ifndef RTMGRIND_FDWAIT_H
#define RTMGRIND_FDWAIT_H

#include "rtmgrind.h"

enum syscall_verdict fdwait_transfer(VexGuestAMD64State *guest, Short events);
enum syscall_verdict fdwait_poll(VexGuestAMD64State *guest);
enum syscall_verdict fdwait_select(VexGuestAMD64State *guest);
enum syscall_verdict fdwait_epoll(VexGuestAMD64State *guest);

#endif
