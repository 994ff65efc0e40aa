// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * region.c - the region of interest: where the cost model is on.
 *
 * Until the program sends its first request about a region, all of it is one. Must never stop
 * virtual time: outside of a region, instructions still take time.
 */
#include "region.h"
#include "account.h"
#include "coherence.h"
#include "counters.h"
#include "txn.h"

Bool in_region = True;

/* Cycles of the regions that have ended, and when the running one began. */
static Long ended_regions;
static Long region_begun;
static Bool asked;

/**
 * region_cycles() - virtual time spent in the region of interest.
 *
 * Return: cycles since the start of the run.
 */
Long region_cycles(void)
{
	return ended_regions + (in_region ? account_end_time() - region_begun : 0);
}

/**
 * region_set() - the running thread begins or ends a region.
 * @in: True if it begins one
 */
void region_set(Bool in)
{
	/* The program before the first request was set-up. */
	if (!asked) {
		asked = True;
		in_region = False;
	}
	/* No probe of RTM is under way, and a program without elide's library has none. */
	if (in)
		txn_noise_start();
	counters_region(in_region, in);
	if (in && !in_region)
		region_begun = account_now();
	if (!in && in_region)
		ended_regions += account_now() - region_begun;
	in_region = in;
	account_track();
	coherence_forget_filters();
}
