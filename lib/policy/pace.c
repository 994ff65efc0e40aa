/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * pace.c - see pace.h.
 *
 * Must never look at a clock, a lock word or anything but its arguments.
 */
#include "pace.h"
#include "length.h"

/*
 * Where a call locks, between challenges, the interval is another one, for at most a number of sections. A call
 * that finds no lock held is dormant after 64 acquisitions (adapt/measure.c): it may flush after more. One that
 * does may not: all threads have to be there at once when the next challenge begins. Inside another lock each
 * flush makes other threads wait.
 */
static const struct {
	uint32_t interval, most;
} locked[] = {
	[LEARN_LOCKS_FREE] = {320 * LEARN_US, 80},
	[LEARN_LOCKS_HELD] = {320 * LEARN_US, 60},
	[LEARN_LOCKS_INSIDE] = {1280 * LEARN_US, 320},
};

uint32_t learn_interval(const struct learn_class *c)
{
	uint64_t part = learn_shortest(c) * 2 / 5;

	if (c->phase == LEARN_HOLD || part > FLUSH_HOLD)
		return FLUSH_HOLD;
	return part < FLUSH_MIN ? FLUSH_MIN : part;
}

static uint32_t count(uint32_t nr, uint64_t elapsed, uint32_t interval)
{
	uint64_t most = FLUSH_TIMES * (uint64_t)nr, next = nr * (uint64_t)interval / (elapsed + 1);

	if (next > most)
		next = most;
	if (next > FLUSH_MOST)
		next = FLUSH_MOST;
	return next > FLUSH_FEW ? next : FLUSH_FEW;
}

uint32_t learn_count(uint32_t nr, uint64_t elapsed, uint32_t interval, enum learn_locks locks)
{
	uint32_t next = count(nr, elapsed, interval);

	if (locks == LEARN_LOCKS_NOT || next >= locked[locks].most)
		return next;
	next = count(nr, elapsed, locked[locks].interval);
	return next < locked[locks].most ? next : locked[locks].most;
}
