/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * procfs.h - files in which the kernel describes the machine and the process; see procfs.c.
 *
 * Must never show a number that differs from run to run.
 */
#ifndef RTMGRIND_PROCFS_H
#define RTMGRIND_PROCFS_H

#include "rtmgrind.h"

enum syscall_verdict procfs_open(VexGuestAMD64State *guest);
enum syscall_verdict procfs_readlink(VexGuestAMD64State *guest);

#endif
