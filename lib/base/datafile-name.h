/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * datafile-name.h - the name of the data file, and what becomes of an older file of that name.
 *
 * An older data file becomes NAME.old. If this run or a live process uses the name, the file is
 * NAME.PID. What is not a data file is never touched. Must never be called inside a transaction.
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

/**
 * struct elide_data_name - the data file of this process.
 * @claims: it takes the name of ELIDE_OUTPUT once its header is complete
 * @dev: device
 * @ino: inode
 * @path: path, with room for what is appended to the name of ELIDE_OUTPUT
 */
extern struct elide_data_name {
	bool claims;
	dev_t dev;
	ino_t ino;
	char path[PATH_MAX + 48];
} elide_data_name;

/**
 * elide_start_time() - field 22 of /proc/PID/stat: start of a process, clock ticks after boot.
 * @pid: its number; 0: this process. Then no number is formatted, because its length would change
 *       the times of an emulated run
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
 * @name: its name
 * @run: identifier of the elide run, 0 for none
 * @who: the process
 *
 * A file that claims @name is created with another name, and gets this one with a complete header
 * by elide_data_name_claim(): another process that starts at the same time must not find half of
 * one.
 *
 * Return: a descriptor; -EEXIST if @who needs no file; -errno on other errors, which one line on
 * standard error says.
 */
int elide_data_name_open(const char *name, uint64_t run, enum elide_data_who who);

/**
 * elide_data_name_claim() - rename the file to @name or, if another process was faster, NAME.PID.
 *
 * Return: false if the file cannot be found by its name any more.
 */
bool elide_data_name_claim(const char *name);

#pragma GCC visibility pop

#endif
