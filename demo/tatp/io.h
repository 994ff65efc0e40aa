/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * io.h - writes to files that are complete, and checksums.
 */
#ifndef DEMO_TATP_IO_H
#define DEMO_TATP_IO_H

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>
#include <zlib.h>

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

/** io_crc() - the checksum of some bytes */
static inline uint32_t io_crc(const void *p, size_t len)
{
	return (uint32_t)crc32(0, p, (uInt)len);
}

#endif
