/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * read.h - the header and the chunks of a data file, checked.
 *
 * Must never trust a number of the file before comparing it with a bound.
 */
#ifndef ELIDE_READ_H
#define ELIDE_READ_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "../../../lib/datafile.h"
#include "../load.h"

/**
 * struct reader - a file that is being read.
 * @fd:    the file
 * @path:  its name, for messages
 * @end:   bytes in the file
 * @error: LOAD_ERROR_MAX bytes for a message: the name and a sentence
 * @fault: after read_fail(), the sentence of the message without the name
 * @promised: bytes that it should have, by its header
 * @merged: elide-merge(1) has written it
 * @live: its process runs, or was killed
 */
struct reader {
	int fd;
	const char *path;
	uint64_t end;
	char *error;
	const char *fault;
	uint64_t promised;
	int merged;
	int live;
};

/* Bytes of a chunk for its records. */
#define READ_ROOM (ELIDE_CHUNK_SIZE - sizeof(struct elide_chunk))

/* A chunk in memory. */
struct chunk {
	_Alignas(64) struct elide_chunk head;
	char records[READ_ROOM];
};

/** read_fail() - set the message. Return: -EBADMSG. */
int read_fail(struct reader *r, const char *format, ...) __attribute__((format(printf, 2, 3)));

/**
 * read_open() - open a regular file.
 * @size: set to its bytes
 *
 * Return: descriptor, or -errno; -EINVAL if it is not a regular file.
 */
int read_open(const char *path, uint64_t *size);

/**
 * read_header() - read and check the header.
 * @h: filled, its strings terminated
 *
 * If the file grows meanwhile, @promised still covers everything that @h counts, and @end covers @promised.
 *
 * Return: 0, or -errno with the message set: -EINVAL if it is not a data file or of another version,
 * -EBADMSG if the header of a data file is damaged or cut.
 */
int read_header(struct reader *r, struct elide_header *h);

/**
 * read_chunk() - read and check a chunk, if its type is known.
 * @at: its offset
 * @size: set to the bytes of a record in @c
 *
 * If head and records are inconsistent, because the process counts meanwhile, it is read again.
 *
 * Return: bytes of its records, 0 if its type is unknown; -EBADMSG with the message set.
 */
ssize_t read_chunk(struct reader *r, struct chunk *c, uint64_t at, size_t *size);

#endif
