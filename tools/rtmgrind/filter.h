/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * filter.h - the accesses that cost nothing and concern no other core; see filter.c.
 *
 * Must never be needed on a machine without caches.
 */
#ifndef RTMGRIND_FILTER_H
#define RTMGRIND_FILTER_H

#include "rtmgrind.h"

/*
 * The filter of the running hardware thread, which generated code compares with: for each set of
 * the first-level cache the address of a line that may be read, then for each set the address of
 * a line that may be written; 0 none.
 */
extern Addr *filter_entries;
/*
 * While a transaction of the running thread is open, its filter is here and filter_entries has no
 * line: a helper must note the bytes of each access. Else there is no line here.
 */
extern Addr *filter_txn_entries;
/* Sets of the first-level cache less one, which is a mask. */
extern UInt filter_set_mask;

/**
 * filter_passes() - does the filter let an access in a transaction pass?
 * @addr: first byte
 * @size: bytes
 * @write: False for a read
 *
 * Return: True if it does; block_filter_miss() makes code that compares likewise.
 */
static inline Bool filter_passes(Addr addr, SizeT size, Bool write)
{
	UInt entry = addr / LINE_SIZE & filter_set_mask;

	if (write)
		entry += filter_set_mask + 1;
	return filter_txn_entries[entry] == line_of(addr + size - 1);
}

void filter_init(void);
void filter_use(Int cpu, Bool in_txn);
void filter_use_none(void);
void filter_allow(Int cpu, Addr line, Bool write);
void filter_forget(Int core, Addr line);
void filter_forget_cpu(Int cpu);
void filter_forget_all(void);

#endif
