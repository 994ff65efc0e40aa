/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * clock.h - the adaptive policy's time: the time-stamp counter, in nanoseconds.
 *
 * Must never make a system call, and never wait.
 */
#ifndef ELIDE_CLOCK_H
#define ELIDE_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

/* adapt_clock() was called with a time long enough to know the rate of the time-stamp counter. */
extern bool adapt_clocked;

/** adapt_clock() - the time-stamp counter counted @cycles in @ns nanoseconds. In a global-lock path. */
void adapt_clock(uint64_t cycles, uint64_t ns);

/** adapt_now() - time in ns. It may wrap: only differences count. */
uint64_t adapt_now(void);

#pragma GCC visibility pop

#endif
