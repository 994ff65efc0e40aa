/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * pace.c - see pace.h.
 *
 * Must never look at a clock, a lock word or anything but its arguments.
 */
#include "pace.h"
#include "span.h"

/*
 * Times between reports, ns: between challenges; in the shortest epochs of a challenge, and a part of the
 * length of longer ones. Chosen together with the numbers of learn.c.
 */
#define INTERVAL_HOLD      (80 * LEARN_US)
#define INTERVAL_CHALLENGE LEARN_INTERVAL_FIRST
#define INTERVAL_PART      2 / 5

/*
 * Where a call locks, between challenges, the interval is another one, for at most a number of sections. A call
 * that finds no lock held is parked after 64 acquisitions (adapt/measure.c): it may report after more. One that
 * does may not: all threads have to be there at once when the next challenge begins. Inside another lock each
 * report makes other threads wait.
 */
static const struct {
	uint32_t interval, most;
} locked[] = {
	[LEARN_LOCKS_FREE] = {320 * LEARN_US, 80},
	[LEARN_LOCKS_HELD] = {320 * LEARN_US, 60},
	[LEARN_LOCKS_INSIDE] = {1280 * LEARN_US, 320},
};

/* Sections between two reports, at least, and times as many as the last time. */
#define COUNT_LEAST 3
#define COUNT_TIMES 4

uint32_t learn_interval(const struct learn_class *c)
{
	uint64_t part = learn_shortest(c) * INTERVAL_PART;

	if (c->phase == LEARN_HOLD || part > INTERVAL_HOLD)
		return INTERVAL_HOLD;
	return part < INTERVAL_CHALLENGE ? INTERVAL_CHALLENGE : part;
}

static uint32_t count(uint32_t nr, uint64_t elapsed, uint32_t interval)
{
	uint64_t most = COUNT_TIMES * (uint64_t)nr, next = nr * (uint64_t)interval / (elapsed + 1);

	if (next > most)
		next = most;
	if (next > LEARN_COUNT_MAX)
		next = LEARN_COUNT_MAX;
	return next > COUNT_LEAST ? next : COUNT_LEAST;
}

uint32_t learn_count(uint32_t nr, uint64_t elapsed, uint32_t interval, enum learn_locks locks)
{
	uint32_t next = count(nr, elapsed, interval);

	if (locks == LEARN_LOCKS_NOT || next >= locked[locks].most)
		return next;
	next = count(nr, elapsed, locked[locks].interval);
	return next < locked[locks].most ? next : locked[locks].most;
}
