// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * area.c - reserves address space and makes its pages present (see area.h).
 *
 * All functions of this file make system calls or fault pages in, so none may be
 * called inside a critical section.
 */
#include "area.h"

#include <errno.h>
#include <stdbool.h>
#include <sys/mman.h>

/* Bytes of the smallest page of x86-64. Larger pages consist of these. */
#define PAGE 4096

/* The default of @batch: a thread writes the shared counter once in 1024 appends. */
#define BATCH 1024

/**
 * area_init() - reserve address space
 * @area: the area
 * @stride: size of an element in bytes
 * @max: number of elements to reserve address space for
 *
 * Return: 0, or -ENOMEM with nothing reserved.
 */
int area_init(struct area *area, uint32_t stride, uint64_t max)
{
	size_t bytes;
	void *base;

	*area = (struct area){ .stride = stride, .max = max, .batch = BATCH };
	if (__builtin_mul_overflow(max, stride, &bytes))
		return -ENOMEM;
	base = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (base == MAP_FAILED)
		return -ENOMEM;
	/* Random look-ups in small pages would miss the TLB nearly every time. */
	madvise(base, bytes, MADV_HUGEPAGE);
	area->base = base;
	return 0;
}

/**
 * area_small_pages() - use pages of 4 KiB
 * @area: an area, of which nothing was used yet
 *
 * For one of which little will be used: a large page would make 2 MiB present for its first byte.
 */
void area_small_pages(struct area *area)
{
	madvise(area->base, area->max * area->stride, MADV_NOHUGEPAGE);
}

/**
 * area_destroy() - unmap an area
 * @area: an area, also one for which area_init() failed
 */
void area_destroy(struct area *area)
{
	if (area->base)
		munmap(area->base, area->max * area->stride);
	*area = (struct area){ 0 };
}

/*
 * Make the pages of [from, to) present. Another thread may write to the same page,
 * so an atomic OR with 0 keeps the content. ThreadSanitizer would report the OR as a
 * race with that thread's plain stores.
 */
static void __attribute__((no_sanitize("thread"))) touch(char *from, const char *to)
{
	for (char *p = from; p < to; p = (char *)((uintptr_t)p / PAGE * PAGE) + PAGE)
		__atomic_fetch_or(p, 0, __ATOMIC_RELAXED);
}

/**
 * area_promise() - reserve at least @nr present elements for the calling thread
 * @area: the area
 * @first: number of the array's first element within the area
 * @limit: maximum number of elements of the array
 * @promised: number of elements of the array that have been promised to all threads
 * @credit: number of promised elements that the calling thread has not used yet
 * @nr: number of elements that the calling thread needs
 *
 * A thread that appends decrements its credit. So the array never has more elements
 * than were promised, and all promised elements are in present pages.
 *
 * Return: 0, or -ENOMEM if the array would exceed its limit.
 */
int area_promise(const struct area *area, uint64_t first, uint64_t limit, uint64_t *promised,
		 uint64_t *credit, uint64_t nr)
{
	uint64_t old = __atomic_load_n(promised, __ATOMIC_RELAXED), take;

	if (*credit >= nr)
		return 0;
	/*
	 * Relaxed, without a partner: the counter orders nothing. The index's latch orders
	 * the accesses to the elements themselves.
	 */
	do {
		take = nr - *credit > area->batch ? nr - *credit : area->batch;
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
