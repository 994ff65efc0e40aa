/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * futex.h - futex calls of the program by syscall().
 */
#ifndef ELIDE_FUTEX_H
#define ELIDE_FUTEX_H

#pragma GCC visibility push(hidden)

/**
 * syscall_futex() - syscall() with a number that may be one of a futex call.
 *
 * Rows of kind futex count the waits. Async-signal-safe. Return: what libc's function returns, and errno.
 */
long syscall_futex(long number, unsigned long a, unsigned long b, unsigned long c, unsigned long d, unsigned long e,
		   unsigned long f);

#pragma GCC visibility pop

#endif
