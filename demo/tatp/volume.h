/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * volume.h - the pages of the database in memory or in a file, below the buffer pool.
 */
#ifndef DEMO_TATP_VOLUME_H
#define DEMO_TATP_VOLUME_H

#include "page.h"

#include "../mem/area.h"

/* Number of pages that volume_write() writes at a time: 512 KiB. */
#define VOLUME_BATCH 64

/**
 * struct identity - which database a file belongs to
 * @subscribers: number of subscribers
 * @seed: seed of the population
 * @born: a number that differs between databases
 */
struct identity {
	uint64_t subscribers;
	uint64_t seed;
	uint64_t born;
};

/**
 * struct volume - the pages of a database
 * @fd: the file, or -1: the pages are in @memory
 * @memory: the pages
 * @max: number of pages that the volume may have
 * @nr: number of pages, which includes page 0
 * @backed: number of pages for which the file has space
 * @identity: of the database, in the file's header
 */
struct volume {
	int fd;
	struct area memory;
	uint32_t max;
	uint32_t nr;
	uint32_t backed;
	struct identity identity;
};

int volume_create(struct volume *v, const char *path, const struct identity *id, uint32_t max);
int volume_open(struct volume *v, const char *path, uint32_t max, char *why, size_t len);
void volume_close(struct volume *v);
int volume_mend(struct volume *v);
int volume_allocate(struct volume *v, uint32_t *id);
int volume_read(const struct volume *v, uint32_t id, struct page *page);
int volume_write(struct volume *v, struct page *const *pages, unsigned int nr);
int volume_sync(const struct volume *v);

#endif
