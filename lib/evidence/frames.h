/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * frames.h - the calling thread's stack, from the call on that has entered one of our libraries.
 *
 * Under rtmgrind the emulator walks the stack. Natively libgcc's unwinder does, which is linked into each
 * library: it finds the tables with _dl_find_object(), so it acquires no lock, allocates nothing and may
 * run in a signal handler. libunwind does not do: it allocates its thread-local cache by malloc(), which
 * may be the caller of this, and acquires the loader's lock.
 *
 * Must never be used inside a transaction, nor use the engine, which libelide-heap.so does not have.
 */
#ifndef ELIDE_FRAMES_H
#define ELIDE_FRAMES_H

#include <stdbool.h>
#include <stdint.h>

#include "../datafile.h"

#pragma GCC visibility push(hidden)

/**
 * elide_walk() - the stack of the caller.
 * @frames: room for ELIDE_STACK_FRAMES return addresses, the innermost first; where a signal has
 *          interrupted a function, the address after its next instruction's first byte
 * @site: return address of the call that has entered the library: inner frames are cut off
 * @emulated: under rtmgrind
 *
 * Return: frames filled, at least 1: @site, if the stack cannot be walked.
 */
unsigned int elide_walk(uint64_t *frames, const void *site, bool emulated);

/**
 * elide_walk_some() - elide_walk() of the innermost frames, which takes a fraction of the time.
 * @stacks: NULL, or set, by frame, to the stack pointer of its function once the call has returned; 0 under
 *          the emulator
 * @room: frames wanted, at most ELIDE_STACK_FRAMES
 *
 * Other parameters, and what it returns, are those of elide_walk().
 */
unsigned int elide_walk_some(uint64_t *frames, uint64_t *stacks, unsigned int room,
			     const void *site, bool emulated);

#pragma GCC visibility pop

#endif
