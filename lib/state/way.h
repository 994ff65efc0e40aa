/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * way.h - how a wrapper treats a call: its way, and the code that its lock calls compare.
 */
#ifndef ELIDE_WAY_H
#define ELIDE_WAY_H

#include <stdbool.h>
#include <stdint.h>

#include "../policy/policy.h"
#include "thread.h"

#pragma GCC visibility push(hidden)

/*
 * How a wrapper treats a call that the thread knows. From ELIDE_WAY_DORMANT on the lock
 * may be elided in the fast path inside a section.
 */
enum elide_way {
	ELIDE_WAY_LONG,    /* call the functions of engine.h, which know every case */
	ELIDE_WAY_SHORT,   /* lock and count: it is never elided */
	ELIDE_WAY_DORMANT, /* lock and count for now */
	ELIDE_WAY_ELIDE,   /* do as the policy's arm says */
	ELIDE_NR_WAYS
};

/*
 * The codes to which elide_call.arm points. One comparison decides whether an attempt is made at once:
 * below ELIDE_ARM_NOW. The other codes are of arms that wait first, of the arms that lock, and of ways
 * that do not depend on an arm. "restrict" differs from "real" only in calls that find the lock held.
 */
#define ELIDE_ARM_CODE(arm) \
	((arm) == POLICY_ARM_real || (arm) == POLICY_ARM_restrict ? ELIDE_ARM_LOCK : (arm) - 1)
#define ELIDE_ARM_OF(code)   ((code) == ELIDE_ARM_LOCK ? POLICY_ARM_real : (code) + 1)
#define ELIDE_ARM_NOW        POLICY_ARM_probe
#define ELIDE_ARM_LOCK       253
#define ELIDE_ARM_SHORT      254
#define ELIDE_ARM_LONG       255

/* Codes by enum elide_way; that of ELIDE_WAY_ELIDE is for calls that are not measured. */
extern const uint8_t elide_way_arms[];

/**
 * elide_call_set_way() - treat a call that way from now on.
 * @arm: address of the code of its arm
 */
static inline void elide_call_set_way(struct elide_call *call, enum elide_way way,
				      const uint8_t *arm)
{
	call->way = way == ELIDE_WAY_SHORT && call->elided ? ELIDE_WAY_DORMANT : way;
	WRITE_ONCE(call->arm, way == ELIDE_WAY_ELIDE ? arm : &elide_way_arms[way]);
}

/** elide_state_is_chosen() - does the policy decide about a call of a row in that state? */
static inline bool elide_state_is_chosen(enum elide_row_state state)
{
	return state != ELIDE_STATE_PROFILED && state != ELIDE_STATE_OFF;
}

/** elide_way() - how the wrappers treat calls of a row of the thread @t. */
enum elide_way elide_way(const struct elide_thread *t, const struct elide_row *row);

#pragma GCC visibility pop

#endif
