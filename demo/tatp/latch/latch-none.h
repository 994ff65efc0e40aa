/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * latch-none.h - no latch: for one thread alone, and for what another latch protects.
 */
#ifndef DEMO_TATP_LATCH_NONE_H
#define DEMO_TATP_LATCH_NONE_H

#include "latch-base.h"

/* struct latch_none - nothing; C has no empty structs */
struct latch_none {
	char unused;
};

static inline void latch_none_init(struct latch_none *l)
{
}

static inline void latch_none_destroy(struct latch_none *l)
{
}

static inline uint64_t latch_none_acquire(struct latch_none *l, enum latch_mode mode,
					  struct latch_hold *h)
{
	return 0;
}

static inline bool latch_none_try(struct latch_none *l, enum latch_mode mode, struct latch_hold *h)
{
	return true;
}

static inline void latch_none_release(struct latch_none *l, struct latch_hold *h)
{
}

static inline bool latch_none_upgrade(struct latch_none *l, struct latch_hold *h)
{
	return true;
}

static inline bool latch_none_downgrade(struct latch_none *l, struct latch_hold *h)
{
	return true;
}

static inline uint64_t latch_none_state(const struct latch_none *l)
{
	return 0;
}

#endif
