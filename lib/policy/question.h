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
 * learn_rotation() - after how many questions all have been asked that there are.
 * @c: the class
 */
uint32_t learn_rotation(const struct learn_class *c);

/**
 * learn_asked_all() - is there nothing else to ask, as things are, since something changed?
 * @c: the class
 */
bool learn_asked_all(const struct learn_class *c);

/**
 * learn_ask() - choose the next challenge that makes sense.
 * @c: the class; @asked goes on, @target and @challenger are set
 *
 * Return: false if there is none.
 */
bool learn_ask(struct learn_class *c);

#endif
