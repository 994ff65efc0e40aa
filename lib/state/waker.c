/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * waker.c - see waker.h. A forked child has the parent's tables: the calls in them are older than its waits,
 * and waiters of the parent stay counted.
 */
#include "waker.h"

struct elide_waker elide_wakers[ELIDE_NR_WAKERS];

uint32_t elide_waiters[ELIDE_NR_WAKERS];

const void *elide_waited_with[ELIDE_NR_WAKERS];

struct elide_futex_place elide_futex_places[ELIDE_NR_WAKERS];
