/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * own-stack.h - functions that run on a stack of the library's own.
 *
 * The stack of a thread may be small, above all an alternate signal stack: the kernel takes 3,000 bytes of
 * its 8,192 for the registers. So code that needs more than some hundred bytes runs here. Unwinders find
 * the program's frames by the call frame information.
 */
#ifndef ELIDE_OWN_STACK_H
#define ELIDE_OWN_STACK_H

#include <stddef.h>

#pragma GCC visibility push(hidden)

/* Bytes of a stack. The deepest use that tests/preload/stack.sh has seen is a tenth of it. */
#define ELIDE_OWN_STACK 65536

/**
 * elide_own_stack_alloc() - make a stack, with a page below it that faults.
 * @size: bytes, a multiple of the page size
 *
 * Return: its top; NULL without memory, and under Valgrind's tools other than rtmgrind, which
 * would have to be told of each change of stacks: functions run on the caller's stack there.
 */
void *elide_own_stack_alloc(size_t size);

/**
 * elide_on_stack() - call a function on another stack.
 * @body: the function
 * @arg: its argument
 * @top: from elide_own_stack_alloc(); NULL: on the caller's stack
 *
 * Only one function at a time may run on a stack. Signals are best blocked: a handler would run on that
 * stack, too, or, with SA_ONSTACK, at the top of the alternate stack, which the kernel takes for unused
 * although a handler there may have called this.
 */
void elide_on_stack(void (*body)(void *arg), void *arg, void *top);

/**
 * elide_on_new_stack() - call a function on a stack that is made for it, and freed afterwards.
 * @body: the function
 * @arg: its argument
 *
 * On the caller's stack where elide_own_stack_alloc() has none.
 */
void elide_on_new_stack(void (*body)(void *arg), void *arg);

#pragma GCC visibility pop

#endif
