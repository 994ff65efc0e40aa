// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * duration.c - the longest transaction that commits, in millions of cycles of
 * the time-stamp counter: what ends it is the timer of the operating system.
 */
#include "fidelity.h"

#define ATTEMPTS 30

/* Steps of 20 %, from 1 to 100 million cycles. */
#define SHORTEST 1000000ull
#define LONGEST  100000000ull

static bool try_cycles(uint64_t cycles)
{
	uint64_t end = cycles_now() + cycles;

	if (rtm_begin() != RTM_STARTED)
		return false;
	while (cycles_now() < end)
		for (int i = 0; i < 5000; i++)
			__asm__ volatile("");
	rtm_end();
	return true;
}

int main(void)
{
	uint64_t cycles, longest = 0;

	fidelity_begin(true);
	fidelity_measure();
	for (cycles = SHORTEST; cycles <= LONGEST; cycles += cycles / 5) {
		int i, nr = 0;

		for (i = 0; i < ATTEMPTS; i++)
			nr += try_cycles(cycles);
		curve("duration", cycles / 1e6, 100.0 * nr / ATTEMPTS);
		if (nr)
			longest = cycles;
		else if (cycles > 2 * (longest + SHORTEST))
			break;
	}
	figure("longest", longest / 1e6);
	return 0;
}
