/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * futex.h - futex calls of the program by syscall().
 */
#ifndef ELIDE_FUTEX_H
#define ELIDE_FUTEX_H

#include <stdbool.h>

#pragma GCC visibility push(hidden)

/**
 * struct syscall - a call of syscall().
 * @number: of the system call
 * @arguments: of it
 * @site: return address of the call
 * @stack: the caller's stack pointer once the call has returned
 */
struct syscall {
	long number;
	unsigned long arguments[6];
	const void *site;
	const void *stack;
};

/** futex_is_call() - is it a call that waits for a futex, or wakes those that do? */
bool futex_is_call(long number);

/**
 * futex_call() - such a call.
 *
 * Rows of kind futex count the waits. Async-signal-safe. Return: what libc's function returns, and errno.
 */
long futex_call(const struct syscall *c);

#pragma GCC visibility pop

#endif
