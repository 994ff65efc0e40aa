/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * judge.h - which of two treatments is better, by the rates of pairs of trials, and how sure that is.
 *
 * A part of learn.c: pure functions of what is known of a class. A rate is compared as the natural
 * logarithm of the ratio of the challenger's to the incumbent's. From the second pair on the challenger
 * wins if the mean logarithm is SIGMAS standard errors above a margin, and loses if it is as far below
 * it; the last pair decides by one standard error. Few pairs may agree by chance, so NOISE_PAIRS pairs
 * with the usual noise are added to the variance of those measured.
 */
#ifndef ELIDE_JUDGE_H
#define ELIDE_JUDGE_H

#include "learn.h"

enum learn_verdict {
	LEARN_UNCLEAR,
	LEARN_WINS,
	LEARN_LOSES,
};

/** learn_root() - square root, of 0 or more. */
double learn_root(double x);

/** learn_log_ratio() - ln(a / b), between -2 and 2; errors below 0.001 where it is below 0.9. */
double learn_log_ratio(double a, double b);

/**
 * learn_error() - standard error of the mean logarithm of the challenge's pairs.
 * @c: the class, in a challenge with at least one pair
 */
double learn_error(const struct learn_class *c);

/**
 * learn_confidence() - how sure is the sign of a mean?
 * @z: the mean in standard errors, at least 0
 *
 * Return: probability, in 1/1000, that a normally distributed number with mean @z and standard
 * deviation 1 is above 0.
 */
uint32_t learn_confidence(double z);

/**
 * learn_judge() - what do the pairs of the challenge say?
 * @c: the class
 * @mean: mean logarithm of the pairs
 * @error: its standard error
 */
enum learn_verdict learn_judge(const struct learn_class *c, double mean, double error);

#endif
