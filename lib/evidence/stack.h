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

/** elide_stack_start() - at the start: find this library, and make the unwinder set itself up. */
void elide_stack_start(void);

/**
 * elide_stack_take() - the stack of the caller.
 * @frames: room for ELIDE_STACK_FRAMES return addresses, the innermost first
 * @site: return address of the call that has entered this library: inner frames are cut off
 *
 * Return: frames filled, at least 1: where the stack cannot be walked, @site alone.
 */
unsigned int elide_stack_take(uint64_t *frames, const void *site);

/**
 * elide_stack_emulated() - copy a stack that the emulator has given.
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
 * In a global-lock path. The objects that its frames lie in are registered, so that the report can turn
 * them into names.
 *
 * Return: its number from 1; 0 if @nr is 0 or there is no room for it, which is counted.
 */
uint32_t elide_stack_save(const uint64_t *frames, unsigned int nr, bool exact);

#pragma GCC visibility pop

#endif
