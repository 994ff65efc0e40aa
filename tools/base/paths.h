/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * paths.h - a growing list of paths, or of other texts.
 *
 * Must never open a file.
 */
#ifndef ELIDE_PATHS_H
#define ELIDE_PATHS_H

#include <stddef.h>

/**
 * struct paths - a growing list of texts; all zero is the empty list.
 * @path: of @nr, each allocated
 */
struct paths {
	char **path;
	size_t nr;
};

/** paths_add() - append a copy of a text. Return: 0 or -ENOMEM. */
int paths_add(struct paths *p, const char *path);

/** paths_free() - release the list. */
void paths_free(struct paths *p);

#endif
