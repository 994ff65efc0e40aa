/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * datafile-older.h - files that already have the name that a data file is to get, and renames.
 *
 * Other files than data files are never touched. Must never be called inside a transaction. Callers
 * serialise themselves by the engine's lock.
 */
#ifndef ELIDE_DATAFILE_OLDER_H
#define ELIDE_DATAFILE_OLDER_H

#include <sys/types.h>

#include "../datafile.h"

#pragma GCC visibility push(hidden)

enum elide_older {
	ELIDE_OLDER_NONE,
	ELIDE_OLDER_UNREADABLE, /* it cannot be opened: errno says why */
	ELIDE_OLDER_FOREIGN,    /* not a data file */
	ELIDE_OLDER_EMPTY,
	ELIDE_OLDER_UNFINISHED, /* without a magic: its process was killed as it started */
	ELIDE_OLDER_DONE,       /* a data file of a process that has ended */
	ELIDE_OLDER_SELF,       /* of this process, before it called exec() */
	ELIDE_OLDER_ENDING,     /* of a process that has completed it and is about to end */
	ELIDE_OLDER_LIVE,       /* of a live process */
};

/**
 * elide_older() - what file has the name?
 * @name: a path
 *
 * Return: what it is. From ELIDE_OLDER_DONE on elide_older_header is its header.
 */
enum elide_older elide_older(const char *name);

extern struct elide_header elide_older_header;

/**
 * elide_older_create() - create and lock a file.
 *
 * It is locked until no process has it mapped or open.
 *
 * Return: a descriptor; -EEXIST if there is such a file, or if another process took the new one for an
 * abandoned one before it was locked; -errno.
 */
int elide_older_create(const char *name);

/**
 * elide_older_move() - rename an older data file *@name to NAME.old, and remove an empty file.
 * @older: what elide_older() has just said of it
 *
 * Return: 0, also if there is no file; -EEXIST if a file NAME.old is not a data file, then *@name
 * is set to that name; -EBUSY if a live process has created *@name just now.
 */
int elide_older_move(const char **name, enum elide_older older);

/**
 * elide_older_rename() - give a file the name that it is to have after the end of its process.
 * @from: its name now
 * @to: that name; an older data file of that name becomes NAME.old
 *
 * Return: 0; -EEXIST if @to, or TO.old, is not a data file; other errors.
 */
int elide_older_rename(const char *from, const char *to);

/**
 * elide_older_finish() - elide_older_rename() for a process that has ended without it.
 * @from: its name now, of which elide_older() has just given ELIDE_OLDER_DONE or _SELF
 * @to: the name that it is to have; if another file is in the way, it gets TO.PID
 *
 * Return: 0; -EBUSY if another process is doing so, or @from is another file by now; other errors.
 */
int elide_older_finish(const char *from, const char *to);

/**
 * elide_older_claim() - lock a data file whose process has ended, so that no other process renames it.
 * @name: its path
 *
 * Return: a descriptor; -EBUSY if another process has locked it, or @name is another file by now; other
 * errors.
 */
int elide_older_claim(const char *name);

/**
 * elide_older_abandoned() - remove a file that is empty or without a magic, if its process has ended.
 *
 * Return: 0; -EBUSY if a live process is about to complete it; other errors. The lock tells that, or,
 * without locks, the age of the file.
 */
int elide_older_abandoned(const char *name);

#pragma GCC visibility pop

#endif
