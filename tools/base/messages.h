/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * messages.h - what the tools say on standard error.
 *
 * Must never write to standard output: that is for results.
 */
#ifndef ELIDE_MESSAGES_H
#define ELIDE_MESSAGES_H

#include "../../lib/compiler.h"

/**
 * say() - write one line "elide: ..." to standard error.
 */
void say(const char *format, ...) __printf(1, 2);

#endif
