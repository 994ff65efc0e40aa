/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * options.h - the command line; see options.c.
 *
 * Must never change once the program runs.
 */
#ifndef RTMGRIND_OPTIONS_H
#define RTMGRIND_OPTIONS_H

#include "rtmgrind.h"

/**
 * struct rtmgrind_options - the values of the options.
 * @seed: seed of every random choice
 * @block_accesses: memory accesses after which a translated block ends, 0 no limit
 * @deadlock_waits: a deadlocked program waits for ever rather than ends
 * @rtm: False hides RTM in CPUID and makes every XBEGIN fail
 * @abort_from_start: spurious aborts and timer ticks do not wait for RTMGRIND_PROBE_DONE
 * @stacks: records of aborts have stacks
 * @trace: log every begin, commit and abort
 * @own_stores: check the stores of a library inside its own transactions: stores.c
 */
struct rtmgrind_options {
	Long seed;
	Long block_accesses;
	Bool deadlock_waits;
	Bool rtm;
	Bool abort_from_start;
	Bool stacks;
	Bool trace;
	Bool own_stores;
};

extern struct rtmgrind_options opt;

Bool options_parse(const HChar *arg);
void options_usage(void);
void options_debug_usage(void);

#endif
