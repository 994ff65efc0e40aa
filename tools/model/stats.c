// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * stats.c - is a difference more than chance?
 *
 * Must never know what was measured.
 */
#include <math.h>
#include <stdlib.h>

#include "stats.h"

/* With more values the ranks' normal approximation is used. */
#define EXACT_MAX 50

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

static int compare_doubles(const void *x, const void *y)
{
	double a = *(const double *)x, b = *(const double *)y;

	return (a > b) - (a < b);
}

void stats_sort(double *values, size_t n)
{
	qsort(values, n, sizeof(*values), compare_doubles);
}

double stats_quantile(const double *sorted, size_t n, double q)
{
	double at = q * (double)(n - 1), part = at - floor(at);
	size_t i = (size_t)at;

	return i + 1 < n ? sorted[i] + part * (sorted[i + 1] - sorted[i]) : sorted[n - 1];
}

size_t stats_least(double confidence)
{
	return (size_t)ceil(1 - log2(1 - confidence) - 1e-9);
}

/*
 * How many of the lowest and of the highest Walsh averages the interval leaves out: the largest K with
 * 2 P(T < K) <= 1 - @confidence, where T is the sum of the ranks of the positive ones of @n values.
 */
static size_t left_out(size_t n, double confidence)
{
	/* ways[S]: part of the 2^@n choices of ranks whose sum is S. */
	double ways[EXACT_MAX * (EXACT_MAX + 1) / 2 + 1] = {1}, below = 0;
	double middle = (double)(n * (n + 1)) / 4, sd = sqrt(middle * (double)(2 * n + 1) / 6);
	size_t most = 0, k = 0;

	if (n > EXACT_MAX)
		return (size_t)fmax(middle - stats_t(confidence, 10000) * sd, 0);
	for (size_t rank = 1; rank <= n; rank++) {
		most += rank;
		for (size_t s = most + 1; s-- > 0;)
			ways[s] = (ways[s] + (s >= rank ? ways[s - rank] : 0)) / 2;
	}
	while (k < most && 2 * (below + ways[k]) <= 1 - confidence + 1e-12)
		below += ways[k++];
	return k;
}

/* How many of the Walsh averages, the means of two values or of one with itself, are at most @x. */
static size_t averages_to(const double *sorted, size_t n, double x)
{
	size_t sum = 0, end = n;

	for (size_t i = 0; i < n; i++) {
		while (end && (sorted[i] + sorted[end - 1]) / 2 > x)
			end--;
		if (end <= i)
			break;
		sum += end - i;
	}
	return sum;
}

/* The Walsh average with number @k, from 1 for the least. By bisection, as there are n (n + 1) / 2. */
static double walsh(const double *sorted, size_t n, size_t k)
{
	double low = sorted[0], high = sorted[n - 1];

	for (int i = 0; i < 100 && low < high; i++) {
		double middle = (low + high) / 2;

		if (averages_to(sorted, n, middle) >= k)
			high = middle;
		else if (low < middle)
			low = middle;
		else
			break;
	}
	return high;
}

struct interval stats_ranks(double *values, size_t n, double confidence)
{
	size_t nr = n * (n + 1) / 2, out = left_out(n, confidence);
	struct interval i = stats_interval(values, n, confidence);

	stats_sort(values, n);
	i.mean = (walsh(values, n, (nr + 1) / 2) + walsh(values, n, nr / 2 + 1)) / 2;
	i.low = out ? walsh(values, n, out) : -INFINITY;
	i.high = out ? walsh(values, n, nr + 1 - out) : INFINITY;
	return i;
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
