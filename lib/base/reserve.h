/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * reserve.h - tables of a fixed size: address space that takes memory only where it is written.
 */
#ifndef ELIDE_RESERVE_H
#define ELIDE_RESERVE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>

/** elide_reserve() - @size bytes of zeroes, never freed. Return: NULL if there is no address space. */
static inline void *elide_reserve(size_t size)
{
	void *p = mmap(NULL, size, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return p == MAP_FAILED ? NULL : p;
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
