/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * datafile-name.h - the name of the data file, and what becomes of an older file of that name.
 *
 * While its process runs, the file that is to be NAME is .NAME.live. So truncating NAME, or copying
 * another file to it, does not change a mapped file, which would kill the process by SIGBUS. At its end
 * the process renames the file. If it is killed, the next process that wants NAME, or a reader, does so.
 *
 * An older data file becomes NAME.old. If this run or a live process uses the name, the file is
 * NAME.PID. Other files are never touched. Must never be called inside a transaction.
 */
#ifndef ELIDE_DATAFILE_NAME_H
#define ELIDE_DATAFILE_NAME_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "datafile-writer.h"

#pragma GCC visibility push(hidden)

/* Room for a path, and what is added to the name of ELIDE_OUTPUT. */
#define ELIDE_NAME_ROOM (PATH_MAX + 64)

/**
 * struct elide_data_name - the data file of this process.
 * @began: CLOCK_REALTIME at the start of the process, in ns; 0: not known
 * @own: it has the number of the process: NAME.PID
 * @dev: device
 * @ino: inode
 * @path: its path now
 * @final: the path that it has after the end of the process
 */
extern struct elide_data_name {
	uint64_t began;
	bool own;
	dev_t dev;
	ino_t ino;
	char path[ELIDE_NAME_ROOM];
	char final[ELIDE_NAME_ROOM];
} elide_data_name;

/**
 * elide_start_time() - field 22 of /proc/PID/stat: start of a process, clock ticks after boot.
 * @pid: its number; 0: this process, without formatting a number, whose length would change the times of
 *       an emulated run
 *
 * Return: 0 if there is no such process.
 */
uint64_t elide_start_time(pid_t pid);

/**
 * elide_data_program() - path of the program.
 * @exe: filled; empty if it is not known
 * @size: its size in bytes
 */
void elide_data_program(char *exe, size_t size);

/**
 * elide_data_name_expand() - replace %p and %e; a % before anything else stands for itself.
 * @name: room for the result
 * @size: its size in bytes
 * @pattern: value of ELIDE_OUTPUT
 * @exe: path of the program
 */
void elide_data_name_expand(char *name, size_t size, const char *pattern, const char *exe);

/**
 * elide_data_name_open() - create the file of this process; elide_data_name says which it is.
 * @name: the name that it is to have
 * @run: identifier of the elide run, 0 for none
 * @who: the process
 *
 * The file is locked. Until its header is complete, it must stay open: another process that starts
 * at the same time must not take it for an unfinished file.
 *
 * Return: a descriptor; -EEXIST if @who needs no file; -errno on other errors, reported in one line on
 * standard error.
 */
int elide_data_name_open(const char *name, uint64_t run, enum elide_data_who who);

/**
 * elide_data_name_finish() - at the end of the process: the file gets its name.
 *
 * It keeps its present name if it, or the folder, cannot be reached any more. If a file that is not a data
 * file has got NAME meanwhile, it becomes NAME.PID, and one line on standard error says so.
 */
void elide_data_name_finish(void);

#pragma GCC visibility pop

#endif
