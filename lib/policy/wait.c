/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * wait.c - see wait.h.
 *
 * Must never look at a clock, a lock word or anything but its arguments.
 */
#include "wait.h"

uint32_t policy_hold(uint32_t known, uint64_t cycles)
{
	uint32_t seen = cycles < POLICY_WAIT_MAX ? cycles : POLICY_WAIT_MAX;

	if (!seen)
		seen = 1;
	if (!known)
		return seen;
	if (seen > known + known / 8)
		return seen < 2 * known ? seen : 2 * known;
	if (seen < known / 2)
		return known - (known - seen) / 4;
	return known;
}

uint32_t policy_wait_attempt(uint32_t hold, bool oversubscribed)
{
	if (oversubscribed)
		return 0;
	return hold < POLICY_WAIT_MAX / POLICY_HOLDS ? POLICY_HOLDS * hold : POLICY_WAIT_MAX;
}

uint32_t policy_wait_sleep(uint32_t hold, bool oversubscribed)
{
	return oversubscribed || hold >= POLICY_WAIT_SLEEP ? 0 : POLICY_WAIT_SLEEP;
}

uint32_t policy_wait_unit(uint32_t usual, bool oversubscribed, uint64_t nr)
{
	return policy_wait_sleep(nr % POLICY_UNIT_PROBE ? usual : 0, oversubscribed);
}

bool policy_sleeps_at_once(uint32_t conds, uint32_t contended, uint64_t site_contended,
			   uint64_t site_acquired)
{
	return conds >= POLICY_CONDS_MIN && POLICY_CONDS * conds > contended &&
	       POLICY_CONDS_OFTEN * site_contended >= site_acquired;
}
