// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * store.c - superblocks, checksums, and the growth of the file of pages (see store.h).
 */
#include "store.h"

#include "crc.h"
#include "parts.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Pages for which the file gets space at a time: 1 MiB, and a 16th of the file if that is more. */
#define EXTENT 64

/* Most of it: 64 MiB. */
#define EXTENT_MAX 4096

static off_t place(uint32_t id)
{
	return (off_t)id * PAGE_BYTES;
}

static uint32_t page_crc(const struct page_node *page)
{
	size_t at = offsetof(struct page_node, tag.crc), after = at + sizeof(page->tag.crc);

	return crc32c(crc32c(0, page, at), (const char *)page + after, PAGE_BYTES - after);
}

static uint32_t super_crc(const struct superblock *super)
{
	return crc32c(0, super, offsetof(struct superblock, crc));
}

static int refuse(char *why, size_t len, const char *text)
{
	snprintf(why, len, "%s", text);
	return -EINVAL;
}

static int failed(char *why, size_t len, int err)
{
	snprintf(why, len, "%s", strerror(-err));
	return err;
}

/* The first write that failed ends all writing. */
static int write_failed(struct store *s, int err)
{
	int none = 0;

	__atomic_compare_exchange_n(&s->error, &none, err, false, __ATOMIC_RELAXED,
				    __ATOMIC_RELAXED);
	return err;
}

static int sync_file(struct store *s)
{
	return fdatasync(s->fd) ? write_failed(s, -errno) : 0;
}

/*
 * Write the next superblock durably; all that it counts on is durable. One that is not clean
 * keeps the trees and notes of the last clean one, as other threads may be changing them.
 */
static int write_super(struct store *s, bool clean)
{
	struct superblock *next = s->written;
	int err;

	if (clean)
		*next = *s->super;
	next->generation = s->super->generation + 1;
	next->clean = clean;
	next->crc = super_crc(next);
	err = io_write(s->fd, next, sizeof(*next), place(next->generation % 2));
	if (err)
		return write_failed(s, err);
	err = sync_file(s);
	if (err)
		return err;
	__atomic_store_n(&s->super->generation, next->generation, __ATOMIC_RELAXED);
	/* Release: pairs with store_clean(). */
	__atomic_store_n(&s->super->clean, clean, __ATOMIC_RELEASE);
	return 0;
}

/* A new file: first a superblock that is not clean, so that one left in between is refused. */
static int create(struct store *s)
{
	struct superblock *super = s->super;
	int err;

	memcpy(super->magic, STORE_MAGIC, sizeof(super->magic));
	super->version = STORE_VERSION;
	super->page_bytes = PAGE_BYTES;
	super->nr = s->nr = s->backed = STORE_FIRST;
	*s->written = *super;
	if (s->fd < 0)
		return 0;
	err = io_grow(s->fd, 0, place(STORE_FIRST));
	if (!err)
		err = write_super(s, false);
	return err ? err : write_super(s, true);
}

/**
 * super_whole() - whether a superblock is as it was written
 * @super: the superblock
 * @slot: 0 or 1, the page that it was read from
 */
bool super_whole(const struct superblock *super, unsigned int slot)
{
	return !memcmp(super->magic, STORE_MAGIC, sizeof(super->magic)) &&
	       super->version == STORE_VERSION && super->page_bytes == PAGE_BYTES &&
	       super->generation % 2 == slot && super->crc == super_crc(super);
}

/* Why neither superblock can be used. */
static int refuse_super(const struct superblock *super, char *why, size_t len)
{
	if (memcmp(super->magic, STORE_MAGIC, sizeof(super->magic)))
		return refuse(why, len, "is not a file of page_bench");
	if (super->version != STORE_VERSION)
		snprintf(why, len, "has version %u, and this program has version %u",
			 super->version, STORE_VERSION);
	else if (super->page_bytes != PAGE_BYTES)
		snprintf(why, len, "has pages of %u bytes, and this program of %u",
			 super->page_bytes, PAGE_BYTES);
	else
		return refuse(why, len, "has no whole superblock");
	return -EINVAL;
}

/**
 * super_read() - read the superblocks of a file
 * @fd: the file
 * @two: receives both
 * @why: receives the reason of an error, to follow the name of the file
 * @len: size of @why in bytes
 *
 * Return: number of the newer one of those that are whole, or -errno if none is.
 */
int super_read(int fd, struct superblock *two, char *why, size_t len)
{
	ssize_t n = io_read(fd, two, 2 * sizeof(*two), 0);
	bool whole[2];

	if (n < 0)
		return failed(why, len, (int)n);
	memset((char *)two + n, 0, 2 * sizeof(*two) - (size_t)n);
	whole[0] = super_whole(&two[0], 0);
	whole[1] = super_whole(&two[1], 1);
	if (!whole[0] && !whole[1])
		return refuse_super(&two[0], why, len);
	return !whole[0] || (whole[1] && two[1].generation > two[0].generation);
}

