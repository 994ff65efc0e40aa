/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fiber.h - guest threads that move between host threads; see fiber.c.
 *
 * Must never know which guest thread runs next.
 */
#ifndef RTMGRIND_FIBER_H
#define RTMGRIND_FIBER_H

#include "rtmgrind.h"

/**
 * struct fiber - where a guest thread that gave way goes on.
 * @sp: its stack pointer, NULL while the thread runs or is in the kernel
 * @parking: the stack on which its host thread sleeps, NULL until it first does
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
