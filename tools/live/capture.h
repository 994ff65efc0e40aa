/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * capture.h - what each thread of a process waits for and holds now, and its stack.
 */
#ifndef ELIDE_CAPTURE_H
#define ELIDE_CAPTURE_H

#include "../model/stacks.h"

/* Bytes of a message of capture(). */
#define CAPTURE_WHY 480

/**
 * capture() - stop a process for a moment and fill @s.
 * @warn: as of symbolizer_new()
 * @why: CAPTURE_WHY bytes, on failure filled with words that follow "process PID "
 *
 * Return: 0 or -errno; stacks_free() releases it in any case.
 */
int capture(long pid, struct stacks *s, void (*warn)(const char *line), char *why);

#endif
