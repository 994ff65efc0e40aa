/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * back-off.h - how a thread waits for a latch: with exponential back-off, or with short pauses.
 */
#ifndef DEMO_LATCH_BACK_OFF_H
#define DEMO_LATCH_BACK_OFF_H

#include <sched.h>

/* PAUSE instructions of the longest back-off; the next back-off yields the processor. */
#define BACKOFF_MAX 16

/* Wait for *@pauses PAUSE instructions and double the number; above 16, yield instead. */
static inline void back_off(unsigned int *pauses)
{
	if (*pauses > BACKOFF_MAX) {
		sched_yield();
		return;
	}
	for (unsigned int i = 0; i < *pauses; i++)
		__builtin_ia32_pause();
	*pauses *= 2;
}

/* Iterations between two calls of sched_yield(), where the holder may have no processor. */
#define LATCH_YIELD 1024

/* Wait for a moment; @*n counts the iterations. Aborts a transaction. */
static inline void latch_pause(unsigned int *n)
{
	__builtin_ia32_pause();
	if (!(++*n % LATCH_YIELD))
		sched_yield();
}

#endif
