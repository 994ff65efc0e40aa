/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * emu.h - what the programs that run under rtmgrind share.
 *
 * They contain RTM instructions without any further gate: emu_require() must
 * come first in main(), and lets none of them run outside the emulator.
 */
#ifndef TESTS_EMU_H
#define TESTS_EMU_H

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "../../lib/compiler.h"
#include "../../lib/emulator.h"
#include "../../lib/rtm.h"

/* Exit status that says: not under rtmgrind. */
#define EMU_SKIP 77

static int emu_failed __attribute__((unused));

static inline void emu_require(void)
{
	if (!rtmgrind_request(RTMGRIND_VERSION, 0, 0)) {
		fputs("not under rtmgrind\n", stderr);
		exit(EMU_SKIP);
	}
}

/* One line per check; the program's status is emu_status(). */
#define check(name, got, want)                                                          \
	do {                                                                            \
		long long got_ = (got), want_ = (want);                                 \
		if (got_ != want_) {                                                    \
			printf("%s: %#llx instead of %#llx\n", name, got_, want_);      \
			emu_failed = 1;                                                 \
		}                                                                       \
	} while (0)

static inline int emu_status(void)
{
	fflush(stdout);
	return emu_failed;
}

static inline long long emu_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000LL + ts.tv_nsec;
}

/* The last abort of this thread; fails the check of that name if there is none. */
static inline struct rtmgrind_abort emu_last_abort(const char *name)
{
	struct rtmgrind_abort abort = {0};

	check(name, rtmgrind_request(RTMGRIND_LAST_ABORT, (unsigned long)&abort, sizeof(abort)), 1);
	return abort;
}

#endif
