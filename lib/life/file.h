/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * file.h - the data file of the process: its header, and when the process began and ended.
 */
#ifndef ELIDE_FILE_H
#define ELIDE_FILE_H

#include <stdbool.h>
#include <stdint.h>

#include "../base/datafile-writer.h"

#pragma GCC visibility push(hidden)

/** elide_file_begin() - the process begins now. Return: the time, CLOCK_REALTIME, ns. */
uint64_t elide_file_begin(void);

/** elide_file_open() - make the file. In a global-lock path. Return: 0 or -errno: then nothing is counted. */
int elide_file_open(enum elide_data_who who);

/** elide_file_tell_end() - write the present time into the header as the end. In a global-lock path. */
void elide_file_tell_end(void);

/**
 * elide_file_refresh_end() - elide_file_tell_end(), unless it was just done. In a global-lock path.
 *
 * So the file has an end even if the process is killed.
 */
void elide_file_refresh_end(void);

/**
 * elide_file_join() - the calling thread is about to wait for the end of another one.
 *
 * The wait of a thread that is cancelled meanwhile, or leaves it by longjmp(), counts up to the end of the
 * process.
 *
 * Return: for elide_file_joined().
 */
uint32_t elide_file_join(void);

/** elide_file_joined() - the thread has waited. @begun: of elide_file_join(); a wait of an earlier file is left out */
void elide_file_joined(uint32_t begun);

/** elide_file_forget() - in a forked child, and where a further file begins: no thread waits for the end of another one. */
void elide_file_forget(void);

#pragma GCC visibility pop

#endif
