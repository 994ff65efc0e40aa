/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * heap.h - how libelide-preload.so asks libelide-heap.so about the heap.
 */
#ifndef ELIDE_HEAP_H
#define ELIDE_HEAP_H

#include <stdbool.h>
#include <stdint.h>

#include "../datafile.h"

#pragma GCC visibility push(default)

/**
 * struct elide_heap_block - a block of the heap whose allocation was sampled.
 * @base, @size: its address and bytes
 * @nr, @frames: stack of its allocation: return addresses, that of the call of the allocator first
 */
struct elide_heap_block {
	uint64_t base;
	uint64_t size;
	unsigned int nr;
	uint64_t frames[ELIDE_STACK_FRAMES];
};

/**
 * elide_heap_find() - the sampled heap block that contains an address; NULL without that library.
 * @address: any byte of it
 * @block: receives it
 *
 * Allocates nothing; waits for no lock for long. Not inside a transaction.
 *
 * Return: false if there is none.
 */
bool elide_heap_find(uint64_t address, struct elide_heap_block *block) __attribute__((weak));

#pragma GCC visibility pop

#endif
