/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * address.c - is an address in a thread's stack or in the heap?
 *
 * Must not read /proc/self/maps: it differs from run to run, and so would emulated runs with the same seed.
 */

#include "../state/thread-list.h"
#include "address.h"

/* Bytes below its top that count as a stack. Most stacks have more, and use less. */
#define STACK_BYTES (1u << 20)

/* The default of /proc/sys/vm/mmap_min_addr: nothing is mapped below it. */
#define LOWEST_ADDRESS 65536

/* Of the first thread, from the loader. */
extern void *__libc_stack_end;

uint64_t elide_stack_top(uint32_t tid)
{
	if (tid == elide_data->pid)
		return (uintptr_t)__libc_stack_end;
	/* glibc puts a thread's control block at the top of its stack. */
	return (uintptr_t)__builtin_thread_pointer();
}

static bool is_below(uint64_t address, uint64_t top)
{
	return address < top && top - address < STACK_BYTES;
}

enum elide_data_type elide_place(uint64_t address)
{
	if (address < LOWEST_ADDRESS)
		return ELIDE_DATA_UNKNOWN;
	/* The first thread has no block if it never called a lock function. */
	if (is_below(address, (uintptr_t)__libc_stack_end))
		return ELIDE_DATA_STACK;
	for (const struct elide_thread *t = elide_threads_all(); t; t = t->next)
		if (is_below(address, t->stack_top))
			return ELIDE_DATA_STACK;
	return ELIDE_DATA_HEAP;
}
