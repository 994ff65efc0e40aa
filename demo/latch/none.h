/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * none.h - no latch.
 *
 * An index without a latch is correct for one thread, and for threads that only read.
 */
#ifndef DEMO_LATCH_NONE_H
#define DEMO_LATCH_NONE_H

#include "latch.h"

/*
 * struct none_latch - nothing
 * @unused: makes the struct take a cache line of the index, so that the tree has the
 *	    address that it has under a latch
 */
struct none_latch {
	char unused;
};

static inline int none_init(struct none_latch *latch)
{
	return 0;
}

static inline void none_destroy(struct none_latch *latch)
{
}

static inline void none_acquire(struct none_latch *latch)
{
}

static inline void none_release(struct none_latch *latch)
{
}

LATCH_EXCLUSIVE(none)

#endif
