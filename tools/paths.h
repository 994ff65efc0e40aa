/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * paths.h - a list of paths, and the data files of a directory.
 *
 * Must never open anything for writing.
 */
#ifndef ELIDE_PATHS_H
#define ELIDE_PATHS_H

#include <stddef.h>
#include <stdint.h>

/* A growing list; zero is the empty one. */
struct paths {
	char **path;
	size_t nr;
};

/** paths_add() - append a copy: 0 or -ENOMEM. */
int paths_add(struct paths *p, const char *path);

/** paths_free() - release the list. */
void paths_free(struct paths *p);

/**
 * paths_of_run() - append the data files of a run, by length of their name and then by name.
 * @stem: path that the names begin with; what follows the stem is up to @accept
 * @run: the files' header.run
 * @accept: gets what follows the stem; NULL accepts anything
 *
 * Return: 0 or -ENOMEM; a directory that cannot be read has no files.
 */
int paths_of_run(struct paths *p, const char *stem, uint64_t run, int (*accept)(const char *rest));

#endif
