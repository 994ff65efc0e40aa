/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * stack.h - the calling thread's stack, as return addresses, and stacks in the data file.
 *
 * Must never be used inside a transaction.
 */
#ifndef ELIDE_STACK_H
#define ELIDE_STACK_H

#include <stdbool.h>
#include <stdint.h>

#include "../datafile.h"

#pragma GCC visibility push(hidden)

/** elide_stack_start() - at the start: find this library, and have the unwinder initialise itself. */
void elide_stack_start(void);

/**
 * elide_stack_take() - elide_walk(), by the emulator if it runs; @site as recorded.
 */
unsigned int elide_stack_take(uint64_t *frames, const void *site);

/**
 * elide_stack_emulated() - copy a stack from the emulator.
 * @frames: room for ELIDE_STACK_FRAMES return addresses
 * @from: the emulator's stack
 * @nr: its length
 * @outside: leave out the innermost frames that are in this library
 *
 * Return: frames filled.
 */
unsigned int elide_stack_emulated(uint64_t *frames, const unsigned long long *from,
				  unsigned int nr, bool outside);

/**
 * elide_stack_save() - write a stack to the data file, once.
 * @frames: the stack
 * @nr: its length; nothing is saved if it is 0
 * @exact: see struct elide_stack
 *
 * Registers the objects of its frames, so that the report can name them. In a global-lock path.
 *
 * Return: its number from 1; 0 if @nr is 0, or, counted as dropped, if there is no room.
 */
uint32_t elide_stack_save(const uint64_t *frames, unsigned int nr, bool exact);

#pragma GCC visibility pop

#endif
