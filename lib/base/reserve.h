/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * reserve.h - tables of a fixed size: address space that takes memory only where it is written.
 */
#ifndef ELIDE_RESERVE_H
#define ELIDE_RESERVE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>

#include "../emulator.h"
#include "syscalls.h"

#pragma GCC visibility push(hidden)

/**
 * struct elide_arena - one mapping for many tables. A mapping takes 4 us (measured on a virtual AMD EPYC),
 * and a process without a lock call lives for 500 us.
 * @map:  makes a mapping; NULL if there is no memory
 * @size: bytes of the arena, a multiple of the page's size
 * @at, @used: for elide_arena_take()
 */
struct elide_arena {
	void *(*map)(size_t size);
	size_t size;
	char *at;
	size_t used;
};

/**
 * elide_arena_take() - whole pages of zeroes, never freed; only one thread may make the first call.
 *
 * Pages that do not fit get a mapping of their own. Return: NULL if there is no memory.
 */
void *elide_arena_take(struct elide_arena *arena, size_t size);

/** elide_reserve() - @size bytes of zeroes, never freed. Return: NULL if there is no address space. */
void *elide_reserve(size_t size);

#pragma GCC visibility pop

/**
 * elide_fill_gap() - in a forked child: map zeroes where the parent has a mapping that the child has not got.
 * @at: start of the parent's mapping
 * @size: its bytes
 * @piece: bytes that are filled at a time if not all are free, a multiple of the page's size
 *
 * What the child has mapped there meanwhile stays. Valgrind believes that the child has the parent's
 * mapping, and maps something else there only with MAP_FIXED.
 */
static inline void elide_fill_gap(char *at, size_t size, size_t piece)
{
	int fixed = valgrind_runs() ? MAP_FIXED : MAP_FIXED_NOREPLACE;
	char *p = sys_mmap(at, size, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS | fixed | MAP_NORESERVE, -1);

	/* Linux before 4.17 takes the address as a hint. */
	if (p != MAP_FAILED && p != at)
		sys_munmap(p, size);
	if (p == at || size <= piece)
		return;
	for (size_t done = 0; done < size; done += piece)
		elide_fill_gap(at + done, size - done < piece ? size - done : piece, piece);
}

/** elide_power_of_two() - the least power of two that is not below @n, at most 2^31. */
static inline uint32_t elide_power_of_two(uint32_t n)
{
	uint32_t p = 1;

	while (p < n)
		p *= 2;
	return p;
}

#endif
