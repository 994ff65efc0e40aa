// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * log-store.c - the log in memory or in a file.
 *
 * A file begins with a header and two marks of checkpoints, which are written in turn, so
 * that one of them is whole at any time.
 */
#include "log.h"

#include "io.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define LOG_MAGIC "tatplog\n"
#define LOG_VERSION 1u

/* Bytes that memory keeps; a checkpoint lets it forget the older ones. */
#define MEMORY_BYTES (64u << 20)

/* Places of the two marks: a sector each. */
#define MARK_AT(serial) (1024 + 512 * (off_t)((serial) % 2))

struct log_header {
	char magic[8];
	uint32_t version;
	uint32_t crc;
	struct identity identity;
};

struct log_mark {
	uint64_t serial;
	uint64_t checkpoint;
	uint64_t crc;
};

/**
 * store_create() - make an empty store
 * @s: the store
 * @path: its file, which must not exist, or NULL for memory
 * @id: database of the log
 *
 * Return: 0 or -errno.
 */
int store_create(struct log_store *s, const char *path, const struct identity *id)
{
	struct log_header header = { .version = LOG_VERSION, .crc = io_crc(id, sizeof(*id)),
				     .identity = *id };
	int err;

	*s = (struct log_store){ .fd = -1, .end = UINT64_MAX, .forgotten = LOG_BEGIN };
	s->size = MEMORY_BYTES;
	if (!path)
		return area_init(&s->memory, 1, s->size);
	s->fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
	if (s->fd < 0)
		return -errno;
	memcpy(header.magic, LOG_MAGIC, sizeof(header.magic));
	err = io_write(s->fd, &header, sizeof(header), 0);
	if (!err && ftruncate(s->fd, LOG_BEGIN))
		err = -errno;
	return err ? err : store_sync(s);
}

static int complain(char *why, size_t len, const char *text)
{
	snprintf(why, len, "%s", text);
	return -EINVAL;
}

/* The newer of the marks that are whole. */
static int read_marks(const struct log_store *s, struct log_position *last, char *why,
		      size_t len)
{

	*last = (struct log_position){ 0 };
	for (unsigned int i = 0; i < 2; i++) {
		struct log_mark mark;

		if (pread(s->fd, &mark, sizeof(mark), MARK_AT(i)) != sizeof(mark))
			return complain(why, len, "is truncated in its header");
		if (mark.serial <= last->serial ||
		    mark.crc != io_crc(&mark, offsetof(struct log_mark, crc)))
			continue;
		last->serial = mark.serial;
		last->checkpoint = mark.checkpoint;
	}
	if (!last->serial)
		return complain(why, len, "has no checkpoint: its population was not finished");
	if (last->checkpoint >= s->end)
		return complain(why, len, "is truncated before its last checkpoint");
	return 0;
}

/**
 * store_open() - open the file of a log
 * @s: the store
 * @path: the file
 * @id: receives the database of the log
 * @last: receives the last checkpoint
 * @why: receives the reason of an error, to follow the name of the file
 * @len: size of @why in bytes
 *
 * Return: 0 or -errno.
 */
int store_open(struct log_store *s, const char *path, struct identity *id,
	       struct log_position *last, char *why, size_t len)
{
	struct log_header header;
	struct stat st;

	*s = (struct log_store){ .fd = open(path, O_RDWR | O_CLOEXEC), .forgotten = LOG_BEGIN };
	if (s->fd < 0 || fstat(s->fd, &st)) {
		int err = -errno;

		snprintf(why, len, "%s", strerror(-err));
		return err;
	}
	s->end = (uint64_t)st.st_size;
	if (pread(s->fd, &header, sizeof(header), 0) != sizeof(header))
		return complain(why, len, "is truncated in its header");
	if (memcmp(header.magic, LOG_MAGIC, sizeof(header.magic)))
		return complain(why, len, "is not a log of tatp_bench");
	if (header.version != LOG_VERSION)
		return complain(why, len, "is a log of another version");
	if (header.crc != io_crc(&header.identity, sizeof(header.identity)))
		return complain(why, len, "has a damaged header");
	*id = header.identity;
	return read_marks(s, last, why, len);
}

/** store_close() - close a store, also one that could not be made */
void store_close(struct log_store *s)
{
	if (s->fd >= 0)
		close(s->fd);
	area_destroy(&s->memory);
	s->fd = -1;
}

/**
 * store_write() - write a part of the log
 * @s: the store
 * @at: its position
 * @buf: the bytes
 * @len: number of bytes
 *
 * Return: 0, -ENOSPC if the disk or the memory is full, or -errno.
 */
int store_write(struct log_store *s, uint64_t at, const void *buf, size_t len)
{
	uint64_t in, first;

	if (s->fd >= 0)
		return io_write(s->fd, buf, len, (off_t)at);
	if (at + len - __atomic_load_n(&s->forgotten, __ATOMIC_RELAXED) > s->size)
		return -ENOSPC;
	in = at % s->size;
	first = len < s->size - in ? len : s->size - in;
	memcpy(s->memory.base + in, buf, first);
	memcpy(s->memory.base, (const char *)buf + first, len - first);
	return 0;
}

/**
 * store_read() - read a part of the log
 * @s: the store
 * @at: its position
 * @buf: receives the bytes
 * @len: number of bytes
 *
 * Return: 0, -EBADMSG if the part is beyond the end, or -errno.
 */
int store_read(const struct log_store *s, uint64_t at, void *buf, size_t len)
{
	uint64_t in, first;

	if (at + len > s->end)
		return -EBADMSG;
	if (s->fd >= 0) {
		ssize_t n = pread(s->fd, buf, len, (off_t)at);

		if (n < 0)
			return -errno;
		return (size_t)n == len ? 0 : -EBADMSG;
	}
	in = at % s->size;
	first = len < s->size - in ? len : s->size - in;
	memcpy(buf, s->memory.base + in, first);
	memcpy((char *)buf + first, s->memory.base, len - first);
	return 0;
}

/** store_sync() - make what was written durable. Returns 0 or -errno. */
int store_sync(const struct log_store *s)
{
	return s->fd >= 0 && fdatasync(s->fd) ? -errno : 0;
}

/**
 * store_mark() - note the last checkpoint
 * @s: the store
 * @last: the checkpoint, whose record is durable
 *
 * Return: 0 or -errno.
 */
int store_mark(struct log_store *s, const struct log_position *last)
{
	struct log_mark mark = { .serial = last->serial, .checkpoint = last->checkpoint };
	int err;

	if (s->fd < 0)
		return 0;
	mark.crc = io_crc(&mark, offsetof(struct log_mark, crc));
	err = io_write(s->fd, &mark, sizeof(mark), MARK_AT(last->serial));
	return err ? err : store_sync(s);
}

/**
 * store_cut() - end the log after recovery, so that what follows is written anew
 * @s: the store
 * @end: the position
 *
 * Return: 0 or -errno.
 */
int store_cut(struct log_store *s, uint64_t end)
{
	s->end = UINT64_MAX;
	return s->fd >= 0 && ftruncate(s->fd, (off_t)end) ? -errno : 0;
}
