/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * log.h - messages to standard error.
 *
 * Must never allocate, lock, buffer, touch errno or write to standard output.
 */
#ifndef ELIDE_LOG_H
#define ELIDE_LOG_H

#include "../compiler.h"

/**
 * elide_log() - write one line "elide: ..." to standard error.
 * @format: as printf(3), the line is cut at 500 bytes
 *
 * Async-signal-safe as far as vsnprintf(3) is for %s, %d, %u, %lx and the like.
 */
void elide_log(const char *format, ...) __printf(1, 2);

#endif
