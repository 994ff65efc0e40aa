/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fiber.h - guest threads that change host threads; see fiber.c.
 */
#ifndef RTMGRIND_FIBER_H
#define RTMGRIND_FIBER_H

#include "rtmgrind.h"

/**
 * struct fiber - what a guest thread was doing on the host when it gave way.
 * @sp: its stack pointer, NULL while it runs, or is in the kernel
 * @parking: the stack on which its host thread sleeps meanwhile, NULL none yet
 */
struct fiber {
	void *sp;
	UChar *parking;
};

void fiber_switch(struct fiber *from, struct fiber *to);
void fiber_park(struct fiber *from, struct fiber *host, struct fiber *(*sleep)(ThreadId tid),
		ThreadId tid);
void fiber_free(struct fiber *fiber);

#endif
