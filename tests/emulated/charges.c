// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * charges.c - the exact time of instructions and latencies.
 *
 * usage: charges insns|txns|pauses NUMBER
 *
 * Prints the cycles that NUMBER turns of a loop take.
 */
#include <string.h>

#include "emu.h"

static void execute(const char *what, long nr)
{
	volatile long turn;
	long i;

	if (!strcmp(what, "insns"))
		for (turn = 0; turn < nr; turn++)
			;
	else if (!strcmp(what, "txns"))
		for (i = 0; i < nr; i++) {
			if (rtm_begin() == RTM_STARTED)
				rtm_end();
		}
	else
		for (i = 0; i < nr; i++)
			__builtin_ia32_pause();
}

int main(int argc, char **argv)
{
	unsigned long long begun;

	emu_require();
	if (argc != 3)
		return 2;
	begun = __builtin_ia32_rdtsc();
	execute(argv[1], atol(argv[2]));
	printf("%llu\n", __builtin_ia32_rdtsc() - begun);
	return emu_status();
}
