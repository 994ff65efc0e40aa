/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * machine.h - the properties of the simulated machine that the program can see; see machine.c.
 *
 * Must never show a property of the host that differs from run to run.
 */
#ifndef RTMGRIND_MACHINE_H
#define RTMGRIND_MACHINE_H

#include "rtmgrind.h"

void machine_init(void);
void machine_first_insn(ThreadId tid);
void machine_cpuid_enter(VexGuestAMD64State *guest);
void machine_cpuid_leave(VexGuestAMD64State *guest);
ULong machine_rdtsc(void);
void machine_rdtscp(VexGuestAMD64State *guest);
enum syscall_verdict machine_call(VexGuestAMD64State *guest, Bool *ours);

#endif
