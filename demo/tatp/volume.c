// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * volume.c - pages in memory or in a file.
 *
 * A file has a header, an area of VOLUME_BATCH pages and the pages. A batch is written to
 * that area first, and after that is durable to the places of its pages. So a page that was
 * half written when the machine stopped is whole in the area, and volume_mend() copies it
 * (the doublewrite buffer of InnoDB). Each page has a checksum in the file.
 */
#include "volume.h"

#include "io.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define VOLUME_MAGIC "tatpvol\n"
#define VOLUME_VERSION 1u

/* Pages for which the file gets space at a time: 1 MiB. */
#define VOLUME_EXTENT 128

/**
 * struct volume_header - the first bytes of the file
 * @magic: VOLUME_MAGIC
 * @version: VOLUME_VERSION
 * @crc: checksum of @identity
 * @identity: which database it is
 */
struct volume_header {
	char magic[8];
	uint32_t version;
	uint32_t crc;
	struct identity identity;
};

/* Place of a page of the file; @id below 0 is in the area of batches. */
static off_t place(int64_t id)
{
	return (1 + VOLUME_BATCH + id) * PAGE_BYTES;
}

static uint32_t page_crc(const struct page *page)
{
	size_t after = offsetof(struct page, id);
	uint32_t crc = (uint32_t)crc32(0, (const Bytef *)&page->lsn, sizeof(page->lsn));

	return (uint32_t)crc32(crc, (const Bytef *)page + after, (uInt)(PAGE_BYTES - after));
}

/* Read a page of the file, or zeros beyond its end. */
static int read_page(int fd, struct page *page, off_t at)
{
	ssize_t n = io_read(fd, page, PAGE_BYTES, at);

	if (n < 0)
		return (int)n;
	memset((char *)page + n, 0, PAGE_BYTES - (size_t)n);
	return 0;
}

/**
 * volume_create() - make an empty volume
 * @v: the volume
 * @path: its file, which must not exist, or NULL: memory
 * @id: which database it is
 * @max: number of pages that it may have
 *
 * Return: 0 or -errno.
 */
int volume_create(struct volume *v, const char *path, const struct identity *id, uint32_t max)
{
	struct volume_header header = {
		.version = VOLUME_VERSION,
		.crc = io_crc(id, sizeof(*id)),
		.identity = *id,
	};
	int err;

	*v = (struct volume){ .fd = -1, .max = max, .nr = 1, .identity = *id };
	if (!path)
		return area_init(&v->memory, PAGE_BYTES, max);
	v->fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
	if (v->fd < 0)
		return -errno;
	memcpy(header.magic, VOLUME_MAGIC, sizeof(header.magic));
	err = io_write(v->fd, &header, sizeof(header), 0);
	if (err)
		volume_close(v);
	return err;
}

static int complain(char *why, size_t len, const char *text)
{
	snprintf(why, len, "%s", text);
	return -EINVAL;
}

/* Check the header of the file. */
static int check_header(struct volume *v, char *why, size_t len)
{
	struct volume_header header;

	if (pread(v->fd, &header, sizeof(header), 0) != sizeof(header))
		return complain(why, len, "is truncated");
	if (memcmp(header.magic, VOLUME_MAGIC, sizeof(header.magic)))
		return complain(why, len, "is not a file of pages of tatp_bench");
	if (header.version != VOLUME_VERSION)
		return complain(why, len, "has pages of another version");
	if (header.crc != io_crc(&header.identity, sizeof(struct identity)))
		return complain(why, len, "has a damaged header");
	v->identity = header.identity;
	return 0;
}

/**
 * volume_open() - open a file of pages
 * @v: the volume
 * @path: the file
 * @max: number of pages that it may have
 * @why: receives the reason of an error, to follow the name of the file
 * @len: size of @why in bytes
 *
 * Return: 0 or -errno.
 */
int volume_open(struct volume *v, const char *path, uint32_t max, char *why, size_t len)
{
	struct stat st;
	int err;

	*v = (struct volume){ .fd = open(path, O_RDWR | O_CLOEXEC), .max = max };
	if (v->fd < 0) {
		err = -errno;
		snprintf(why, len, "%s", strerror(errno));
		return err;
	}
	err = check_header(v, why, len);
	if (err)
		goto close;
	if (fstat(v->fd, &st)) {
		err = -errno;
		snprintf(why, len, "%s", strerror(-err));
		goto close;
	}
	v->nr = 1;
	if (st.st_size > place(1))
		v->nr = (uint32_t)((st.st_size - place(0)) / PAGE_BYTES);
	v->backed = v->nr;
	if (v->nr <= max)
		return 0;
	err = complain(why, len, "has more pages than memory has room for");
close:
	volume_close(v);
	return err;
}

