/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * question.h - which challenge comes next.
 *
 * A part of learn.c: pure functions of what is known of a class.
 */
#ifndef ELIDE_QUESTION_H
#define ELIDE_QUESTION_H

#include "learn.h"

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
