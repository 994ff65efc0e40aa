/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * io.h - reads and writes at a place of a file that go on where the system did less than it was
 * to do.
 */
#ifndef DEMO_IO_H
#define DEMO_IO_H

#include <errno.h>
#include <stddef.h>
#include <unistd.h>

/** io_write() - write all of a buffer at a place of a file. Returns 0 or -errno. */
static inline int io_write(int fd, const void *buf, size_t len, off_t at)
{
	const char *p = buf;

	while (len) {
		ssize_t n = pwrite(fd, p, len, at);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n ? -errno : -ENOSPC;
		p += n;
		at += n;
		len -= (size_t)n;
	}
	return 0;
}

/**
 * io_read() - read from a place of a file
 * @fd: the file
 * @buf: receives the bytes
 * @len: their number
 * @at: the place
 *
 * Return: number of bytes, which is @len unless the file ends before, or -errno.
 */
static inline ssize_t io_read(int fd, void *buf, size_t len, off_t at)
{
	size_t done = 0;

	while (done < len) {
		ssize_t n = pread(fd, (char *)buf + done, len - done, at + (off_t)done);

		if (n < 0 && errno != EINTR)
			return -errno;
		if (!n)
			break;
		done += n > 0 ? (size_t)n : 0;
	}
	return (ssize_t)done;
}

#endif
