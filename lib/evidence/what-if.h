/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * what-if.h - sections that the emulator makes faster, to compute what a run would gain: elide what-if.
 *
 * In a process that profiles under rtmgrind. All acquisitions are measured then, so that a run in which no
 * section is faster compares with one in which some are.
 */
#ifndef ELIDE_EVIDENCE_WHAT_IF_H
#define ELIDE_EVIDENCE_WHAT_IF_H

#include <stdbool.h>

#include "../compiler.h"
#include "../datafile.h"
#include "../emulator.h"

#pragma GCC visibility push(hidden)

/* The process computes a what-if. Constant after the start. */
extern bool elide_what_if;

/**
 * elide_what_if_start() - read ELIDE_WHAT_IF, see ../what-if.h.
 * @text: its value; empty: no what-if
 */
void elide_what_if_start(const char *text);

/**
 * elide_what_if_faster() - how much faster are the sections of a call?
 * @row: counters of the call
 *
 * Lock-free, async-signal-safe.
 *
 * Return: per mille; 0: they are not.
 */
unsigned int elide_what_if_faster(const struct elide_row *row);

/** elide_what_if_stops() - what follows takes no virtual time in a what-if. */
static inline void elide_what_if_stops(void)
{
	if (unlikely(elide_what_if))
		rtmgrind_time_stops();
}

/** elide_what_if_goes_on() - end of elide_what_if_stops(). */
static inline void elide_what_if_goes_on(void)
{
	if (unlikely(elide_what_if))
		rtmgrind_time_goes_on();
}

#pragma GCC visibility pop

#endif
