/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * small-file.h - a small file that is read whole, and replaced whole.
 *
 * A reader finds the old bytes or the new ones, never a mixture. Symbolic links and files that are not
 * regular are not read. Must never be called inside a transaction.
 */
#ifndef ELIDE_SMALL_FILE_H
#define ELIDE_SMALL_FILE_H

#include <stddef.h>
#include <sys/types.h>

#pragma GCC visibility push(hidden)

/* Time that elide_small_lock() waits for another process at most, ms. Chosen: a process ends here. */
#define ELIDE_SMALL_WAIT_MS 100

/**
 * elide_small_read() - read a file whole.
 * @path: its name
 * @buffer: filled
 * @size: room in bytes
 *
 * Return: bytes read; -ENOENT if there is none; -EFBIG if it has more than @size bytes; -ELOOP if it
 * is a symbolic link; -EINVAL if it is no regular file; else -errno.
 */
ssize_t elide_small_read(const char *path, void *buffer, size_t size);

/**
 * elide_small_lock() - lock the folder of a file against others who call this function.
 * @path: name of the file; there need be none
 *
 * An advisory lock, flock(2) on the folder, as the file itself is replaced. Waits ELIDE_SMALL_WAIT_MS
 * at most.
 *
 * Return: a descriptor, for elide_small_unlock(); -EWOULDBLOCK if another process holds it for longer;
 * else -errno, for example on a file system without such locks.
 */
int elide_small_lock(const char *path);

/** elide_small_unlock() - give the lock back. @lock: of elide_small_lock(), its errors too. */
void elide_small_unlock(int lock);

/**
 * elide_small_replace() - write a new file and give it the name of the old one.
 * @path: the name; at most ELIDE_SMALL_PATH bytes
 * @bytes: of the file
 * @size: their number
 *
 * The new file is PATH.PID.new until it is complete, or PATH.PID.2.new to PATH.PID.16.new if that name is
 * in use. A process that is killed meanwhile leaves it behind. Needs no lock: if two processes replace the
 * file at once, the later one's stays.
 *
 * Return: 0, or -errno: then the old file is as it was.
 */
int elide_small_replace(const char *path, const void *bytes, size_t size);

#define ELIDE_SMALL_PATH 2047

#pragma GCC visibility pop

#endif
