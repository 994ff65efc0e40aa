// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * startup.c - when virtual time begins, and that it stands still on request.
 *
 *   startup begins      time has not passed before main()
 *   startup began       it has: a constructor of startup-early.c has looked at it
 *   startup stops       requests that stop it
 *   startup waits       a thread that waits for another one while its time stands still
 *
 * Prints what is wrong and exits with 1.
 */
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "../../lib/emulator.h"
#include "emu.h"

/* Time that a clock shows at the begin of each run, see UPTIME_SECONDS in tools/rtmgrind/time.c. */
#define UPTIME_NS 1000000000000LL

#define ROUNDS 100000

static long long now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000LL + ts.tv_nsec - UPTIME_NS;
}

static void work(void)
{
	for (volatile int i = 0; i < ROUNDS; i++)
		;
}

static void stops(void)
{
	long long before = now(), still;

	rtmgrind_time_stops();
	work();
	rtmgrind_time_stops();
	work();
	rtmgrind_time_goes_on();
	work();
	still = now();
	work();
	check("time that passed while it stood still", now() - still, 0);
	rtmgrind_time_goes_on();
	check("the requests take less than 10 us", still - before < 10000, 1);
	before = now();
	work();
	check("time goes on", now() - before > ROUNDS / 4, 1);
	/* One too many. */
	rtmgrind_time_goes_on();
	before = now();
	work();
	check("time goes on after one too many", now() - before > ROUNDS / 4, 1);
}

static volatile int arrived;

static void *arrive(void *unused)
{
	work();
	arrived = 1;
	return NULL;
}

/* The other thread must run, though the time of this one does not reach its own. */
static void waits(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, arrive, NULL);
	rtmgrind_time_stops();
	while (!arrived)
		;
	rtmgrind_time_goes_on();
	pthread_join(thread, NULL);
}

int main(int argc, char **argv)
{
	long long begun = now();

	if (!strcmp(argv[1], "begins"))
		check("main begins within 10 us", begun < 10000, 1);
	else if (!strcmp(argv[1], "began"))
		check("main begins after 1 ms", begun >= 1000000, 1);
	else if (!strcmp(argv[1], "stops"))
		stops();
	else
		waits();
	return emu_status();
}
