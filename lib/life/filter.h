/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * filter.h - a process deprives itself of system calls, or of the time-stamp counter.
 *
 * A seccomp filter may kill the process for a system call, so what the library needs is made ready
 * before the filter comes, and after that it makes no system call but futex(2) (base/syscalls.h,
 * state/gate.h). It counts less then, and says so.
 */
#ifndef ELIDE_FILTER_H
#define ELIDE_FILTER_H

#include <stdbool.h>

#include "../state/thread.h"

#pragma GCC visibility push(hidden)

enum elide_filter {
	ELIDE_FILTER_CALLS,  /* a seccomp filter of system calls */
	ELIDE_FILTER_STRICT, /* SECCOMP_MODE_STRICT: the thread keeps four system calls, and no counter */
	ELIDE_FILTER_TSC,    /* PR_TSC_SIGSEGV: the thread, and those it creates, have no counter */
};

/**
 * elide_filter_before() - the process is about to ask the kernel for @what.
 * @what: enum elide_filter
 * @was: for elide_filter_after()
 *
 * Not inside a section. Return: false if there is nothing to be done after it.
 */
bool elide_filter_before(enum elide_filter what, struct elide_closed *was);

/** elide_filter_after() - the kernel has answered. @came: it has done so. */
void elide_filter_after(enum elide_filter what, const struct elide_closed *was, bool came);

#pragma GCC visibility pop

#endif
