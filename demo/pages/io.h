/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * io.h - the file below the pages: opened, locked, grown, read and written.
 */
#ifndef DEMO_PAGES_IO_H
#define DEMO_PAGES_IO_H

#include "../base/io.h"

#include <stdbool.h>
#include <stdint.h>

/* Pages that are written one after another before they are synchronised or evicted: 1 MiB. */
#define IO_BATCH 64

enum io_mode {
#define IO_MODE(id, help) IO_##id,
#include "io.def"
	NR_IO_MODES
};

int io_open(const char *path, enum io_mode mode, bool create, bool read_only, char *why,
	    size_t len);
int io_read_all(int fd, void *buf, size_t len, off_t at);
int io_grow(int fd, off_t from, off_t to);
int io_room(const char *path, uint64_t bytes, char *why, size_t len);

#endif
