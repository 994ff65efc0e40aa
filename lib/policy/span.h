/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * span.h - how long an epoch lasts, and what it weighs.
 *
 * A part of learn.c: pure functions of what is known of a class. What the engine calls is in
 * learn.h: learn_settles(), learn_may_end(), learn_over().
 */
#ifndef ELIDE_SPAN_H
#define ELIDE_SPAN_H

#include "learn.h"

/**
 * learn_shortest() - the least length of the present epoch, ns.
 * @c: the class
 */
uint64_t learn_shortest(const struct learn_class *c);

/**
 * learn_weight() - what a pair of epochs weighs.
 * @c: the class, in a challenge
 * @length: length of the epoch that is over, ns: of a challenger that was cut it is shorter
 *
 * Return: in pairs of the least length.
 */
double learn_weight(const struct learn_class *c, uint64_t length);

/** learn_span_start() - a challenge begins: choose the length of its epochs by the noise. */
void learn_span_start(struct learn_class *c);

/** learn_span_next() - the pair that is over leaves the challenge unclear: the next may be longer. */
void learn_span_next(struct learn_class *c);

#endif
