/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * capture.h - what all threads of a process wait for and hold now, and their stacks.
 */
#ifndef ELIDE_CAPTURE_H
#define ELIDE_CAPTURE_H

#include "../model/stacks.h"

/* Bytes of a message of capture(). */
#define CAPTURE_WHY 480

/**
 * capture() - stop a process for a moment and fill @s.
 * @warn: as of symbolizer_new()
 * @why: CAPTURE_WHY bytes, filled with words that follow "process PID " if that cannot be done
 *
 * Return: 0 or -errno; stacks_free() releases it in any case.
 */
int capture(long pid, struct stacks *s, void (*warn)(const char *line), char *why);

#endif
