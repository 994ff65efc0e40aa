/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * waker.c - see waker.h. A forked child has the parent's: the calls are older than its waits, and
 * threads that it does not have stay counted.
 */
#include "waker.h"

struct elide_waker elide_wakers[ELIDE_NR_WAKERS];

uint32_t elide_waiters[ELIDE_NR_WAKERS];
