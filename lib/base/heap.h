/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * heap.h - what libelide-heap.so knows of the heap, for libelide-preload.so to ask.
 */
#ifndef ELIDE_HEAP_H
#define ELIDE_HEAP_H

#include <stdbool.h>
#include <stdint.h>

#include "../datafile.h"

#pragma GCC visibility push(default)

/**
 * struct elide_heap_block - a block of the heap whose allocation was sampled.
 * @base, @size: of it
 * @nr, @frames: stack of its allocation, return addresses, the innermost first: that of the call
 *               of the allocator
 */
struct elide_heap_block {
	uint64_t base;
	uint64_t size;
	unsigned int nr;
	uint64_t frames[ELIDE_STACK_FRAMES];
};

/**
 * elide_heap_find() - the heap block that an address lies in. Not in every process: may be NULL.
 * @address: any byte of it
 * @block: receives it
 *
 * Allocates nothing; waits for no lock for long. Not inside a transaction.
 *
 * Return: false if it is not known.
 */
bool elide_heap_find(uint64_t address, struct elide_heap_block *block) __attribute__((weak));

#pragma GCC visibility pop

#endif
