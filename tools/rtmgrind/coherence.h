/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * coherence.h - the simulated caches, as the rest of the emulator sees them.
 */
#ifndef RTMGRIND_COHERENCE_H
#define RTMGRIND_COHERENCE_H

#include "rtmgrind.h"

/*
 * What the running hardware thread may access without asking: for each set of
 * its first-level cache the line used last, if it may be read, then for each
 * set the same line if it may be written. Generated code compares with it.
 */
extern Addr *coherence_filter;
/*
 * While a transaction of the running thread is open generated code finds nothing there, as all
 * bytes that it touches are noted; the filter is here. Else nothing is here.
 */
extern Addr *coherence_txn_filter;
/* Sets of the first-level cache less one, which is a mask. */
extern UInt coherence_set_mask;

/**
 * coherence_passes() - would the filter let an access in a transaction pass?
 * @addr: first byte
 * @size: bytes
 * @write: False for a read
 *
 * Return: True if it would; block_filter_miss() compares likewise.
 */
static inline Bool coherence_passes(Addr addr, SizeT size, Bool write)
{
	UInt entry = addr / LINE_SIZE & coherence_set_mask;

	if (write)
		entry += coherence_set_mask + 1;
	return coherence_txn_filter[entry] == line_of(addr + size - 1);
}

void coherence_init(void);
void coherence_resume(ThreadId tid);
void coherence_access(ThreadId tid, Addr addr, Bool write);
void coherence_allow(ThreadId tid, Addr line, Bool write);
void coherence_forget_filters(void);
void coherence_txn_begin(ThreadId tid);
void coherence_txn_undo(ThreadId tid, Addr line);

#endif
