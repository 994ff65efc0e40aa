/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * crowd.c - see crowd.h.
 *
 * Must never look at a clock, a lock word or anything but its arguments.
 */
#include "crowd.h"

uint32_t policy_crowd_limit(uint32_t crowd, bool reads, uint32_t processors)
{
	return reads && crowd < processors ? processors : crowd;
}

enum policy_crowd policy_crowd_parked(const struct policy_parked *p)
{
	if (p->admitted)
		return POLICY_CROWD_ADMITTED;
	if (!p->restricts)
		return POLICY_CROWD_OPEN;
	if (p->parked >= p->bound || !p->left)
		return POLICY_CROWD_LATE;
	if (!p->first || !p->looked || !p->nr_free)
		return POLICY_CROWD_SLEEP;
	if (p->nr_free == CROWD_LOOKS)
		return POLICY_CROWD_IDLE;
	return p->nr_waited ? POLICY_CROWD_SLEEP : POLICY_CROWD_JOIN;
}

uint64_t policy_crowd_sleep(const struct policy_parked *p)
{
	uint64_t ns = p->bound > p->parked ? p->bound - p->parked : 0;

	if (p->first && p->poll < ns)
		ns = p->poll;
	if (p->left < ns)
		ns = p->left;
	return ns ? ns : 1;
}

uint64_t policy_crowd_poll(uint64_t last, enum policy_crowd what)
{
	if (!last || what == POLICY_CROWD_IDLE)
		return CROWD_POLL_MIN;
	return last < CROWD_POLL_MAX / 2 ? 2 * last : CROWD_POLL_MAX;
}

bool policy_crowd_lost(uint64_t parked, uint64_t bound)
{
	/* The clock of another processor may be ahead: a time before 0 is none. */
	return (int64_t)parked > 0 && parked > bound + CROWD_LOST;
}

bool policy_crowd_before(const struct policy_place *a, const struct policy_place *b,
			 uint32_t socket)
{
	if ((a->socket == socket) != (b->socket == socket))
		return a->socket == socket;
	/* Of 30 bits: the sign of the difference is in bit 29. */
	return (a->ticket - b->ticket) >> 29 & 1;
}
