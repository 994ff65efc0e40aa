/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * span.c - see span.h.
 *
 * Must never look at a clock, a lock word or anything but its arguments.
 */
#include "judge.h"
#include "question.h"
#include "span.h"

/*
 * An epoch lasts at least EPOCH_MIN ns, between challenges EPOCH_HOLD ns, and has at least
 * EPOCH_SECTIONS sections. When it is EPOCH_SLOW times as long as that, or EPOCH_LONG ns, EPOCH_FEW
 * sections are enough; at 8 * EPOCH_LONG it ends in any case. Where eliding
 * is compared with locking, and that is still unclear after STRETCH_PAIRS pairs, and after each
 * further STRETCH_PAIRS, both bounds double, up to STRETCH_MAX times: where threads sleep and wake
 * the rate of a short epoch is mostly chance, and what one arm leaves behind lasts for a part of the
 * next epoch. Where nothing can be elided, and there are more threads than processors, an epoch between
 * challenges lasts EPOCH_LONG: its rate is that of the threads that have a processor just now, and
 * three such rates in a row are a change.
 */
#define EPOCH_MIN      (20 * LEARN_US)
#define EPOCH_HOLD     (100 * LEARN_US)
#define EPOCH_LONG     (2000 * LEARN_US)
#define EPOCH_SECTIONS 32
#define EPOCH_FEW      8
#define EPOCH_SLOW     6
#define STRETCH_MAX    8
#define STRETCH_PAIRS  5

/*
 * Where there are more threads than processors, challenges begin with epochs longer by this factor: a
 * thread that was woken waits for a processor, so what an arm does to the others lasts longer.
 */
#define STRETCH_CROWDED 4

/*
 * Epochs of a challenge become twice as long, up to STRETCH_MAX times, until the noise of a pair is below
 * NOISE_SHORT: a section that is rare and long, as one that a capacity abort sends to the lock, is in
 * one short epoch and not in the next.
 */
#define NOISE_SHORT 0.15

/*
 * A challenge with the arm "restrict". What that changes is who sleeps: parked threads look at the
 * arm once in CROWD_POLL_MAX (0.5 ms), and those that sleep in the lock leave it one with each section.
 * CROWD_SETTLES ns are left for that before CROWD_EPOCH ns are measured, up to STRETCH_MAX times as
 * many while the comparison is unclear: 8 ms are two time slices of the kernel's scheduler.
 */
#define CROWD_SETTLES (500 * LEARN_US)
#define CROWD_EPOCH   (1000 * LEARN_US)

/*
 * The shortest such epoch is 50 times as long as the shortest of others. It weighs as much as CROWD_WEIGHT
 * of these, not as 50, as what follows each other at once is not independent.
 */
#define CROWD_WEIGHT 16

uint64_t learn_settles(const struct learn_class *c)
{
	return learn_is_about_crowds(c) ? CROWD_SETTLES : 0;
}

/* What an epoch of the challenge weighs that is not stretched. */
static unsigned int weight_of(const struct learn_class *c)
{
	return learn_is_about_crowds(c) ? CROWD_WEIGHT : 1;
}

uint64_t learn_shortest(const struct learn_class *c)
{
	/* Each socket has had its part of the time once. */
	if (c->arm == POLICY_ARM_turns ||
	    (c->phase != LEARN_HOLD && c->challenger == POLICY_ARM_turns))
		return LEARN_SOCKETS_PERIOD;
	if (learn_is_about_crowds(c))
		return c->stretch * CROWD_EPOCH;
	if (c->phase == LEARN_HOLD && c->only_locks && c->crowded)
		return EPOCH_LONG;
	if (c->phase == LEARN_HOLD)
		return c->nr_rates ? EPOCH_HOLD : EPOCH_MIN;
	if (c->phase == LEARN_CHALLENGER && c->length)
		return c->length;
	return c->stretch * EPOCH_MIN;
}

double learn_weight(const struct learn_class *c, uint64_t length)
{
	double weight = weight_of(c) * c->stretch;

	if (c->phase == LEARN_CHALLENGER && length < learn_shortest(c))
		weight *= (double)length / learn_shortest(c);
	return weight;
}

/*
 * The part of the challenger's epoch is over that would be all of it, were it not stretched: one that is
 * far behind by then ends here, as each further part would cost as much.
 */
static bool is_cut_from(const struct learn_class *c, uint64_t length)
{
	return c->phase == LEARN_CHALLENGER && c->half && c->challenger != POLICY_ARM_turns &&
	       length >= learn_shortest(c) / c->stretch && c->first * length >= EPOCH_SECTIONS;
}

bool learn_may_end(const struct learn_class *c, uint64_t length)
{
	return length >= learn_shortest(c) || (length >= EPOCH_LONG && !learn_is_about_crowds(c)) ||
	       is_cut_from(c, length);
}

/* Is the challenger as far behind, in a part of its epoch, as one pair needs to lose? */
static bool is_lost(const struct learn_class *c, uint64_t length, double sections)
{
	double log = learn_log_ratio(sections / length, c->first);

	return log < LEARN_FIRST_LOSES &&
	       log < -LEARN_FIRST_ERRORS * learn_noise(c) / learn_root(learn_weight(c, length));
}

bool learn_over(const struct learn_class *c, uint64_t length, double sections)
{
	if (!learn_may_end(c, length))
		return false;
	if (length < learn_shortest(c) && is_cut_from(c, length))
		return is_lost(c, length, sections);
	if (length >= EPOCH_LONG)
		return sections >= EPOCH_FEW || length >= 8 * EPOCH_LONG;
	/* A challenger that is much worse must not last: few sections in twice the time show it. */
	if (c->phase == LEARN_CHALLENGER)
		return sections >= EPOCH_FEW || length >= 2 * learn_shortest(c);
	/* Where sections are long, EPOCH_FEW of them are enough. */
	return sections >= (c->phase == LEARN_HOLD ? 1 : c->stretch) * EPOCH_SECTIONS ||
	       (sections >= EPOCH_FEW && length >= EPOCH_SLOW * learn_shortest(c));
}

void learn_span_start(struct learn_class *c)
{
	c->length = 0;
	for (c->stretch = c->crowded ? STRETCH_CROWDED : 1; c->stretch < STRETCH_MAX; c->stretch *= 2)
		if (learn_noise(c) <= NOISE_SHORT * learn_root(weight_of(c) * c->stretch))
			break;
}

void learn_span_next(struct learn_class *c)
{
	unsigned int pairs = learn_is_about_crowds(c) ? LEARN_CROWD_PAIRS / 2 : STRETCH_PAIRS;

	if (!(learn_is_principal(c) || learn_is_about_crowds(c)) || c->pairs % pairs ||
	    c->stretch >= STRETCH_MAX)
		return;
	c->stretch *= 2;
	c->length = 0;
}
