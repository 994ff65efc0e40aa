/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * share.h - divides a whole number by weights, so that the parts add up exactly.
 *
 * Must never lose a unit.
 */
#ifndef ELIDE_SHARE_H
#define ELIDE_SHARE_H

#include <stddef.h>
#include <stdint.h>

/**
 * struct share - the state of a division; at the start all zero except @total and @weights.
 * @total:   the number to divide
 * @weights: sum of all weights
 * @weight:  sum of the weights so far
 * @given:   sum of the parts so far
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
 * Rounds the running sums down, not the parts, so that each part is off by less than 1.
 * If all weights are 0, the parts are 0.
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
