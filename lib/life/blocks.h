/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * blocks.h - blocks of threads that no thread has.
 *
 * They are made several at a time in a global-lock path, with all that a thread needs which begins: its
 * record and its chunk of rows. A thread takes one, and leaves it, without waiting for another
 * thread.
 */
#ifndef ELIDE_BLOCKS_H
#define ELIDE_BLOCKS_H

#include <stdbool.h>
#include <stdint.h>

#include "../state/thread.h"

#pragma GCC visibility push(hidden)

/**
 * elide_block_pop() - take a block that no thread has, the one that was left last. Return: NULL
 * if there is none.
 */
struct elide_thread *elide_block_pop(void);

/** elide_block_push() - leave a block: its thread has ended. */
void elide_block_push(struct elide_thread *t);

/**
 * elide_blocks_left() - blocks that no thread has; by the time that it returns there may be more
 * or fewer.
 */
uint32_t elide_blocks_left(void);

/** elide_blocks_nr() - all blocks that were made. */
uint32_t elide_blocks_nr(void);

/** elide_blocks_full() - are there as many blocks as there may be, and has each a thread? */
bool elide_blocks_full(void);

/** elide_blocks_some() - a quarter of the blocks that were made, at least 1, at most BATCH. */
uint32_t elide_blocks_some(void);

/**
 * elide_blocks_make() - make @nr further blocks.
 *
 * In a global-lock path. Return: their number, less if ELIDE_MAX_THREADS or the memory allows no more.
 */
uint32_t elide_blocks_make(uint32_t nr);

/** elide_block_furnish() - give a block what a fork has taken from it. In a global-lock path. */
void elide_block_furnish(struct elide_thread *t);

/**
 * elide_blocks_forget() - in a forked child: there is none, but the calling thread's, if it has
 * one.
 */
void elide_blocks_forget(void);

#pragma GCC visibility pop

#endif
