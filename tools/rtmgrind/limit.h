/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * limit.h - RLIMIT_AS, the limit of a program's address space; see limit.c.
 *
 * Must never limit Valgrind itself.
 */
#ifndef RTMGRIND_LIMIT_H
#define RTMGRIND_LIMIT_H

#include "rtmgrind.h"

SizeT limit_mapped(Addr from, Addr to);
void limit_init(void);
void limit_exec(Bool begins);
void limit_data_end(Addr end);
enum syscall_verdict limit_call(VexGuestAMD64State *guest, Bool *ours);

#endif
