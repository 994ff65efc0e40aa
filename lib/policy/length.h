/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * length.h - how long a trial lasts, and what it weighs.
 *
 * A part of learn.c: pure functions of what is known of a class. What the engine calls is in
 * learn.h: learn_settles(), learn_may_end(), learn_over().
 */
#ifndef ELIDE_LENGTH_H
#define ELIDE_LENGTH_H

#include "learn.h"

/** learn_held() - the least length of a trial between challenges, ns. */
uint64_t learn_held(const struct learn_class *c);

/** learn_shortest() - the least length of the present trial, ns. */
uint64_t learn_shortest(const struct learn_class *c);

/** learn_weight() - what a pair of trials of the present challenge weighs, in pairs of the least length. */
double learn_weight(const struct learn_class *c);

#endif
