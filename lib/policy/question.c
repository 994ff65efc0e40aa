/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * question.c - see question.h.
 *
 * Must never look at a clock, a lock word or anything but its arguments.
 */
#include "../compiler.h"
#include "question.h"

/*
 * Aborts by other threads for each section: with fewer than 1 in 100, arms that differ only in what
 * they do after such an abort cannot differ in their rates.
 */
#define ABORTS_MATTER 0.01

/*
 * Aborts for each section from which on "restrict" challenges an arm that elides. With fewer such a
 * challenge, whose epochs take 1 to 8 ms, costs more than it gains: "real" loses there, too.
 */
#define ABORTS_CROWD 0.5

/*
 * Age of a class, ns, from which on "restrict" challenges, if a site can be elided and the process has no
 * more threads than processors. Its threads spin for each other then, so "restrict" seldom wins. Such a
 * challenge runs for about 10 ms at two thirds of the rate: 1 % of 256 ms.
 */
#define CROWD_LATE (256000 * LEARN_US)

/*
 * Challengers of each arm, the likeliest to win first: all arms but itself and "probe". In the
 * policy suite workloads with frequent conflicts lose about a tenth without "lean" on 16 cores or
 * without "queue" on 4. Arms that are left out are in tests/policy/notes.md.
 */
#define NR_NEIGHBOURS 6
static const uint8_t neighbours[][NR_NEIGHBOURS] = {
#define NEIGHBOURS(of, a, b, c, d, e, f)                                                \
	[POLICY_ARM_##of] = {POLICY_ARM_##a, POLICY_ARM_##b, POLICY_ARM_##c, POLICY_ARM_##d, \
			     POLICY_ARM_##e, POLICY_ARM_##f}
	NEIGHBOURS(real, keen, lean, queue, patient, turns, restrict),
	NEIGHBOURS(keen, real, lean, queue, patient, turns, restrict),
	NEIGHBOURS(lean, real, keen, queue, patient, turns, restrict),
	NEIGHBOURS(patient, real, keen, turns, queue, lean, restrict),
	NEIGHBOURS(queue, real, keen, lean, patient, turns, restrict),
	NEIGHBOURS(probe, real, keen, lean, patient, turns, restrict),
	NEIGHBOURS(turns, real, patient, keen, queue, lean, restrict),
	NEIGHBOURS(restrict, keen, real, lean, queue, patient, turns),
#undef NEIGHBOURS
};

_Static_assert(ARRAY_SIZE(neighbours) == POLICY_NR_ARMS && NR_NEIGHBOURS == POLICY_NR_ARMS - 2,
	       "an arm of arms.def has no challengers, or challenges none");

/**
 * struct question - a candidate for the next challenge.
 * @target: site, or LEARN_ALL
 * @arm: the challenger
 */
struct question {
	uint8_t target;
	uint8_t arm;
};

/* Does any site of @target have another arm now? */
static bool makes_sense(const struct learn_class *c, unsigned int target, unsigned int arm)
{
	for (unsigned int i = 0; i < c->nr_sites; i++)
		if ((target == LEARN_ALL || target == i) && c->sites[i].arm != arm &&
		    (!c->sites[i].unelidable || arm == POLICY_ARM_restrict))
			return true;
	return false;
}

/* Each challenger for the whole class, then for each site by itself if there are several. */
uint32_t learn_rotation(const struct learn_class *c)
{
	return NR_NEIGHBOURS * (c->nr_sites > 1 ? 1 + c->nr_sites : 1);
}

/* Challenger @n of an arm. Of those of locking the likeliest one comes first. */
static uint8_t challenger_of(const struct learn_class *c, uint8_t arm, uint32_t n)
{
	uint8_t first = neighbours[arm][0], challenger = neighbours[arm][n];

	if (arm != POLICY_ARM_real || (c->likely == POLICY_ARM_turns && c->nr_sockets < 2))
		return challenger;
	if (!n)
		return c->likely;
	return challenger == c->likely ? first : challenger;
}

/* Can any site be elided? */
static bool may_elide(const struct learn_class *c)
{
	return !c->only_locks && makes_sense(c, LEARN_ALL, POLICY_NR_ARMS);
}

/* Candidate @n of the rotation. Return: false if it makes no sense now. */
static bool candidate(const struct learn_class *c, uint32_t n, struct question *q)
{
	uint32_t target = n / NR_NEIGHBOURS;
	uint8_t arm = target ? c->sites[target - 1].arm : c->arm;
	bool locks;

	q->target = target ? target - 1 : LEARN_ALL;
	q->arm = challenger_of(c, arm, n % NR_NEIGHBOURS);
	/* Who waits is restricted for all sites: they stand in one line. */
	locks = policy_arm_locks(c->arm) && policy_arm_locks(q->arm);
	if ((q->arm == POLICY_ARM_restrict || c->arm == POLICY_ARM_restrict) &&
	    q->target != LEARN_ALL)
		return false;
	if (q->arm == POLICY_ARM_restrict && !c->crowded && may_elide(c) &&
	    (int64_t)(c->next_at - c->starts_from) < (int64_t)CROWD_LATE)
		return false;
	if (q->arm == POLICY_ARM_restrict &&
	    (!c->crowds || c->waits < LEARN_WAITS_MATTER ||
	     (!policy_arm_locks(c->arm) && c->aborts < ABORTS_CROWD)))
		return false;
	if (n && !locks && c->aborts < ABORTS_MATTER)
		return false;
	if (c->only_locks && !policy_arm_locks(q->arm))
		return false;
	/* Locking is left: one site of a class may be the one that cannot be elided. */
	if (target && q->arm != POLICY_ARM_real && c->far_behind >> q->arm & 1)
		return false;
	if (q->arm == POLICY_ARM_turns && (q->target != LEARN_ALL || c->nr_sockets < 2))
		return false;
	return makes_sense(c, q->target, q->arm);
}

bool learn_asked_all(const struct learn_class *c)
{
	struct question q;

	for (uint32_t n = c->asked; n < learn_rotation(c); n++)
		if (candidate(c, n, &q))
			return false;
	return true;
}

/* After the first rotation every other challenge is number 0: whether to elide at all. */
bool learn_ask(struct learn_class *c)
{
	uint32_t nr = learn_rotation(c), n;
	struct question q;

	for (uint32_t tries = 0; tries < 2 * nr + 2; tries++) {
		n = c->asked++;
		if (n >= nr)
			n = (n - nr) % 2 ? (n - nr) / 2 % nr : 0;
		if (candidate(c, n, &q)) {
			c->target = q.target;
			c->challenger = q.arm;
			return true;
		}
	}
	return false;
}
