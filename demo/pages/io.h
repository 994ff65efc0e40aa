/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * io.h - reads and writes of whole pages of a file.
 *
 * A read or write that does less than it should goes on with the rest. One that does 0 bytes ends:
 * the file has no such page, or no room.
 */
#ifndef DEMO_PAGES_IO_H
#define DEMO_PAGES_IO_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Pages that are written one after another before they are synchronised or evicted: 1 MiB. */
#define IO_BATCH 64

enum io_mode {
#define IO_MODE(id, help) IO_##id,
#include "io.def"
	NR_IO_MODES
};

int io_read(int fd, void *buf, size_t len, off_t at);
int io_write(int fd, const void *buf, size_t len, off_t at);

#endif
