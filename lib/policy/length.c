/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * length.c - see length.h.
 *
 * Must never look at a clock, a lock word or anything but its arguments.
 */
#include "question.h"
#include "length.h"

/*
 * In the question CROWD it changes who sleeps: parked threads look at the arm once in CROWD_POLL_MAX,
 * and those that sleep in the lock leave it one with each section. That is waited for.
 */
uint64_t learn_settles(const struct learn_class *c)
{
	return learn_is_about_crowds(c) ? CROWD_POLL_MAX : 0;
}

double learn_weight(const struct learn_class *c)
{
	return c->question != LEARN_CROWD ? 1 : c->oversubscribed ? CROWD_STRETCH * CROWD_WEIGHT : CROWD_WEIGHT;
}

/*
 * Where nothing can be elided and there are more threads than processors, a rate is that of the threads
 * that have a processor just now.
 */
uint64_t learn_held(const struct learn_class *c)
{
	return c->only_locks && c->oversubscribed ? TRIAL_LONG : c->nr_rates ? TRIAL_HOLD : TRIAL_MIN;
}

uint64_t learn_shortest(const struct learn_class *c)
{
	if (c->phase == LEARN_HOLD)
		return learn_held(c);
	if (c->question == LEARN_CROWD)
		return c->oversubscribed ? CROWD_STRETCH * CROWD_TRIAL : CROWD_TRIAL;
	return c->phase == LEARN_CHALLENGER && c->length ? c->length : TRIAL_MIN;
}

bool learn_may_end(const struct learn_class *c, uint64_t length)
{
	return length >= learn_shortest(c) || (length >= TRIAL_LONG && !learn_is_about_crowds(c));
}

bool learn_over(const struct learn_class *c, uint64_t length, double sections)
{
	if (!learn_may_end(c, length))
		return false;
	if (length >= TRIAL_LONG)
		return sections >= TRIAL_FEW || length >= TRIAL_LONGEST;
	/* A challenger that is much worse must not last: few sections in twice the time show it. */
	if (c->phase == LEARN_CHALLENGER)
		return sections >= TRIAL_FEW || length >= 2 * learn_shortest(c);
	/* Where sections are long, TRIAL_FEW of them are enough. */
	return sections >= TRIAL_SECTIONS ||
	       (sections >= TRIAL_FEW && length >= TRIAL_SLOW * learn_shortest(c));
}
