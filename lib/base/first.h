/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * first.h - did a user start this process, or a program that has the library?
 */
#ifndef ELIDE_FIRST_H
#define ELIDE_FIRST_H

#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

/**
 * elide_is_first() - may this process say on standard error that its data are not saved?
 * @run: identifier of the elide run, 0 for none
 * @file: name of the data file
 *
 * A parent that runs with the library may read the standard error of this program as its output. The
 * environment of such a parent has the library, too, or belongs to another user, as after sudo(8) or in a
 * daemon's worker.
 *
 * Return: false if the parent has the library; or if its environment may not be read, and either there is
 * an elide run, whose launcher would be of this user, or the file's directory is another user's.
 */
bool elide_is_first(uint64_t run, const char *file);

#pragma GCC visibility pop

#endif
