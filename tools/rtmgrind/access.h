/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * access.h - memory accesses: conflicts, and what a transaction touches; see access.c.
 *
 * Must never be called behind the access that it announces.
 */
#ifndef RTMGRIND_ACCESS_H
#define RTMGRIND_ACCESS_H

#include "rtmgrind.h"

/* The bytes of its cache line that the running access touches, a bit each. */
extern ULong current_bytes;

void txn_conflict(ThreadId tid, Addr addr, Bool write);
void txn_access(ThreadId tid, Addr addr, SizeT size, Bool write);
Bool access_kernel_write(Addr addr, SizeT size);
void guest_access_again(Addr addr, SizeT size, Bool write);
void guest_access(Addr addr, SizeT size, Bool write);
void txn_evicted(ThreadId tid, Addr addr, Bool far);

#endif
