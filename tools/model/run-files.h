/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * run-files.h - the data files that the processes of one run wrote.
 *
 * Must never open a file for writing.
 */
#ifndef ELIDE_RUN_FILES_H
#define ELIDE_RUN_FILES_H

#include <stdint.h>

#include "../base/paths.h"

/**
 * run_files() - append the data files of a run, by length of their name and then by name.
 * @stem: path that the names begin with; what follows the stem is up to @accept
 * @run: the files' header.run
 * @accept: gets what follows the stem; NULL accepts anything
 *
 * Return: 0 or -ENOMEM; a directory that cannot be read has no files.
 */
int run_files(struct paths *p, const char *stem, uint64_t run, int (*accept)(const char *rest));

#endif
