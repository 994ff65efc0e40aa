/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * question.c - see question.h.
 *
 * Must never look at a clock, a lock word or anything but its arguments.
 */
#include "../compiler.h"
#include "question.h"

/* Challengers of each arm, the likeliest to win first: whether to elide at all comes first. */
static const uint8_t challengers[][LEARN_ROUND] = {
	[POLICY_ARM_real] = {POLICY_ARM_keen, POLICY_ARM_lean, POLICY_ARM_patient},
	[POLICY_ARM_keen] = {POLICY_ARM_real, POLICY_ARM_lean, POLICY_ARM_patient},
	[POLICY_ARM_lean] = {POLICY_ARM_real, POLICY_ARM_keen, POLICY_ARM_patient},
	[POLICY_ARM_patient] = {POLICY_ARM_real, POLICY_ARM_keen, POLICY_ARM_lean},
};

_Static_assert(ARRAY_SIZE(challengers) == POLICY_ARM_probe, "an arm of arms.def has no challengers");

/* Can any site be elided? */
static bool may_elide(const struct learn_class *c)
{
	for (unsigned int i = 0; !c->only_locks && i < c->nr_sites; i++)
		if (!c->sites[i].unelidable)
			return true;
	return false;
}

/*
 * Does candidate @n of the round make sense now? Arms that differ only in what they do after a
 * conflict cannot differ in their rates where there is hardly one.
 */
static bool makes_sense(const struct learn_class *c, uint32_t n)
{
	return may_elide(c) && (!n || c->aborts >= PER_MILLE(MATTERS));
}

bool learn_asked_all(const struct learn_class *c)
{
	return c->asked >= LEARN_ROUND || !makes_sense(c, c->asked);
}

bool learn_ask(struct learn_class *c)
{
	uint32_t n = c->asked;

	/* After the first round every other challenge is number 0: whether to elide at all. */
	if (n >= LEARN_ROUND)
		n = (n - LEARN_ROUND) % 2 ? (n - LEARN_ROUND) / 2 % LEARN_ROUND : 0;
	if (!makes_sense(c, n))
		n = 0;
	if (!makes_sense(c, n))
		return false;
	c->asked++;
	c->challenger = challengers[c->arm][n];
	c->question = policy_arm_locks(c->arm) || policy_arm_locks(c->challenger) ? LEARN_WHETHER :
										    LEARN_HOW;
	return true;
}

bool learn_ask_crowd(struct learn_class *c, uint64_t now)
{
	if (!c->crowds || c->waits < PER_MILLE(MATTERS) || learn_elides(c))
		return false;
	/* Threads that have a processor each spin for the lock, and few that wait are seldom better. */
	if (!c->oversubscribed && now - c->starts_from < PERIOD_DEAR)
		return false;
	c->question = LEARN_CROWD;
	c->challenger = c->few ? POLICY_ARM_real : POLICY_ARM_restrict;
	if (c->only_locks)
		c->asked = LEARN_ROUND;
	return true;
}
