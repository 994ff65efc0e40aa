/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * attempt.h - what the schemes share that begin transactions themselves.
 */
#ifndef DEMO_SYNC_ATTEMPT_H
#define DEMO_SYNC_ATTEMPT_H

#include "../index/counts.h"
#include "../latch/rtm.h"

/* False where rtm_usable() is: then no transaction is begun. Set before main(). */
static bool usable;

static void __attribute__((constructor)) probe(void)
{
	usable = rtm_usable();
}

/* Count an abort. Returns true if a retry may succeed. */
static bool __attribute__((noinline, cold)) aborted(struct counts *counts, unsigned int status)
{
	if (status & RTM_EXPLICIT)
		counts->held++;
	else if (status & RTM_CONFLICT)
		counts->conflict++;
	else if (status & RTM_CAPACITY)
		counts->capacity++;
	else
		counts->other++;
	return status & RTM_RETRY;
}

#endif
