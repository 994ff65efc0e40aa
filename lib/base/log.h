/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * log.h - messages to standard error.
 *
 * A line is written only if descriptor 2 is still the standard error of the start, without waiting for a
 * reader, and without a signal. Else it goes into the data file. Must never allocate, lock, buffer,
 * touch errno or write to standard output.
 */
#ifndef ELIDE_LOG_H
#define ELIDE_LOG_H

#include "../compiler.h"
#include "../datafile.h"

/** elide_log_start() - remember what standard error is. Before that any descriptor 2 will do. */
void elide_log_start(void);

/**
 * elide_log_keep() - from now on no line is written to standard error: all go into the data file.
 *
 * For a process that did not ask for the library: its standard error is not ours.
 */
void elide_log_keep(void);

/** elide_log_last() - the last line that was not written; "" if there is none. */
const char *elide_log_last(void);

/** elide_log_fill() - write into the header the lines that were not written to standard error. */
void elide_log_fill(struct elide_header *h);

/**
 * elide_log() - write one line "elide: ..." to standard error.
 * @format: as of elide_text(); the line is cut at 511 bytes
 *
 * Async-signal-safe.
 */
void elide_log(const char *format, ...) __printf(1, 2);

#endif
