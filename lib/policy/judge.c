/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * judge.c - see judge.h.
 *
 * Must never look at a clock, a lock word or anything but its arguments.
 */
#include "judge.h"
#include "question.h"
#include "length.h"

/*
 * Natural logarithm of a / b, cut off at -2 and 2: the first three terms of the series of artanh.
 * The error is below 0.001 where the logarithm is below 0.9, and decisions depend on small ones.
 */
double learn_log_ratio(double a, double b)
{
	double x, log;

	if (a <= 0 || b <= 0)
		return a > b ? 2 : a < b ? -2 : 0;
	x = (a - b) / (a + b);
	log = 2 * x * (1 + x * x / 3 + x * x * x * x / 5);
	return log > 2 ? 2 : log < -2 ? -2 : log;
}

/* Newton's method: the library needs no other mathematics. */
double learn_root(double x)
{
	double y = x > 1 ? x : 1;

	for (int i = 0; i < 40 && x > 0; i++)
		y = (y + x / y) / 2;
	return x > 0 ? y : 0;
}

/* Variance of a pair, before one is measured. */
static double usual_variance(const struct learn_class *c)
{
	double length = learn_held(c), noise = PER_MILLE(NOISE_START) * PER_MILLE(NOISE_START);

	/* The variance of a rate is inversely proportional to the time that it was measured in. */
	if (c->nr_rates >= NOISE_KNOWN)
		noise = PER_MILLE(NOISE_TIMES) * c->noise * c->noise * length / TRIAL_MIN;
	if (noise < PER_MILLE(NOISE_MIN) * PER_MILLE(NOISE_MIN))
		noise = PER_MILLE(NOISE_MIN) * PER_MILLE(NOISE_MIN);
	return noise / learn_weight(c);
}

/* The table has the distribution function at 0, 0.5, 1, ... 3. */
uint32_t learn_confidence(double z)
{
	static const uint16_t table[] = {500, 691, 841, 933, 977, 994, 999};
	unsigned int i;

	if (z >= 3)
		return 999;
	i = z * 2;
	return table[i] + (uint32_t)((z * 2 - i) * (table[i + 1] - table[i]));
}

double learn_error(const struct learn_class *c)
{
	double variance = c->squares - c->sum * c->sum / c->pairs;

	variance = ((variance > 0 ? variance : 0) + NOISE_PAIRS * usual_variance(c)) /
		   (NOISE_PAIRS + c->pairs - 1);
	return learn_root(variance / c->pairs);
}

/*
 * Mean logarithm above which the challenger wins that is unclear to the end. Where nobody waits for the locks,
 * eliding saves no waiting, and what it costs the sections around and other classes is more than what trials of
 * one class can tell: it has to prove that it pays.
 */
static double last_margin(const struct learn_class *c, double margin)
{
	if (c->question != LEARN_WHETHER || c->waits >= PER_MILLE(MATTERS) || c->first <= 0)
		return margin;
	return PER_MILLE(policy_arm_locks(c->challenger) ? -PROOF_MARGIN : PROOF_MARGIN);
}

enum learn_verdict learn_judge(const struct learn_class *c, double mean, double error)
{
	bool crowd = c->question == LEARN_CROWD;
	double margin = PER_MILLE(!crowd ? MARGIN : c->few ? -PROOF_MARGIN : PROOF_MARGIN);

	/*
	 * One pair does not decide: what the sections do may have changed between its two trials. In an
	 * oversubscribed process PAIRS_OVERSUBSCRIBED are needed, as consecutive trials are of the same running
	 * threads, and the next ones of others.
	 */
	if (c->pairs < (c->oversubscribed ? PAIRS_OVERSUBSCRIBED : 2))
		return LEARN_UNCLEAR;
	if (mean - SIGMAS * error > margin)
		return LEARN_WINS;
	if (mean + SIGMAS * error < margin)
		return LEARN_LOSES;
	if (c->pairs < (crowd ? CROWD_PAIRS : PAIRS_MAX))
		return LEARN_UNCLEAR;
	/* After the last pair one standard error is enough. */
	return mean - error > last_margin(c, margin) ? LEARN_WINS : LEARN_LOSES;
}
