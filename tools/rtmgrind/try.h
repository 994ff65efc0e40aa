/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * try.h - system calls that wait for events that only the kernel knows; see try.c.
 *
 * Must never change registers that the program sees.
 */
#ifndef RTMGRIND_TRY_H
#define RTMGRIND_TRY_H

#include "vthread.h"

enum syscall_verdict try_call(VexGuestAMD64State *guest);
Bool try_over(struct vthread *t, Int error);

#endif
