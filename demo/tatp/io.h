/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * io.h - reads, writes and checksums of the files.
 */
#ifndef DEMO_TATP_IO_H
#define DEMO_TATP_IO_H

#include "../base/io.h"

#include <stdint.h>
#include <zlib.h>

/** io_crc() - the checksum of some bytes */
static inline uint32_t io_crc(const void *p, size_t len)
{
	return (uint32_t)crc32(0, p, (uInt)len);
}

#endif
