/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * create.c - pthread_create() and thrd_create(): a thread is made on a clean stack.
 *
 * glibc 2.36 blocks all signals while it makes a thread, does not look whether that has succeeded,
 * and then sets the mask that it has asked for. Where a seccomp filter forbids SIG_BLOCK alone, as
 * that of tor does, it sets what happens to lie on the stack: without the library what the program
 * has left there, and with it what the lock calls have left, so that other signals would stay
 * blocked. Zeros block none.
 */
#include <string.h>

#include "wrap.h"

/* Bytes of the stack that glibc's functions use: 328, or some 100 more for thrd_create(). */
#define BELOW 512

/* What is written there is what the next call finds in its frame. */
static __noinline void clear_below(void)
{
	char below[BELOW];

	memset(below, 0, sizeof(below));
	__asm__ volatile("" : : "r"(below) : "memory");
}

/* The system call aborts an elided section anyway. */
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