/* Copy the pages of the last batch whose places have not got them whole. */
static int mend(struct volume *v, struct page *page, struct page *there)
{
	for (int64_t i = -VOLUME_BATCH; i < 0; i++) {
		int err = read_page(v->fd, page, place(i));

		if (err)
			return err;
		if (!page->id || page->id >= v->max || page->crc != page_crc(page))
			continue;
		err = read_page(v->fd, there, place(page->id));
		if (!err && there->crc != page_crc(there))
			err = io_write(v->fd, page, PAGE_BYTES, place(page->id));
		if (err)
			return err;
	}
	return 0;
}

/**
 * volume_mend() - make the pages whole that were being written when the machine stopped
 * @v: a volume that was opened
 *
 * Return: 0 or -errno.
 */
int volume_mend(struct volume *v)
{
	struct page *two;
	int err;

	if (v->fd < 0)
		return 0;
	two = malloc(2 * sizeof(*two));
	if (!two)
		return -ENOMEM;
	err = mend(v, &two[0], &two[1]);
	free(two);
	return err;
}

/** volume_close() - close a volume, also one that could not be made */
void volume_close(struct volume *v)
{
	if (v->fd >= 0)
		close(v->fd);
	area_destroy(&v->memory);
	v->fd = -1;
}

/**
 * volume_allocate() - get a page that no page has been
 * @v: the volume
 * @id: receives its number
 *
 * Return: 0, -ENOSPC if the volume or the disk is full, or -errno.
 */
int volume_allocate(struct volume *v, uint32_t *id)
{
	uint32_t backed = __atomic_load_n(&v->backed, __ATOMIC_RELAXED);
	int err;

	*id = __atomic_fetch_add(&v->nr, 1, __ATOMIC_RELAXED);
	if (*id >= v->max) {
		__atomic_fetch_sub(&v->nr, 1, __ATOMIC_RELAXED);
		return -ENOSPC;
	}
	if (v->fd < 0 || *id < backed)
		return 0;
	/* Threads that come here together get the same space, which does no harm. */
	err = posix_fallocate(v->fd, place(backed),
			      (off_t)(*id + VOLUME_EXTENT - backed) * PAGE_BYTES);
	if (!err)
		__atomic_store_n(&v->backed, *id + VOLUME_EXTENT, __ATOMIC_RELAXED);
	return -err;
}

/**
 * volume_read() - read a page
 * @v: the volume
 * @id: its number
 * @page: receives it; all 0 if it was never written
 *
 * Return: 0, -EBADMSG if the page is damaged, or -errno.
 */
int volume_read(const struct volume *v, uint32_t id, struct page *page)
{
	static const uint64_t zero[4];
	int err;

	if (v->fd < 0) {
		memcpy(page, area_at(&v->memory, id), PAGE_BYTES);
		return 0;
	}
	err = read_page(v->fd, page, place(id));
	if (err || !memcmp(page, zero, sizeof(zero)))
		return err;
	return page->id == id && page->crc == page_crc(page) ? 0 : -EBADMSG;
}

/**
 * volume_write() - write pages
 * @v: the volume
 * @pages: the pages; their checksums change
 * @nr: number of pages, at most VOLUME_BATCH
 *
 * The pages are durable after volume_sync(). One caller at a time.
 *
 * Return: 0 or -errno.
 */
int volume_write(struct volume *v, struct page *const *pages, unsigned int nr)
{
	int err = 0;

	for (unsigned int i = 0; i < nr && v->fd < 0; i++)
		memcpy(area_at(&v->memory, pages[i]->id), pages[i], PAGE_BYTES);
	if (v->fd < 0)
		return 0;
	/* The area has the last batch until the places of its pages have it durably. */
	err = volume_sync(v);
	for (unsigned int i = 0; i < nr && !err; i++) {
		pages[i]->crc = page_crc(pages[i]);
		err = io_write(v->fd, pages[i], PAGE_BYTES, place((int64_t)i - VOLUME_BATCH));
	}
	if (!err)
		err = volume_sync(v);
	for (unsigned int i = 0; i < nr && !err; i++)
		err = io_write(v->fd, pages[i], PAGE_BYTES, place(pages[i]->id));
	return err;
}

/** volume_sync() - make the pages that were written durable. Returns 0 or -errno. */
int volume_sync(const struct volume *v)
{
	return v->fd >= 0 && fdatasync(v->fd) ? -errno : 0;
}
