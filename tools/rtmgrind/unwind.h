/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * unwind.h - the call stack of a guest thread; see unwind.c.
 *
 * Must never change anything that the guest sees, nor virtual time.
 */
#ifndef RTMGRIND_UNWIND_H
#define RTMGRIND_UNWIND_H

#include "rtmgrind.h"

void unwind_forget(void);
Bool unwind_insn_pushes(Addr pc);
Addr unwind_frames_end(ThreadId tid, Addr pc, Addr first, Addr end);
UInt unwind_stack(ThreadId tid, Addr pc, Bool pushed, ULong *frames, UInt max);

#endif
