/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * contended.h - scenarios of four threads and one lock "m", whose account is truth.
 *
 * LOCK and UNLOCK have been defined before: the calls.
 */
#ifndef CONTENDED_H
#define CONTENDED_H

#include "truth.h"

static struct truth truth = { .name = "m", .after = { &truth }, .waits = true };

/* Those that wait sleep. */
static __attribute__((noinline)) void holder(void)
{
	SECTION(&truth, LOCK, nap(MS), UNLOCK);
}

static void *sleep_thread(void *arg)
{
	for (int i = 0; i < 60; i++)
		holder();
	return NULL;
}

static void asleep(void)
{
	run_threads(4, sleep_thread);
	truth_print(&truth);
	printf("truth blocker m holder\n");
}

/* Sections of 2 us, half of their time. */
static void *short_thread(void *arg)
{
	for (int i = 0; i < 10000; i++) {
		SECTION(&truth, LOCK, compute(2 * US), UNLOCK);
		compute(2 * US);
	}
	return NULL;
}

static void short_sections(void)
{
	run_threads(4, short_thread);
	truth_print(&truth);
}

#endif
