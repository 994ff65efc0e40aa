/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * unwind.h - the stack of a thread, from its registers and a copy of its memory.
 *
 * Must never stop anything: see seize.h.
 */
#ifndef ELIDE_UNWIND_H
#define ELIDE_UNWIND_H

#include "objects.h"
#include "seize.h"

struct unwinder;

/**
 * unwinder_new() - for the threads of one process.
 * @why: set to what is wrong if there is none, else to NULL
 *
 * Return: NULL without libunwind, or without memory.
 */
struct unwinder *unwinder_new(struct memory *m, const struct objects *o, const char **why);

/**
 * unwind() - the calls that a thread is in.
 * @t: the thread, stopped
 * @frames: filled with the address of its instruction, then with return addresses, @max at most
 *
 * An instruction that a signal has interrupted is given as the return address would be: as one byte
 * more than its own.
 *
 * Return: their number.
 */
size_t unwind(struct unwinder *u, const struct seize_thread *t, uint64_t *frames, size_t max);

/** unwinder_free() - release what unwinder_new() took. */
void unwinder_free(struct unwinder *u);

#endif
