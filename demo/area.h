/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * area.h - arrays that grow without ever moving, ready ahead of their use.
 *
 * Address space for the largest size is reserved at once, and pages are
 * touched in batches before an operation that might need them. So inside a
 * critical section, which may be a hardware transaction, appending is a store
 * to a page that is present: nothing is copied, allocated or faulted in.
 */
#ifndef DEMO_AREA_H
#define DEMO_AREA_H

#include "base.h"

/**
 * struct area - elements of one size at consecutive addresses
 * @base: the first of them
 * @stride: bytes of an element
 * @max: elements there is address space for
 *
 * Read only once it is set up, so it may share lines with anything read only.
 */
struct area {
	char *base;
	size_t stride;
	uint64_t max;
};

int area_init(struct area *area, size_t stride, uint64_t max);
void area_destroy(struct area *area);
int area_promise(const struct area *area, uint64_t first, uint64_t limit, uint64_t *promised,
		 uint64_t *credit, uint64_t nr);

/**
 * area_at() - the address of an element
 * @area: the area
 * @i: its number, below @area->max
 */
static inline void *area_at(const struct area *area, uint64_t i)
{
	return area->base + i * area->stride;
}

#endif
