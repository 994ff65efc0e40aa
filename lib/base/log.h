/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * log.h - messages to standard error.
 *
 * A line is written only where that does no harm: to what was standard error at the start, never
 * waiting for a reader, and without a signal. Else it goes into the data file. Must never allocate,
 * lock, buffer, touch errno or write to standard output.
 */
#ifndef ELIDE_LOG_H
#define ELIDE_LOG_H

#include "../compiler.h"
#include "../datafile.h"

/** elide_log_start() - remember what standard error is. Before that any is taken for it. */
void elide_log_start(void);

/** elide_log_fill() - write into the header the lines that were not written to standard error. */
void elide_log_fill(struct elide_header *h);

/**
 * elide_log() - write one line "elide: ..." to standard error.
 * @format: as printf(3), the line is cut at 500 bytes
 *
 * Async-signal-safe as far as vsnprintf(3) is for %s, %d, %u, %lx and the like.
 */
void elide_log(const char *format, ...) __printf(1, 2);

#endif