/* What store_check() finds in a file that is open and refused. */
static int refuse_unclean(struct store *s, const char *text, char *why, size_t len)
{
	struct store_report r;
	int err = check_file(s->fd, NULL, &r, why, len);

	if (err)
		return err;
	snprintf(why, len,
		 "%s: of %llu pages %llu are torn, %llu misplaced, %llu damaged, %llu unreachable",
		 text, (unsigned long long)r.pages, (unsigned long long)r.torn,
		 (unsigned long long)r.misplaced, (unsigned long long)r.damaged,
		 (unsigned long long)r.unreachable);
	return -EINVAL;
}

static int check_super(const struct superblock *super, uint32_t max, char *why, size_t len)
{
	if (super->nr < STORE_FIRST || super->nr_free > super->nr - STORE_FIRST ||
	    super->free >= super->nr)
		return refuse(why, len, "has a superblock that contradicts itself");
	for (unsigned int i = 0; i < STORE_ROOTS; i++)
		if (super->roots[i].page >= super->nr || super->roots[i].name[STORE_NAME - 1])
			return refuse(why, len, "has a superblock that contradicts itself");
	if (super->nr <= max)
		return 0;
	snprintf(why, len, "has %u pages, and %u are the most", super->nr, max);
	return -EINVAL;
}

static int open_super(struct store *s, char *why, size_t len)
{
	/* Two superblocks follow each other in memory. */
	struct superblock *two = s->super;
	int newer = super_read(s->fd, two, why, len);
	struct stat st;

	if (newer < 0)
		return newer;
	if (!super_whole(&two[!newer], !newer))
		return refuse_unclean(s, newer ? "superblock 0 is torn" : "superblock 1 is torn",
				      why, len);
	if (!two[newer].clean || two[!newer].generation + 1 != two[newer].generation)
		return refuse_unclean(s, "was not closed", why, len);
	two[!newer] = two[newer];
	s->nr = two->nr;
	if (fstat(s->fd, &st))
		return failed(why, len, -errno);
	s->backed = (uint32_t)(st.st_size / PAGE_BYTES);
	if (st.st_size / PAGE_BYTES < s->nr) {
		snprintf(why, len, "is truncated: it has %lld of %u pages",
			 (long long)(st.st_size / PAGE_BYTES), s->nr);
		return -EINVAL;
	}
	return check_super(two, s->config.max, why, len);
}

/* The memory of a store. */
static int allocate(struct store *s)
{
	int err;

	s->super = aligned_alloc(PAGE_BYTES, 2 * sizeof(*s->super));
	if (!s->super)
		return -ENOMEM;
	memset(s->super, 0, 2 * sizeof(*s->super));
	s->written = s->super + 1;
	err = area_init(&s->free, sizeof(uint32_t), s->config.max);
	if (!err)
		area_small_pages(&s->free);
	return err;
}

/**
 * store_open() - open or make a file
 * @s: the store
 * @config: how
 * @why: receives the reason of an error, to follow the name of the file
 * @len: size of @why in bytes
 *
 * A file that is not clean is refused after it was read through. A file that was made and cannot be
 * used is removed.
 *
 * Return: 0, or -errno with nothing open.
 */
int store_open(struct store *s, const struct store_config *config, char *why, size_t len)
{
	bool fresh = config->create || config->io == IO_none;
	int err;

	*s = (struct store){ .fd = -1, .config = *config };
	if (!s->config.max)
		s->config.max = STORE_MAX;
	err = allocate(s);
	if (err) {
		failed(why, len, err);
		goto close;
	}
	if (config->io != IO_none) {
		err = io_open(config->path, config->io, config->create, config->read_only, why,
			      len);
		if (err < 0)
			goto close;
		s->fd = err;
	}
	if (fresh) {
		err = create(s);
		if (err)
			failed(why, len, err);
		if (err && s->fd >= 0)
			unlink(config->path);
	} else {
		err = open_super(s, why, len);
		if (!err)
			err = free_pages_open(s, why, len);
	}
	if (!err)
		return 0;
close:
	store_close(s);
	return err;
}

/** store_close() - close a file as it is; what store_checkpoint() did not write is lost */
void store_close(struct store *s)
{
	if (s->fd >= 0)
		close(s->fd);
	area_destroy(&s->free);
	free(s->super);
	*s = (struct store){ .fd = -1 };
}

/* Get space for page s->nr: for an extent, or for as little as there is room for. */
static int grow(struct store *s)
{
	uint32_t extent = s->nr / 16 < EXTENT ? EXTENT : s->nr / 16;
	int err = -ENOSPC;

	if (extent > EXTENT_MAX)
		extent = EXTENT_MAX;
	for (; extent && err; extent = extent == 1 ? 0 : extent > EXTENT ? EXTENT : 1) {
		err = io_grow(s->fd, place(s->backed), place(s->backed + extent));
		if (!err)
			s->backed += extent;
		else if (err != -ENOSPC && err != -EFBIG && err != -EDQUOT)
			break;
	}
	return err;
}

