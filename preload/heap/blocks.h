/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * blocks.h - a table of the sampled blocks of the heap, by any address in them.
 */
#ifndef ELIDE_BLOCKS_H
#define ELIDE_BLOCKS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/heap.h"

#pragma GCC visibility push(hidden)

/** blocks_start() - make room. Return: false if there is no memory. */
bool blocks_start(void);

/**
 * blocks_add() - enter a block.
 * @block: the block, which replaces one at the same address
 *
 * Without room, the block stays unknown.
 */
void blocks_add(const struct elide_heap_block *block);

/**
 * blocks_remove() - forget a block if it is known.
 * @base: its address
 * @block: receives it, unless NULL
 *
 * Return: true if it was known.
 */
bool blocks_remove(uint64_t base, struct elide_heap_block *block);

/**
 * blocks_remove_in_txn() - blocks_remove() inside a transaction: if that aborts, the block is known again.
 * @base: its address
 */
void blocks_remove_in_txn(uint64_t base);

/** blocks_known() - may a block be known? False is certain; costs one load. */
bool blocks_known(uint64_t base);

/** blocks_before_fork(), blocks_after_fork() - keep other threads out of the table during a fork. */
void blocks_before_fork(void);
void blocks_after_fork(void);

#pragma GCC visibility pop

#endif
