// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * region.c - the region of interest: only inside are there aborts by chance and latencies.
 *
 * usage: region spurious     with --abort-rate=100 --abort-from-start=yes: no transaction commits inside
 *        region interrupts   with 10,000 timer interrupts a second at 1 GHz, and without a probe of RTM
 */
#include <string.h>
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

/* More instructions than lie between two timer interrupts. Return: cause of the abort, 0 none. */
static unsigned int long_transaction(void)
{
	volatile int i;

	if (rtm_begin() != RTM_STARTED)
		return emu_last_abort("record").cause;
	for (i = 0; i < 50000; i++)
		;
	rtm_end();
	return RTMGRIND_CAUSE_NONE;
}

static void interrupts(void)
{
	check("before any request", long_transaction(), RTMGRIND_CAUSE_NONE);
	rtmgrind_request(RTMGRIND_ROI_END, 0, 0);
	check("outside", long_transaction(), RTMGRIND_CAUSE_NONE);
	rtmgrind_request(RTMGRIND_ROI_BEGIN, 0, 0);
	check("inside", long_transaction(), RTMGRIND_CAUSE_INTERRUPT);
	rtmgrind_request(RTMGRIND_ROI_END, 0, 0);
	check("outside again", long_transaction(), RTMGRIND_CAUSE_NONE);
}

static void spurious(void)
{
	long long inside, outside;

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
}

int main(int argc, char **argv)
{
	emu_require();
	if (argc == 2 && !strcmp(argv[1], "interrupts"))
		interrupts();
	else
		spurious();
	return emu_status();
}
