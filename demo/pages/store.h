/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * store.h - the file of pages.
 *
 *	page 0, 1	superblocks, written in turn
 *	page 2 ...	nodes and free pages
 *
 * The newer superblock says whether the file is clean. Before the first page of a run is
 * written, a superblock with the next generation that is not clean is durable; when the run
 * closes the file, all pages are durable before a clean one is written. So:
 *
 *	superblocks		opening
 *	both whole, newer clean	all pages are as they were when the file was closed
 *	anything else		refused; store_check() says what is damaged; nothing is recovered
 *
 * Pages are changed in place and there is no log. Each page has a checksum, its own number and the
 * generation of the superblock after which it was written, which must not be above that of the
 * newer superblock. The numbers of the free pages are in some of the free pages (chained
 * from the superblock) when the file is clean.
 *
 * A file is locked while it is open: by one process to write, or by several to read.
 */
#ifndef DEMO_PAGES_STORE_H
#define DEMO_PAGES_STORE_H

#include "../mem/area.h"
#include "io.h"
#include "node.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* How a file begins, and the version of its format. */
#define STORE_MAGIC "pagetree"
#define STORE_VERSION 1u

/* Number of the first page that is no superblock. No page has number 0 or 1. */
#define STORE_FIRST 2u

/* Trees of a file, and numbers that a program may keep in it. */
#define STORE_ROOTS 32
#define STORE_NOTES 32

/* Bytes of the name of a tree with the 0 at its end. */
#define STORE_NAME 24

/**
 * struct store_root - a tree of a file
 * @name: its name; "" if there is no such tree
 * @page: number of its root page, 0 if there is none
 * @reserved: 0
 */
struct store_root {
	char name[STORE_NAME];
	uint32_t page;
	uint32_t reserved;
};

/**
 * struct superblock - the first or second page of a file
 * @magic: STORE_MAGIC
 * @version: STORE_VERSION
 * @page_bytes: PAGE_BYTES
 * @generation: grows by 1 with each superblock that is written
 * @clean: 1 if no page was written after it, else 0
 * @nr: number of pages of the file, with the superblocks; valid if it is clean
 * @free: first page of the chain that has the numbers of the free pages, 0 if there is none
 * @nr_free: number of free pages
 * @roots: the trees, by their numbers
 * @notes: numbers of the program
 * @rest: 0
 * @crc: CRC32C of the bytes before
 */
struct superblock {
	char magic[8];
	uint32_t version;
	uint32_t page_bytes;
	uint64_t generation;
	uint32_t clean;
	uint32_t nr;
	uint32_t free;
	uint32_t nr_free;
	struct store_root roots[STORE_ROOTS];
	uint64_t notes[STORE_NOTES];
	unsigned char rest[PAGE_BYTES - 44 - STORE_ROOTS * sizeof(struct store_root) -
			   STORE_NOTES * sizeof(uint64_t)];
	uint32_t crc;
};

_Static_assert(sizeof(struct superblock) == PAGE_BYTES, "a superblock is a page");

/**
 * struct store_config - how a file is opened
 * @path: the file; unused with IO_none
 * @io: how it is read and written
 * @create: make it, which must not exist; otherwise it must
 * @read_only: it is not written, and locked for readers alone
 * @max: number of pages that it may have, 0 for STORE_MAX
 */
struct store_config {
	const char *path;
	enum io_mode io;
	bool create;
	bool read_only;
	uint32_t max;
};

/* Default of @max: 1 TiB. */
#define STORE_MAX (1u << 26)

/**
 * struct store - an open file
 * @fd: the file, or -1
 * @config: how it was opened
 * @super: the newer superblock, with the trees and the notes as they are now
 * @written: that superblock as it is in the file
 * @nr: number of pages
 * @backed: number of pages for which the file has space
 * @free: numbers of the free pages, a stack
 * @nr_free: their number
 * @error: -errno of the first write that failed, after which nothing is written; else 0
 *
 * One thread at a time calls any function but store_read(), store_write(), store_clean() and
 * store_error().
 */
struct store {
	int fd;
	struct store_config config;
	struct superblock *super;
	struct superblock *written;
	uint32_t nr;
	uint32_t backed;
	struct area free;
	uint32_t nr_free;
	int error;
};

int store_open(struct store *s, const struct store_config *config, char *why, size_t len);
void store_close(struct store *s);
int store_allocate(struct store *s, uint32_t *id);
void store_free(struct store *s, uint32_t id);
int store_read(const struct store *s, uint32_t id, struct page_node *page);
int store_write(struct store *s, struct page_node *pages, unsigned int nr);
int store_begin(struct store *s);
int store_checkpoint(struct store *s);

/** store_clean() - true if no page was written after the newer superblock */
static inline bool store_clean(const struct store *s)
{
	return __atomic_load_n(&s->super->clean, __ATOMIC_ACQUIRE);
}

/** store_error() - -errno of the write that failed, -EROFS if the file is read-only, else 0 */
static inline int store_error(const struct store *s)
{
	int err = __atomic_load_n(&s->error, __ATOMIC_RELAXED);

	return err ? err : s->config.read_only ? -EROFS : 0;
}

/**
 * struct store_report - what store_check() found
 * @pages: pages of the file
 * @nodes: pages that are reachable from a root
 * @free: pages that are free
 * @torn: pages whose checksum is wrong or that cannot be read, superblocks too
 * @misplaced: pages that have the number of another page, or are of another tree or level, or are
 *	       newer than the superblock
 * @damaged: nodes whose content contradicts itself or their parent
 * @unreachable: pages that are neither free nor reachable from a root
 * @clean: the newer superblock is clean
 */
struct store_report {
	uint64_t pages;
	uint64_t nodes;
	uint64_t free;
	uint64_t torn;
	uint64_t misplaced;
	uint64_t damaged;
	uint64_t unreachable;
	bool clean;
};

/** store_strerror() - what to say of an error of the file; @err: -errno */
static inline const char *store_strerror(int err)
{
	return err == -EBADMSG ? "has a damaged page, which --check names" : strerror(-err);
}

/** store_sound() - true if the checker found a file clean and nothing wrong with it */
static inline bool store_sound(const struct store_report *r)
{
	return r->clean && !r->torn && !r->misplaced && !r->damaged && !r->unreachable;
}

int store_check(const char *path, FILE *out, struct store_report *report, char *why, size_t len);

#endif
