/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * coherence.h - the simulated caches, as the rest of the emulator sees them; see coherence.c.
 *
 * Must never be needed to decide which transactions conflict.
 */
#ifndef RTMGRIND_COHERENCE_H
#define RTMGRIND_COHERENCE_H

#include "rtmgrind.h"

void coherence_init(void);
void coherence_resume(ThreadId tid);
void coherence_access(ThreadId tid, Addr addr, Bool write);
void coherence_allow(ThreadId tid, Addr line, Bool write);
void coherence_forget_filters(void);
void coherence_txn_begin(ThreadId tid);
void coherence_txn_undo(ThreadId tid, Addr line);

#endif
