/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * frames.h - the calling thread's stack, from a call on that has entered one of our libraries.
 *
 * Under the emulator, it walks the stack. Natively libgcc's unwinder does, which is linked into
 * each library: it finds the tables with _dl_find_object(), so it acquires no lock, allocates
 * nothing and may run in a signal handler. libunwind could not be used: it allocates its
 * thread-local cache by malloc(), which may be what called this, and acquires the loader's lock.
 *
 * Must never be used inside a transaction, nor need anything of the engine: libelide-heap.so has
 * this file and not the engine.
 */
#ifndef ELIDE_FRAMES_H
#define ELIDE_FRAMES_H

#include <stdbool.h>
#include <stdint.h>

#include "../datafile.h"

#pragma GCC visibility push(hidden)

/**
 * elide_walk() - the stack of the caller.
 * @frames: room for ELIDE_STACK_FRAMES return addresses, the innermost first
 * @site: return address of the call that has entered the library: inner frames are cut off
 * @emulated: under rtmgrind
 *
 * Return: frames filled, at least 1: where the stack cannot be walked, @site alone.
 */
unsigned int elide_walk(uint64_t *frames, const void *site, bool emulated);

/**
 * elide_walk_some() - the innermost frames alone, which takes a fraction of the time.
 * @stacks: as @frames: the stack pointer that each frame's function has once the call has returned;
 *          0 under the emulator; or NULL
 * @room: frames wanted, at most ELIDE_STACK_FRAMES
 *
 * Parameters and what it returns are those of elide_walk() otherwise.
 */
unsigned int elide_walk_some(uint64_t *frames, uint64_t *stacks, unsigned int room,
			     const void *site, bool emulated);

#pragma GCC visibility pop

#endif
