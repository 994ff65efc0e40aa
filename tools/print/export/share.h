/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * share.h - a whole number divided by weights, so that the parts sum up to it exactly.
 *
 * Must never lose a unit.
 */
#ifndef ELIDE_SHARE_H
#define ELIDE_SHARE_H

#include <stddef.h>
#include <stdint.h>

/**
 * struct share - what is left to divide; all zero but @total and @weights at the start.
 * @total:   to be divided
 * @weights: sum of all weights
 * @weight:  of those that have got their part
 * @given:   their parts
 */
struct share {
	uint64_t total;
	uint64_t weights;
	uint64_t weight;
	uint64_t given;
};

/**
 * share_next() - the part of the next weight.
 *
 * The sums of weights are rounded down, not the parts, so that each part is wrong by less than 1.
 * Of weights that are all 0, nothing is given.
 */
static inline uint64_t share_next(struct share *s, uint64_t weight)
{
	uint64_t before = s->given;

	s->weight += weight;
	if (s->weights)
		s->given = (uint64_t)((unsigned __int128)s->total * s->weight / s->weights);
	return s->given - before;
}

#endif
