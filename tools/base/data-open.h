/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * data-open.h - the data file that a name stands for. While its process runs, and after it was killed,
 * it is called .NAME.live.
 *
 * Must never write to a data file. It is renamed only where it is certain that no process writes it.
 */
#ifndef ELIDE_DATA_OPEN_H
#define ELIDE_DATA_OPEN_H

#include <stdint.h>

/**
 * data_open() - open the data file that a name stands for.
 * @path: NAME
 * @flags: O_RDONLY or O_RDWR, with O_NOFOLLOW if wanted; others are added
 *
 * .NAME.live if there is such a data file, else NAME. If its process has ended, and the file belongs
 * to the user of this process, it gets the name NAME, and an older data file of that name becomes
 * NAME.old.
 *
 * Return: a descriptor, or -errno. It may be of anything, a directory for instance.
 */
int data_open(const char *path, int flags);

/**
 * data_finish() - after the end of its process, give the file .NAME.live its name, as data_open() does.
 * @live: path of the file
 */
void data_finish(const char *live);

/**
 * data_started() - field 22 of /proc/PID/stat: start of a process, as in @pid_start of the header.
 *
 * Return: 0 if there is no such process.
 */
uint64_t data_started(long pid);

#endif