/**
 * store_allocate() - get a page
 * @s: the store
 * @id: receives its number
 *
 * Return: 0, -ENOSPC if the disk is full or the file has as many pages as it may have, or -errno.
 */
int store_allocate(struct store *s, uint32_t *id)
{
	int err = store_error(s);

	if (err)
		return err;
	if (s->nr_free) {
		const uint32_t *free = area_at(&s->free, s->nr_free - 1);

		*id = *free;
		__atomic_store_n(&s->nr_free, s->nr_free - 1, __ATOMIC_RELAXED);
		return 0;
	}
	if (s->nr >= s->config.max)
		return -ENOSPC;
	if (s->fd >= 0 && s->nr >= s->backed)
		err = grow(s);
	if (err)
		return err;
	*id = s->nr;
	__atomic_store_n(&s->nr, s->nr + 1, __ATOMIC_RELAXED);
	return 0;
}

/**
 * store_free() - give a page back
 * @s: the store
 * @id: its number; it is not being written
 */
void store_free(struct store *s, uint32_t id)
{
	uint32_t *free = area_at(&s->free, s->nr_free);

	*free = id;
	__atomic_store_n(&s->nr_free, s->nr_free + 1, __ATOMIC_RELAXED);
}

/**
 * page_whole() - whether a page is as it was written
 * @page: the page
 */
bool page_whole(const struct page_node *page)
{
	return page->tag.crc == page_crc(page);
}

/**
 * store_read_kind() - read a page of a kind
 * @s: the store
 * @id: its number
 * @page: receives it
 * @kind: PAGE_NODE or PAGE_FREE
 *
 * Return: as of store_read().
 */
int store_read_kind(const struct store *s, uint32_t id, struct page_node *page,
		    enum page_kind kind)
{
	int err;

	if (s->fd < 0 || id < STORE_FIRST || id >= __atomic_load_n(&s->nr, __ATOMIC_RELAXED))
		return -EBADMSG;
	err = io_read_all(s->fd, page, PAGE_BYTES, place(id));
	if (err)
		return err;
	if (!page_whole(page) || page->tag.id != id || page->tag.kind != kind ||
	    page->tag.generation > __atomic_load_n(&s->super->generation, __ATOMIC_RELAXED))
		return -EBADMSG;
	return 0;
}

/**
 * store_read() - read a node
 * @s: the store
 * @id: its number
 * @page: receives it
 *
 * Safe for any thread.
 *
 * Return: 0, -EBADMSG if it is not there, torn, misplaced or newer than the superblock, or -errno.
 */
int store_read(const struct store *s, uint32_t id, struct page_node *page)
{
	return store_read_kind(s, id, page, PAGE_NODE);
}

/**
 * store_write() - write pages that follow each other
 * @s: the store, after store_begin()
 * @pages: the pages, whose tags have their numbers, trees and kinds; the rest of the tags is set.
 *	   Each has the number of the one before and 1
 * @nr: their number, at least 1
 *
 * They are durable after store_checkpoint(). Safe for any thread.
 *
 * Return: 0, or -errno, after which nothing is written any more.
 */
int store_write(struct store *s, struct page_node *pages, unsigned int nr)
{
	int err = store_error(s);

	if (err)
		return err;
	for (unsigned int i = 0; i < nr; i++) {
		pages[i].tag.generation = __atomic_load_n(&s->super->generation, __ATOMIC_RELAXED);
		pages[i].tag.crc = page_crc(&pages[i]);
	}
	err = io_write(s->fd, pages, nr * (size_t)PAGE_BYTES, place(pages->tag.id));
	return err ? write_failed(s, err) : 0;
}

/**
 * store_begin() - note in the file that it is not clean, before the first page is written
 * @s: the store
 *
 * Return: 0 or -errno.
 */
int store_begin(struct store *s)
{
	int err = store_error(s);

	return err || !store_clean(s) ? err : write_super(s, false);
}

/* Whether trees or notes were changed after the newer superblock. */
static bool super_changed(const struct store *s)
{
	return memcmp(s->super->roots, s->written->roots, sizeof(s->super->roots)) ||
	       memcmp(s->super->notes, s->written->notes, sizeof(s->super->notes)) ||
	       s->super->nr != s->nr || s->super->nr_free != s->nr_free;
}

/**
 * store_checkpoint() - make the file clean
 * @s: the store; store_write() has written all pages that were changed
 *
 * Nothing is written if nothing was changed.
 *
 * Return: 0 or -errno; the file stays what it was then, and is refused.
 */
int store_checkpoint(struct store *s)
{
	int err = store_error(s);

	if (err == -EROFS || s->fd < 0 || (!err && store_clean(s) && !super_changed(s)))
		return 0;
	if (!err)
		err = store_begin(s);
	if (!err)
		err = free_pages_write(s);
	if (!err)
		err = sync_file(s);
	s->super->nr = s->nr;
	/* What was allocated in advance. A file that keeps it is correct as well. */
	if (!err && s->backed > s->nr && !ftruncate(s->fd, place(s->nr)))
		s->backed = s->nr;
	return err ? err : write_super(s, true);
}
