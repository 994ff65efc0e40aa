/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * create.c - pthread_create() and thrd_create(): call them with zeroes below the stack pointer.
 *
 * glibc 2.36 blocks all signals while it makes a thread, does not check whether that has succeeded, and
 * then restores the mask that the kernel should have written. If a seccomp filter forbids only SIG_BLOCK, as
 * that of tor does, it restores what happens to be on the stack: without the library what the program has
 * left there, with it what the lock calls have left, so that other signals would stay blocked. Zeroes block
 * none.
 */
#include <string.h>

#include "wrap.h"

/* Bytes of the stack that glibc's functions use: 328, or some 100 more for thrd_create(). */
#define BELOW 512

/* Clear the memory of the next call's frame. */
static __noinline void clear_below(void)
{
	char below[BELOW];

	memset(below, 0, sizeof(below));
	__asm__ volatile("" : : "r"(below) : "memory");
}

/* Not in an elided section, which the system call aborts anyway. */
static void clean(void)
{
	if (!elide_inside(elide_self))
		clear_below();
}

WRAPPER int pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*start)(void *),
			   void *arg)
{
	clean();
	return real.create(thread, attr, start, arg);
}

WRAPPER int thrd_create(thrd_t *thread, thrd_start_t start, void *arg)
{
	clean();
	return real.thrd_create(thread, start, arg);
}
