// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * region.c - the region of interest: only inside are there spurious aborts and latencies.
 *
 * Run with --abort-rate=100 --abort-from-start=yes, so that no transaction commits inside.
 */
#include <unistd.h>

#include "emu.h"

#define ROUNDS 100

static volatile long value;

static int commits(void)
{
	int i, nr = 0;

	for (i = 0; i < ROUNDS; i++) {
		if (rtm_begin() == RTM_STARTED) {
			value++;
			rtm_end();
			nr++;
		}
	}
	return nr;
}

int main(void)
{
	long long inside, outside;

	emu_require();
	check("before any request", commits(), 0);
	rtmgrind_request(RTMGRIND_ROI_END, 0, 0);
	outside = emu_ns();
	check("outside", commits(), ROUNDS);
	outside = emu_ns() - outside;
	rtmgrind_request(RTMGRIND_ROI_BEGIN, 0, 0);
	check("inside", commits(), 0);
	inside = emu_ns();
	usleep(0);
	inside = emu_ns() - inside;
	rtmgrind_request(RTMGRIND_ROI_END, 0, 0);
	check("outside again", commits(), ROUNDS);
	check("instructions count outside too", outside > 0, 1);
	check("system calls cost inside", inside > 300, 1);
	return emu_status();
}
