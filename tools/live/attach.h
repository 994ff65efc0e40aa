/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * attach.h - have a running process load the library and count, and have it stop counting.
 *
 * Must never send a signal to the process.
 */
#ifndef ELIDE_ATTACH_TOOL_H
#define ELIDE_ATTACH_TOOL_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "inject.h"

/* Bytes of a message. */
#define ATTACH_WHY (INJECT_WHY + PATH_MAX + 512)

/**
 * struct attach_request - which library a process is to load, and with which settings.
 * @object:  file of the library
 * @output:  ELIDE_OUTPUT, absolute; NULL: elide.data in /tmp of the process
 * @settings: ELIDE_NAME=VALUE, each with its null byte
 * @settings_size: bytes of them
 */
struct attach_request {
	const char *object;
	const char *output;
	const char *settings;
	size_t settings_size;
};

/**
 * struct attach_result - what was done.
 * @name: of the program
 * @path: of the data file, in the mount namespace of the process
 * @root: to be put before @path to reach the file from here
 * @nr_threads: of the process
 * @stop_ns: for how long one thread, @tid, did not do its own work
 */
struct attach_result {
	char name[64];
	char path[PATH_MAX];
	char root[64];
	size_t nr_threads;
	uint64_t stop_ns;
	int tid;
};

/**
 * attach_begin() - have process @pid load the library, unless it has done so before, bind its calls and count.
 * @why: ATTACH_WHY bytes, on failure filled with words that follow "process PID "
 *
 * Return: 0 or -errno.
 */
int attach_begin(long pid, const struct attach_request *request, struct attach_result *result, char *why);

/** attach_end() - undo attach_begin(): the data file is complete then. Return: as attach_begin(). */
int attach_end(long pid, struct attach_result *result, char *why);

#endif
