/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * waits.h - what a stopped thread waits for, by its system call and its stack.
 */
#ifndef ELIDE_WAITS_H
#define ELIDE_WAITS_H

#include "../model/stacks.h"
#include "seize.h"

/**
 * waits_find() - fill @wait, @object, @kind and @timed of a thread.
 * @s: the process; its modules and symbols
 * @t: the thread, with its frames
 * @z: the same thread as it was stopped
 *
 * Return: thread id, in its pid namespace, of the thread it waits for; 0 if unknown.
 */
int waits_find(const struct stacks *s, struct stacks_thread *t, const struct seize_thread *z);

/** waits_futex() - address of the word that a thread waits at in futex(2); 0 if it does not. */
uint64_t waits_futex(const struct seize_thread *z);

#endif
