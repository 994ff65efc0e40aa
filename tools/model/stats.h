/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * stats.h - is a difference more than chance?
 *
 * Must never know what was measured.
 */
#ifndef ELIDE_STATS_H
#define ELIDE_STATS_H

#include <stddef.h>

/**
 * struct interval - a mean and its confidence interval.
 * @sd:        standard deviation of one value
 * @low, @high: confidence interval of the mean; infinite for fewer than two values
 */
struct interval {
	size_t n;
	double mean;
	double sd;
	double low;
	double high;
};

/**
 * stats_t() - two-sided quantile of Student's t distribution.
 * @confidence: between 0 and 1
 * @freedom: degrees of freedom, at least 1
 *
 * The distribution function is Abramowitz and Stegun, Handbook of Mathematical
 * Functions, 26.7.3 and 26.7.4; its inverse is found by bisection.
 */
double stats_t(double confidence, size_t freedom);

/** stats_interval() - Student's confidence interval of the mean of @n values. */
struct interval stats_interval(const double *values, size_t n, double confidence);

/**
 * stats_ranks() - the Hodges-Lehmann estimate of the centre of @n values, and its confidence interval by
 * Wilcoxon's signed ranks.
 * @values: at least one, of any distribution that is symmetric; they become sorted
 *
 * M. Hollander, D. Wolfe, E. Chicken, Nonparametric Statistical Methods, 3.2 and 3.3. @low and @high are
 * infinite where @n is below stats_least().
 */
struct interval stats_ranks(double *values, size_t n, double confidence);

/** stats_least() - the least number of values with which stats_ranks() has an interval. */
size_t stats_least(double confidence);

/** stats_quantile() - the value below which the part @q of @n sorted values is. */
double stats_quantile(const double *sorted, size_t n, double q);

/** stats_sort() - sort @n values, the least first. */
void stats_sort(double *values, size_t n);

/** stats_with() - the confidence interval of @n values with this mean and deviation. */
struct interval stats_with(double mean, double sd, size_t n, double confidence);

enum effect { EFFECT_PAYS, EFFECT_NEUTRAL, EFFECT_HURTS, EFFECT_UNDECIDED, NR_EFFECTS };

/**
 * stats_effect() - the verdict on an interval of log ratios of times.
 * @margin: ratios up to 1 + @margin either way count as no difference
 *
 *   neutral    the interval lies within the margin
 *   pays       it lies below 0
 *   hurts      it lies above 0
 *   undecided  otherwise
 */
enum effect stats_effect(const struct interval *i, double margin);

/** stats_effect_name() - the word for an effect. */
const char *stats_effect_name(enum effect e);

/* The most runs that stats_more() considers. */
#define STATS_RUNS_MAX 100000

/**
 * stats_more() - how many more values like the present ones would decide.
 *
 * Return: 0 if it is decided; more than STATS_RUNS_MAX if STATS_RUNS_MAX runs would not decide it.
 */
size_t stats_more(const struct interval *i, double margin, double confidence);

#endif
