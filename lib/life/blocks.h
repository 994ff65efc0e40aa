/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * blocks.h - free blocks: struct elide_thread that no thread has.
 *
 * They are made several at a time in a global-lock path, with the record and the chunk of rows that a new
 * thread needs. A thread takes one, and gives it back, without waiting for another thread.
 */
#ifndef ELIDE_BLOCKS_H
#define ELIDE_BLOCKS_H

#include <stdbool.h>
#include <stdint.h>

#include "../state/thread.h"

#pragma GCC visibility push(hidden)

/**
 * elide_block_pop() - take the free block that was given back last. Return: NULL if there is none.
 */
struct elide_thread *elide_block_pop(void);

/** elide_block_push() - give a block back: its thread has ended. */
void elide_block_push(struct elide_thread *t);

/** elide_blocks_left() - number of free blocks, which other threads may change meanwhile. */
uint32_t elide_blocks_left(void);

/** elide_blocks_nr() - all blocks that were made. */
uint32_t elide_blocks_nr(void);

/** elide_blocks_full() - are there ELIDE_MAX_THREADS blocks, none of them free? */
bool elide_blocks_full(void);

/** elide_blocks_some() - a quarter of the blocks that were made, at least 1, at most BATCH. */
uint32_t elide_blocks_some(void);

/**
 * elide_blocks_make() - make @nr further blocks.
 *
 * In a global-lock path. Return: the number made, less if ELIDE_MAX_THREADS or the memory allows no more.
 */
uint32_t elide_blocks_make(uint32_t nr);

/** elide_block_furnish() - give a block that is new or was wiped record and chunk. In a global-lock path. */
void elide_block_furnish(struct elide_thread *t);

/** elide_blocks_forget() - in a forked child: there is no block but the calling thread's. */
void elide_blocks_forget(void);

#pragma GCC visibility pop

#endif
