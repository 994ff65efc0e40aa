/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * progress.h - the progress of a long command, on a terminal.
 *
 * Must never print where standard error is no terminal.
 */
#ifndef ELIDE_PROGRESS_H
#define ELIDE_PROGRESS_H

#include <stddef.h>

/**
 * progress() - say how many of the files are read, five times a second, from one second after the first
 * call on.
 * @done: files; 0 in the first call
 * @all:  files to read; if @done is equal, the line is erased
 */
void progress(size_t done, size_t all);

#endif
