// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * shared.c - which memory other processes may see.
 *
 * Transactions cannot be isolated from processes that the emulator does not
 * run, and futexes there are the kernel's. Kept from the guest's own mmap,
 * shmat, mremap and munmap calls, as valgrind does not record it.
 */
#include "shared.h"
#include "pub_tool_rangemap.h"

static RangeMap *map;
static UInt nr_shared;

/** shared_init() - begin with no shared memory. */
void shared_init(void)
{
	map = VG_(newRangeMap)(VG_(malloc), "rtmgrind.shared", VG_(free), 0);
}

/**
 * shared_map() - memory was mapped or unmapped.
 * @start: first byte
 * @size: bytes
 * @shared: other processes may see it
 */
void shared_map(Addr start, SizeT size, Bool shared)
{
	if (!size || (!shared && !nr_shared))
		return;
	nr_shared += shared;
	VG_(bindRangeMap)(map, start, start + size - 1, shared);
}

/**
 * shared_contains() - may other processes see a byte?
 * @addr: its address
 *
 * Return: True if so.
 */
Bool shared_contains(Addr addr)
{
	UWord min, max, shared;

	if (!nr_shared)
		return False;
	VG_(lookupRangeMap)(&min, &max, &shared, map, addr);
	return shared != 0;
}
