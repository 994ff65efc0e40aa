/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * datafile-children.h - the files NAME.PID beside a data file NAME.
 *
 * Must never touch the file of a live process, nor a file that is not a data file. Must never be called
 * inside a transaction.
 */
#ifndef ELIDE_DATAFILE_CHILDREN_H
#define ELIDE_DATAFILE_CHILDREN_H

#include <stdint.h>

#pragma GCC visibility push(hidden)

/**
 * elide_children_finish() - give the files of processes that were killed, or ended by _exit(), their
 * names.
 * @pattern: value of ELIDE_OUTPUT
 * @exe: path of the program
 */
void elide_children_finish(const char *pattern, const char *exe);

/**
 * elide_children_bound() - drop the oldest files if there are too many.
 * @pattern: value of ELIDE_OUTPUT
 * @exe: path of the program
 * @max: files that may stay
 *
 * Only the files of processes that have ended are dropped, and at most 256 of them.
 *
 * Return: the number of files dropped, and of those that their processes had dropped.
 */
uint64_t elide_children_bound(const char *pattern, const char *exe, unsigned int max);

#pragma GCC visibility pop

#endif
