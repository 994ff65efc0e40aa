// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * io.c - opens, locks and grows the file of the pages.
 */
#include "io.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

/* The reason of an error that errno has. */
static int failed(char *why, size_t len)
{
	int err = -errno;

	snprintf(why, len, "%s", strerror(-err));
	return err;
}

static int refuse(char *why, size_t len, int err, const char *text)
{
	snprintf(why, len, "%s", text);
	return err;
}

static int lock(int fd, bool read_only, char *why, size_t len)
{
	while (flock(fd, (read_only ? LOCK_SH : LOCK_EX) | LOCK_NB)) {
		if (errno == EWOULDBLOCK)
			return refuse(why, len, -EBUSY, "is open in another process");
		if (errno != EINTR)
			return failed(why, len);
	}
	return 0;
}

static int examine(int fd, bool read_only, char *why, size_t len)
{
	struct stat st;

	if (fstat(fd, &st))
		return failed(why, len);
	if (!S_ISREG(st.st_mode))
		return refuse(why, len, -EINVAL, "is not a regular file");
	return lock(fd, read_only, why, len);
}

/**
 * io_open() - open and lock a file
 * @path: its name
 * @mode: IO_direct or IO_buffered
 * @create: make it; it must not exist
 * @read_only: open and lock it for readers alone
 * @why: receives the reason of an error, to follow the name of the file
 * @len: size of @why in bytes
 *
 * A file that was made and cannot be used is removed.
 *
 * Return: the file descriptor, -EBUSY if another process has it, or -errno.
 */
int io_open(const char *path, enum io_mode mode, bool create, bool read_only, char *why,
	    size_t len)
{
	int flags = O_CLOEXEC | (read_only ? O_RDONLY : O_RDWR) |
		    (mode == IO_direct ? O_DIRECT : 0) | (create ? O_CREAT | O_EXCL : 0);
	/* A FIFO would wait for a writer. */
	int fd = open(path, flags | O_NONBLOCK, 0644), err;

	if (fd < 0 && errno == EINVAL && mode == IO_direct) {
		if (create)
			unlink(path);
		return refuse(why, len, -EINVAL, "is where direct I/O is not possible");
	}
	if (fd < 0)
		return failed(why, len);
	err = examine(fd, read_only, why, len);
	if (!err)
		return fd;
	close(fd);
	if (create)
		unlink(path);
	return err;
}

/**
 * io_read_all() - read from a place of a file that must have the bytes
 * @fd: the file
 * @buf: receives the bytes
 * @len: their number
 * @at: the place
 *
 * Return: 0, -EBADMSG if the file ends before, or -errno.
 */
int io_read_all(int fd, void *buf, size_t len, off_t at)
{
	ssize_t n = io_read(fd, buf, len, at);

	if (n < 0)
		return (int)n;
	return (size_t)n == len ? 0 : -EBADMSG;
}

/**
 * io_grow() - get space for a part of a file, so that writing to it does not fail for want of it
 * @fd: the file
 * @from: begin of the part
 * @to: its end
 *
 * Return: 0, -ENOSPC, -EFBIG or another -errno.
 */
int io_grow(int fd, off_t from, off_t to)
{
	int err;

	do {
		err = posix_fallocate(fd, from, to - from);
	} while (err == EINTR);
	return -err;
}

/**
 * io_room() - examine whether the file system of a file has room
 * @path: the file, which need not exist
 * @bytes: bytes by which it will grow
 * @why: receives the reason of an error, to follow the name of the file
 * @len: size of @why in bytes
 *
 * Return: 0, -ENOSPC, or -errno.
 */
int io_room(const char *path, uint64_t bytes, char *why, size_t len)
{
	const char *slash = strrchr(path, '/');
	struct statvfs fs;
	char folder[4096];
	uint64_t there;
	int n = slash ? (int)(slash - path) + (slash == path) : 1;

	if (snprintf(folder, sizeof(folder), "%.*s", n, slash ? path : ".") >= (int)sizeof(folder))
		return refuse(why, len, -ENAMETOOLONG, strerror(ENAMETOOLONG));
	if (statvfs(folder, &fs))
		return failed(why, len);
	there = (uint64_t)fs.f_bavail * fs.f_frsize;
	if (bytes <= there)
		return 0;
	snprintf(why, len, "needs %.0f MiB, and its file system has %.0f", (double)bytes / 0x1p20,
		 (double)there / 0x1p20);
	return -ENOSPC;
}
