// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * shared.c - which memory other processes may see.
 *
 * In such memory a transaction cannot be isolated, as other processes do not wait for their turn,
 * and futexes have waiters in the kernel. Valgrind does not record which memory is shared, so this
 * is noted at the guest's mmap, shmat, mremap and munmap calls.
 *
 * Must never be needed for memory that the program has not mapped itself.
 */
#include "shared.h"
#include "pub_tool_rangemap.h"

static RangeMap *map;
static UInt nr_shared;

/** shared_init() - make an empty map of shared memory. */
void shared_init(void)
{
	map = VG_(newRangeMap)(VG_(malloc), "rtmgrind.shared", VG_(free), 0);
}

/**
 * shared_map() - note that memory was mapped or unmapped.
 * @start: first byte
 * @size: bytes
 * @shared: it was mapped so that other processes may see it
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
