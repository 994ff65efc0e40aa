/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * zipf.h - ranks distributed by Zipf's law: the probability of rank k, from 1, is in proportion to
 * k to the power of minus the exponent.
 *
 * Rejection-inversion, for an exponent other than 1: Hörmann, Derflinger, "Rejection-inversion
 * to generate variates from monotone discrete distributions", ACM TOMACS 6(3), 1996.
 */
#ifndef DEMO_ZIPF_H
#define DEMO_ZIPF_H

#include "rng.h"

#include <math.h>

/**
 * struct zipf - constants of the sampler for the ranks 1..n
 * @exponent: the exponent
 * @n: the number of ranks
 * @h_low: integral of the density at the lower end
 * @h_high: the same at the upper end
 * @cut: distance below which no comparison is needed
 */
struct zipf {
	double exponent;
	double n;
	double h_low, h_high, cut;
};

static inline double zipf_weight(const struct zipf *zipf, double x)
{
	return pow(x, -zipf->exponent);
}

static inline double zipf_integral(const struct zipf *zipf, double x)
{
	return pow(x, 1 - zipf->exponent) / (1 - zipf->exponent);
}

static inline double zipf_integral_inverse(const struct zipf *zipf, double y)
{
	return pow(y * (1 - zipf->exponent), 1 / (1 - zipf->exponent));
}

/**
 * zipf_init() - compute the constants
 * @zipf: receives them
 * @n: number of ranks, at least 1
 * @exponent: the exponent, not 1
 */
static inline void zipf_init(struct zipf *zipf, uint64_t n, double exponent)
{
	zipf->exponent = exponent;
	zipf->n = (double)n;
	zipf->h_low = zipf_integral(zipf, 1.5) - 1;
	zipf->h_high = zipf_integral(zipf, (double)n + 0.5);
	zipf->cut = 2 - zipf_integral_inverse(zipf, zipf_integral(zipf, 2.5) - zipf_weight(zipf, 2));
}

/**
 * zipf_next() - draw a rank from 0 on; rank 0 is the most frequent
 * @zipf: the constants
 * @rng: the generator
 *
 * Return: a number below the number of ranks.
 */
static inline uint64_t zipf_next(const struct zipf *zipf, struct rng *rng)
{
	for (;;) {
		double y = zipf->h_high + rng_unit(rng) * (zipf->h_low - zipf->h_high);
		double x = zipf_integral_inverse(zipf, y);
		double k = floor(x + 0.5);

		if (k < 1)
			k = 1;
		else if (k > zipf->n)
			k = zipf->n;
		if (k - x <= zipf->cut ||
		    y >= zipf_integral(zipf, k + 0.5) - zipf_weight(zipf, k))
			return (uint64_t)k - 1;
	}
}

#endif
