/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * question.h - which challenge comes next.
 *
 * A part of learn.c: pure functions of what is known of a class.
 */
#ifndef ELIDE_QUESTION_H
#define ELIDE_QUESTION_H

#include "learn.h"

/* Challenges in a round: each arm before "probe" but the incumbent. */
#define LEARN_ROUND (POLICY_ARM_probe - 1)

/** learn_is_about_crowds() - does a challenge with the question CROWD go on? */
static inline bool learn_is_about_crowds(const struct learn_class *c)
{
	return c->phase != LEARN_HOLD && c->question == LEARN_CROWD;
}

/**
 * learn_asked_all() - is no candidate left in the first round?
 * @c: the class
 */
bool learn_asked_all(const struct learn_class *c);

/**
 * learn_ask() - choose the next challenge of the questions WHETHER and HOW.
 * @c: the class; @question and @challenger are set, @asked is moved on
 *
 * Return: false if no candidate makes sense now.
 */
bool learn_ask(struct learn_class *c);

/**
 * learn_ask_crowd() - does the question CROWD make sense now?
 * @c: the class; if so, @question and @challenger are set
 * @now: time, ns
 */
bool learn_ask_crowd(struct learn_class *c, uint64_t now);

#endif
