/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* waker.c - see waker.h. A forked child has the parent's: they are older than its waits. */
#include "waker.h"

struct elide_waker elide_wakers[ELIDE_NR_WAKERS];
