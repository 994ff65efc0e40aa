/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * judge.c - see judge.h.
 *
 * Must never look at a clock, a lock word or anything but its arguments.
 */
#include "judge.h"
#include "question.h"

/*
 * Pairs of epochs, one of the incumbent and one of the challenger, after which a challenge ends. If
 * the question is whether to elide at all, and eliding looks better, it costs nothing to go on, to
 * PAIRS_LONG pairs.
 */
#define PAIRS_MAX  10
#define PAIRS_LONG 25

/*
 * From the third pair on: the challenger wins if the mean logarithm of the ratio of rates is SIGMAS
 * standard errors above LEARN_MARGIN, and loses if it is SIGMAS standard errors below it. Two pairs
 * decide if their mean is further from 0 than TWO_DECIDE (10 %) and SIGMAS standard errors.
 */
#define SIGMAS     2.0
#define TWO_DECIDE 0.1

/*
 * Few pairs may agree by chance, so NOISE_PAIRS pairs with a usual noise are added to the variance
 * of those measured. The usual noise of a pair, as a logarithm, is that of the pairs of the last
 * challenges, or NOISE_TIMES that of an epoch between challenges if that is more; at least
 * LEARN_NOISE_MIN and at most NOISE_MAX. While fewer than LEARN_NOISE_KNOWN epochs between challenges
 * were measured, NOISE_START stands for theirs.
 */
#define NOISE_START 0.05
#define NOISE_MAX   0.5
#define NOISE_TIMES 2
#define NOISE_PAIRS 2

/*
 * Where nothing can be elided and threads are more than processors, epochs between challenges last 2 ms
 * (span.c), and weigh as 32 of the least length: the noise of a pair of the latter is 8 times theirs.
 */
#define NOISE_TIMES_CROWD 8
#define NOISE_MAX_CROWD   4.0

/*
 * A challenge with the arm "restrict": its gain has to be CROWD_MARGIN, as threads may wait longer for
 * it; LEARN_CROWD_PAIRS pairs are enough to see that.
 */
#define CROWD_MARGIN 0.03

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

double learn_noise(const struct learn_class *c)
{
	bool crowd = c->only_locks && c->crowded;
	double times = crowd ? NOISE_TIMES_CROWD : NOISE_TIMES;
	double max = crowd ? NOISE_MAX_CROWD : NOISE_MAX;
	double usual = c->nr_rates < LEARN_NOISE_KNOWN ? NOISE_START : times * c->noise;

	if (usual < c->pair_noise)
		usual = c->pair_noise;
	return usual < LEARN_NOISE_MIN ? LEARN_NOISE_MIN : usual > max ? max : usual;
}

static unsigned int pairs_max(const struct learn_class *c)
{
	return learn_is_about_crowds(c) ? LEARN_CROWD_PAIRS : PAIRS_MAX;
}

/* Mean logarithm of the ratio from which on the challenger wins, and below which it loses. */
static double margin(const struct learn_class *c)
{
	if (c->challenger == POLICY_ARM_restrict)
		return CROWD_MARGIN;
	return c->arm == POLICY_ARM_restrict ? -CROWD_MARGIN : LEARN_MARGIN;
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

/* The variance of a pair is that of one of the least length, divided by its weight. */
double learn_error(const struct learn_class *c)
{
	double usual = learn_noise(c), variance;

	variance = c->squares - c->sum * c->sum / c->weights;
	variance = ((variance > 0 ? variance : 0) + NOISE_PAIRS * usual * usual) /
		   (NOISE_PAIRS + c->pairs - 1);
	return learn_root(variance / c->weights);
}

/*
 * With the arm "restrict" each pair takes milliseconds, and a challenger that is far behind costs as much
 * again: one standard error is enough then. It will challenge again.
 */
static bool is_dear(const struct learn_class *c, double mean, double error)
{
	return learn_is_about_crowds(c) && mean < LEARN_FIRST_LOSES && mean + error < -TWO_DECIDE;
}

/* One or two pairs: the difference must be large. */
static enum learn_verdict judge_few(const struct learn_class *c, double mean, double error)
{
	if (c->pairs == 1) {
		/* It never wins: what the sections do may have changed between the two epochs. */
		if (mean >= -LEARN_FIRST_ERRORS * error)
			return LEARN_UNCLEAR;
		if (c->nr_rates >= LEARN_NOISE_KNOWN || mean < LEARN_FIRST_LOSES)
			return LEARN_LOSES;
		return LEARN_UNCLEAR;
	}
	if (mean - SIGMAS * error > TWO_DECIDE)
		return LEARN_WINS;
	if (is_dear(c, mean, error))
		return LEARN_LOSES;
	return mean + SIGMAS * error < -TWO_DECIDE ? LEARN_LOSES : LEARN_UNCLEAR;
}

enum learn_verdict learn_judge(const struct learn_class *c, double mean, double error)
{
	if (c->pairs <= 2)
		return judge_few(c, mean, error);
	if (mean - SIGMAS * error > margin(c))
		return LEARN_WINS;
	if (mean + SIGMAS * error < margin(c) || is_dear(c, mean, error))
		return LEARN_LOSES;
	if (c->pairs < pairs_max(c))
		return LEARN_UNCLEAR;
	/* After the last unclear pair locking wins by a better mean, another by one standard error. */
	if (learn_is_about_crowds(c))
		return mean > margin(c) ? LEARN_WINS : LEARN_LOSES;
	if (mean <= 0)
		return LEARN_LOSES;
	if (c->challenger == POLICY_ARM_real)
		return LEARN_WINS;
	if (mean > LEARN_MARGIN && learn_is_principal(c) && c->pairs < PAIRS_LONG)
		return LEARN_UNCLEAR;
	return mean - error > LEARN_MARGIN ? LEARN_WINS : LEARN_LOSES;
}

void learn_keep_noise(struct learn_class *c)
{
	double variance = c->squares - c->sum * c->sum / c->weights, noise;

	if (c->pairs < 2)
		return;
	noise = variance > 0 ? learn_root(variance / (c->pairs - 1)) : 0;
	c->pair_noise += c->pair_noise > 0 ? (noise - c->pair_noise) / 4 : noise;
}
