/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * progress.h - how far a command is that takes long, on a terminal.
 *
 * Must never print where standard error is no terminal.
 */
#ifndef ELIDE_PROGRESS_H
#define ELIDE_PROGRESS_H

#include <stddef.h>

/**
 * progress() - say how many of the files are read, from one second after the first call on, and five
 * times a second.
 * @done: files; 0 in the first call
 * @all:  files to read; with @done equal to it what was said is wiped out
 */
void progress(size_t done, size_t all);

#endif
