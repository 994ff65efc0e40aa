/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * live.h - the data file of a running process.
 *
 * Must never send anything to the process, nor write to its file.
 */
#ifndef ELIDE_LIVE_H
#define ELIDE_LIVE_H

#include <limits.h>
#include <stdbool.h>

#include "../../lib/datafile.h"

/**
 * struct target - the data file of a running process.
 * @path: path by which to open the file, and those beside it: below the descriptor of its folder
 * @name: name of the file for messages
 * @fd:   the file that the process has mapped, open for reading; another one may have its name by now
 * @folder: its folder, open
 */
struct target {
	char path[PATH_MAX];
	char name[PATH_MAX];
	int fd;
	int folder;
};

/**
 * live_find() - the data file that process @pid maps and writes.
 * @t: filled, to be closed by live_close()
 *
 * The process may belong to another user, who renames its files: so the file and its folder are opened
 * once, no symbolic link is followed, and the descriptor is checked, not the name.
 *
 * Return: 0, -ENOENT or another -errno.
 */
int live_find(long pid, struct target *t);

/** live_close() - close the descriptors of a target. */
void live_close(struct target *t);

/**
 * live_missing() - why live_find() has found nothing.
 * @pid: the process
 * @err: what it returned
 *
 * Return: words that follow the name of the process.
 */
const char *live_missing(long pid, int err);

/**
 * live_newest() - the readable data file of the process that was started last.
 * @pid: set to its id
 *
 * Return: 0 or -ENOENT.
 */
int live_newest(long *pid, struct target *t);

/** live_runs() - does process @pid, which wrote this header, still run? */
bool live_runs(const struct elide_header *h, long pid);

/**
 * live_set_end() - set the end of a running process to now, as the process does so rarely.
 *
 * Does nothing if it has ended, or if it runs on an emulated machine, which has its own clock.
 */
void live_set_end(struct elide_header *h);

#endif
