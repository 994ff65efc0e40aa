// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * area.c - reserves address space and makes its pages present (see area.h).
 *
 * Nothing here may be called inside a critical section.
 */
#include "area.h"

#include <errno.h>
#include <stdbool.h>
#include <sys/mman.h>

/* Bytes of a page on every x86-64 processor; larger ones consist of these. */
#define PAGE 4096

/* Elements promised at once: rarely enough that their counter is not fought over. */
#define BATCH 1024

/**
 * area_init() - reserve address space
 * @area: the area
 * @stride: bytes of an element
 * @max: elements it must have room for
 *
 * Return: 0, or -ENOMEM with nothing reserved.
 */
int area_init(struct area *area, size_t stride, uint64_t max)
{
	size_t bytes;
	void *base;

	*area = (struct area){ .stride = stride, .max = max };
	if (__builtin_mul_overflow(max, stride, &bytes))
		return -ENOMEM;
	base = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (base == MAP_FAILED)
		return -ENOMEM;
	/* Looking up what is anywhere in it would wait for translations of small pages. */
	madvise(base, bytes, MADV_HUGEPAGE);
	area->base = base;
	return 0;
}

/**
 * area_destroy() - give the address space and its memory back
 * @area: an area, or one that area_init() refused
 */
void area_destroy(struct area *area)
{
	if (area->base)
		munmap(area->base, area->max * area->stride);
	*area = (struct area){ 0 };
}

/*
 * Another thread may be writing to the page already, so what is there must
 * stay. ThreadSanitizer would take this for a race with it.
 */
static void __attribute__((no_sanitize("thread"))) touch(char *from, const char *to)
{
	for (char *p = from; p < to; p = (char *)((uintptr_t)p / PAGE * PAGE) + PAGE)
		__atomic_fetch_or(p, 0, __ATOMIC_RELAXED);
}

/**
 * area_promise() - have at least @nr elements ready for the calling thread
 * @area: the area
 * @first: number of the first element of the array within the area
 * @limit: most elements of the array
 * @promised: elements of the array promised to all threads so far
 * @credit: those promised to the calling thread that it has not used
 * @nr: how many it needs
 *
 * Who appends counts down its credit, so the array never has more elements
 * than were promised, and these are present.
 *
 * Return: 0, or -ENOMEM if the array would exceed its limit.
 */
int area_promise(const struct area *area, uint64_t first, uint64_t limit, uint64_t *promised,
		 uint64_t *credit, uint64_t nr)
{
	uint64_t old = __atomic_load_n(promised, __ATOMIC_RELAXED), take;

	if (*credit >= nr)
		return 0;
	/* Relaxed: only the number counts; elements change hands under the index's latch. */
	do {
		take = nr - *credit > BATCH ? nr - *credit : BATCH;
		if (take > limit - old)
			take = limit - old;
		if (take < nr - *credit)
			return -ENOMEM;
	} while (!__atomic_compare_exchange_n(promised, &old, old + take, true, __ATOMIC_RELAXED,
					      __ATOMIC_RELAXED));
	touch(area_at(area, first + old), area_at(area, first + old + take));
	*credit += take;
	return 0;
}
