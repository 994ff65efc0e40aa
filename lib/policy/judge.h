/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * judge.h - which of two arms is better, by the rates of pairs of epochs, and how sure that is.
 *
 * A part of learn.c: pure functions of what is known of a class. A rate is compared as the natural
 * logarithm of the ratio of the challenger's to the incumbent's.
 */
#ifndef ELIDE_JUDGE_H
#define ELIDE_JUDGE_H

#include "learn.h"

/* A challenger wins by a mean logarithm that is above LEARN_MARGIN (0.5 %), see judge.c. */
#define LEARN_MARGIN 0.005

/*
 * A challenger loses by the first pair if its logarithm is LEARN_FIRST_ERRORS standard errors below 0,
 * and, while the noise is the mean of fewer than LEARN_NOISE_KNOWN epochs, below LEARN_FIRST_LOSES, a
 * factor of 0.74.
 */
#define LEARN_FIRST_ERRORS 3
#define LEARN_FIRST_LOSES  (-0.3)
#define LEARN_NOISE_KNOWN  8

/* The least noise of a pair that is assumed, as a logarithm. */
#define LEARN_NOISE_MIN 0.01

/* Pairs after which a challenge with the arm "restrict" ends. */
#define LEARN_CROWD_PAIRS 6

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
 * learn_noise() - noise of a pair of epochs of the least length, before one is measured.
 * @c: the class
 *
 * Return: standard deviation, as a logarithm.
 */
double learn_noise(const struct learn_class *c);

/**
 * learn_keep_noise() - learn the noise of the pairs of a challenge that is over.
 * @c: the class
 */
void learn_keep_noise(struct learn_class *c);

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
