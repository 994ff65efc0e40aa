/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * startup.h - the time before the program begins; see startup.c.
 *
 * Must never be needed once the program has begun.
 */
#ifndef RTMGRIND_STARTUP_H
#define RTMGRIND_STARTUP_H

#include "rtmgrind.h"

struct block;

extern Bool startup_lasts;

void startup_init(const UWord *auxv);
void startup_call(const VexGuestAMD64State *guest);
Bool startup_copies_names(void);
void startup_rdtsc(void);
void startup_emit_insn(struct block *b, Addr addr);
void startup_emit_end(struct block *b);
Bool startup_needs_registers(const VexGuestExtents *extents);

#endif
