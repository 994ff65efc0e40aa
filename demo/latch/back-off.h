/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * back-off.h - exponential back-off of a thread that waits for a latch.
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

#endif
