/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* clock.c - see clock.h. */
#include "../compiler.h"
#include "../policy/learn.h"
#include "clock.h"

bool adapt_clocked;

/* Nanoseconds of a cycle, in 1/1024. Until adapt_clock() is called it is that of 3 GHz. */
#define SCALE_BITS 10
static uint32_t scale = (1000 << SCALE_BITS) / 3000;

void adapt_clock(uint64_t cycles, uint64_t ns)
{
	/*
	 * Only the magnitude matters, but it must not change much: a time of less than 100 us or
	 * more than 1 s, or a rate that is not between 1/64 and 64 GHz, is not used.
	 */
	if (ns >= 100 * LEARN_US && ns < 1000000 * LEARN_US && cycles / 64 < ns && ns / 64 < cycles) {
		WRITE_ONCE(scale, (ns << SCALE_BITS) / cycles);
		adapt_clocked = true;
	}
}

uint64_t adapt_now(void)
{
	return cycles_now() * READ_ONCE(scale) >> SCALE_BITS;
}
