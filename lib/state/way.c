/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* way.c - see way.h. */
#include "settings.h"
#include "way.h"

const uint8_t elide_way_arms[] = {
	[ELIDE_WAY_LONG] = ELIDE_ARM_LONG,
	[ELIDE_WAY_SHORT] = ELIDE_ARM_SHORT,
	[ELIDE_WAY_DORMANT] = ELIDE_ARM_SHORT,
	[ELIDE_WAY_ELIDE] = ELIDE_ARM_CODE(POLICY_ARM_keen),
};

enum elide_way elide_way(const struct elide_thread *t, const struct elide_row *row)
{
	bool elided = elide_state_is_chosen(row->state);

	if (!elide_short_way() || (elided && t->halted))
		return ELIDE_WAY_LONG;
	/* Policy restrict: nothing to decide before the lock is found held. */
	if (!elided || elide_process.config.name == POLICY_RESTRICT)
		return ELIDE_WAY_SHORT;
	/*
	 * Glibc's and HPCA'14's policy skip acquisitions of single locks, and the fast path does
	 * not call policy_lock_enter().
	 */
	return elide_process.config.counts_skips || elide_process.config.keeps_window ?
		       ELIDE_WAY_LONG :
		       ELIDE_WAY_ELIDE;
}
