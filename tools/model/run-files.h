/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * run-files.h - the data files that the processes of one run wrote.
 *
 * A file goes by its final name, even while its process runs: load() finds it by that
 * name. Must never write to a file.
 */
#ifndef ELIDE_RUN_FILES_H
#define ELIDE_RUN_FILES_H

#include <stdint.h>

#include "../../lib/datafile.h"
#include "../base/paths.h"

/**
 * run_files() - append the data files of a run, by length of their name and then by name.
 * @stem: beginning of the paths
 * @run: the files' header.run
 * @accept: accepts the rest of a name after the stem; NULL accepts anything
 *
 * Return: 0 or -ENOMEM; a directory that cannot be read has no files.
 */
int run_files(struct paths *p, const char *stem, uint64_t run, int (*accept)(const char *rest));

/**
 * struct run_folder - the names in the folder that was read last; all zero: none.
 * @dir: the path up to the names
 * @found: called with @arg, the path and the header of each file that is appended; or NULL
 */
struct run_folder {
	char *dir;
	struct paths names;
	void (*found)(void *arg, const char *path, const struct elide_header *h);
	void *arg;
};

/** run_files_in() - as run_files(), for many calls: the names of a folder are read once. */
int run_files_in(struct run_folder *folder, struct paths *p, const char *stem, uint64_t run,
		 int (*accept)(const char *rest));

/** run_files_other_in() - as run_files_in(), but the data files of any other run. */
int run_files_other_in(struct run_folder *folder, struct paths *p, const char *stem, uint64_t run,
		       int (*accept)(const char *rest));

/** run_folder_free() - release the names. */
void run_folder_free(struct run_folder *folder);

/** run_files_is_child() - is the rest of a name that of a child's file, ".PID" or ".PID.N"? */
int run_files_is_child(const char *rest);

/**
 * run_files_other() - as run_files(), but the data files of any other run.
 */
int run_files_other(struct paths *p, const char *stem, uint64_t run,
		    int (*accept)(const char *rest));

#endif
