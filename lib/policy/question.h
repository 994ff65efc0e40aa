/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * question.h - which challenge comes next.
 *
 * A part of learn.c: pure functions of what is known of a class.
 */
#ifndef ELIDE_QUESTION_H
#define ELIDE_QUESTION_H

#include "learn.h"

/** learn_is_principal() - does the challenge compare eliding with locking, for the whole class? */
static inline bool learn_is_principal(const struct learn_class *c)
{
	return c->target == LEARN_ALL &&
	       policy_arm_locks(c->arm) != policy_arm_locks(c->challenger);
}

/** learn_is_about_crowds() - does a challenge with the arm "restrict" go on? */
static inline bool learn_is_about_crowds(const struct learn_class *c)
{
	return c->phase != LEARN_HOLD &&
	       (c->arm == POLICY_ARM_restrict || c->challenger == POLICY_ARM_restrict);
}

/**
 * learn_rotation() - number of candidates in a rotation of challenges.
 * @c: the class
 */
uint32_t learn_rotation(const struct learn_class *c);

/**
 * learn_asked_all() - is no candidate left in the first rotation?
 * @c: the class
 */
bool learn_asked_all(const struct learn_class *c);

/**
 * learn_ask() - choose the next challenge.
 * @c: the class; @target and @challenger are set, @asked is moved on
 *
 * Return: false if no candidate makes sense now.
 */
bool learn_ask(struct learn_class *c);

#endif
