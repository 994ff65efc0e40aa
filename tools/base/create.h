/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * create.h - files that the user names, and that are written from their beginning.
 *
 * Must never write to another file than the one named: no symbolic link is followed.
 */
#ifndef ELIDE_CREATE_H
#define ELIDE_CREATE_H

#include <stdbool.h>

/**
 * create_is_descriptor() - is it a name below /dev, /proc/self/fd or /proc/thread-self/fd?
 *
 * There /dev/stdout, /dev/fd/N and the like are symbolic links to what the caller has open.
 */
bool create_is_descriptor(const char *path);

/**
 * create_file() - create a file for its owner alone, or truncate an existing one.
 *
 * A name for which create_is_descriptor() holds is opened as it is, and appended to.
 *
 * Return: descriptor, open for writing, or -errno; -ELOOP if the name is that of a symbolic link.
 */
int create_file(const char *path);

#endif
