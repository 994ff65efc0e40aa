/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * access.h - memory accesses: conflicts, and the sets of transactions; see access.c.
 *
 * Must never be called after the access itself.
 */
#ifndef RTMGRIND_ACCESS_H
#define RTMGRIND_ACCESS_H

#include "rtmgrind.h"

/* The bytes of its cache line that the running access touches, a bit each. */
extern ULong current_bytes;

void access_conflict(ThreadId tid, Addr addr, Bool write);
void access_direct(ThreadId tid, Addr addr, SizeT size, Bool write);
Bool access_kernel_write(Addr addr, SizeT size);
void access_again(Addr addr, SizeT size, Bool write);
void access_cached(Addr addr, SizeT size, Bool write);
void access_evicted(ThreadId tid, Addr addr, Bool far);

#endif
