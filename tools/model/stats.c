// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * stats.c - is a difference more than chance?
 *
 * Must never know what was measured.
 */
#include <math.h>

#include "stats.h"

/* Probability that |t| is below @t: Abramowitz and Stegun 26.7.3 (odd) and 26.7.4 (even). */
static double within(double t, size_t freedom)
{
	double theta = atan(t / sqrt((double)freedom)), c = cos(theta), s = sin(theta);
	int odd = freedom % 2;
	double term = odd ? c : 1, sum = freedom == 1 ? 0 : term;

	for (size_t k = odd ? 3 : 2; k + 2 <= freedom; k += 2) {
		term *= c * c * (double)(k - 1) / (double)k;
		sum += term;
	}
	return odd ? 2 / M_PI * (theta + s * sum) : s * sum;
}

double stats_t(double confidence, size_t freedom)
{
	double low = 0, high = 1;

	while (within(high, freedom) < confidence && high < 1e9)
		high *= 2;
	for (int i = 0; i < 100; i++) {
		double middle = (low + high) / 2;

		if (within(middle, freedom) < confidence)
			low = middle;
		else
			high = middle;
	}
	return high;
}

struct interval stats_with(double mean, double sd, size_t n, double confidence)
{
	struct interval i = {n, mean, sd, -INFINITY, INFINITY};
	double half;

	if (n < 2)
		return i;
	half = sd > 0 ? stats_t(confidence, n - 1) * sd / sqrt((double)n) : 0;
	i.low = mean - half;
	i.high = mean + half;
	return i;
}

struct interval stats_interval(const double *values, size_t n, double confidence)
{
	double mean = 0, squares = 0;

	for (size_t i = 0; i < n; i++)
		mean += values[i] / (double)n;
	for (size_t i = 0; i < n; i++)
		squares += (values[i] - mean) * (values[i] - mean);
	return stats_with(mean, n > 1 ? sqrt(squares / (double)(n - 1)) : 0, n, confidence);
}

enum effect stats_effect(const struct interval *i, double margin)
{
	if (i->low >= -log1p(margin) && i->high <= log1p(margin))
		return EFFECT_NEUTRAL;
	if (i->high < 0)
		return EFFECT_PAYS;
	return i->low > 0 ? EFFECT_HURTS : EFFECT_UNDECIDED;
}

const char *stats_effect_name(enum effect e)
{
	static const char *const names[] = {
		[EFFECT_PAYS] = "pays",
		[EFFECT_NEUTRAL] = "neutral",
		[EFFECT_HURTS] = "hurts",
		[EFFECT_UNDECIDED] = "undecided",
	};

	return names[e];
}

/* Would @n values with this mean and deviation decide? If so, more values would, too. */
static int decides(const struct interval *i, double margin, double confidence, size_t n)
{
	struct interval with = stats_with(i->mean, i->sd, n, confidence);

	return stats_effect(&with, margin) != EFFECT_UNDECIDED;
}

size_t stats_more(const struct interval *i, double margin, double confidence)
{
	size_t low = i->n < 2 ? 2 : i->n, high = STATS_RUNS_MAX;

	if (decides(i, margin, confidence, i->n))
		return 0;
	/* One value has no deviation. */
	if (i->n < 2)
		return 1;
	if (!decides(i, margin, confidence, high))
		return STATS_RUNS_MAX + 1;
	while (low + 1 < high) {
		size_t middle = (low + high) / 2;

		if (decides(i, margin, confidence, middle))
			high = middle;
		else
			low = middle;
	}
	return high - i->n;
}
