/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * area.h - arrays that grow in place, with pages that are present before use.
 *
 * An area reserves address space for its largest size at once. Pages are
 * touched in batches before the operation that may need them. Inside a critical
 * section, which may be a hardware transaction, appending is then a store to a
 * present page: it copies nothing, allocates nothing and faults nothing in.
 */
#ifndef DEMO_AREA_H
#define DEMO_AREA_H

#include "../base/base.h"

/**
 * struct area - an array of elements of one size
 * @base: address of the first element
 * @stride: size of an element in bytes
 * @batch: elements that area_promise() hands to a thread at once, so that the shared counter is
 *	   hardly contended; who wants another number writes it after area_init()
 * @max: number of elements that the reserved address space holds
 *
 * Nothing writes the struct after it was initialised, so it may share a cache line with
 * other read-only data.
 */
struct area {
	char *base;
	uint32_t stride;
	uint32_t batch;
	uint64_t max;
};

int area_init(struct area *area, uint32_t stride, uint64_t max);
void area_small_pages(struct area *area);
void area_destroy(struct area *area);
int area_promise(const struct area *area, uint64_t first, uint64_t limit, uint64_t *promised,
		 uint64_t *credit, uint64_t nr);

/**
 * area_at() - address of an element
 * @area: the area
 * @i: number of the element, below @area->max
 */
static inline void *area_at(const struct area *area, uint64_t i)
{
	return area->base + i * area->stride;
}

#endif
