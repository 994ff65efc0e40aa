/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * emu.h - what the programs that run under rtmgrind share.
 *
 * They have RTM instructions that do not check whether the processor has RTM: main() must call
 * emu_require() first, which ends a program that does not run under rtmgrind.
 */
#ifndef TESTS_EMU_H
#define TESTS_EMU_H

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "../../lib/compiler.h"
#include "../../lib/emulator.h"
#include "../../lib/rtm.h"

/* Exit status of a program that does not run under rtmgrind. */
#define EMU_SKIP 77

static int emu_failed __attribute__((unused));

static inline void emu_require(void)
{
	if (!rtmgrind_request(RTMGRIND_VERSION, 0, 0)) {
		fputs("not under rtmgrind\n", stderr);
		exit(EMU_SKIP);
	}
}

/* Prints one line for each failed check; emu_status() is the program's exit status. */
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

/* The record of this thread's last abort. The check @name fails if there is none. */
static inline struct rtmgrind_abort emu_last_abort(const char *name)
{
	struct rtmgrind_abort abort = {0};

	check(name, rtmgrind_request(RTMGRIND_LAST_ABORT, (unsigned long)&abort, sizeof(abort)), 1);
	return abort;
}

#endif
