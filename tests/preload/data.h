/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * data.h - the sums of a data file, and whether its rows add up. Reads files
 * that our own library is writing or has written: not for hostile ones.
 */
#ifndef TESTS_PRELOAD_DATA_H
#define TESTS_PRELOAD_DATA_H

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../lib/datafile.h"
#include "../../lib/live-name.h"
#include "../../lib/row-sums.h"

/**
 * struct sums - totals over all rows of a file.
 * @all: rows of locks; @waits: those of the other kinds, by kind
 * @bad: rows whose counters contradict each other
 * @nr_locks: locks registered, over all classes; not condition variables, semaphores and barriers
 * @nr_objects: those
 * @nr_woken: sampled waits for those of which it is known which call ended them
 * @misuse: by enum elide_misuse_type
 * @orders: cycles of locks
 * @damaged: chunks with another checksum than that of their records, and types of chunks of which the
 *           header counts more than there are; of a file that got no room for more these are missing
 */
struct sums {
	struct elide_header header;
	struct elide_row all;
	struct elide_row waits[ELIDE_NR_KINDS];
	unsigned long bad;
	unsigned long nr_rows;
	unsigned long nr_locks;
	unsigned long nr_objects;
	unsigned long nr_woken;
	unsigned long misuse[8];
	unsigned long orders;
	unsigned long damaged;
	unsigned long size;
};

static inline void sum_row(struct sums *s, const struct elide_row *row)
{
	uint64_t waits = 0, holds = 0;
	struct elide_row *to = elide_kind_is_lock(row->kind) ? &s->all : &s->waits[row->kind];

	for (int i = 0; i < ELIDE_NR_CAUSES; i++)
		to->causes[i] += row->causes[i];
	s->bad += row->contended > row->fallback + row->not_attempted ||
		  row->wait.count != row->contended ||
		  (row->fallback && !elide_row_aborts(row)) ||
		  (row->wait.count && row->wait.min > row->wait.max);
	to->not_attempted += row->not_attempted;
	to->fallback += row->fallback;
	to->commits += row->commits;
	to->nested += row->nested;
	to->contended += row->contended;
	to->wait.total += row->wait.total;
	to->hold.count += row->hold.count;
	to->failed += row->failed;
	to->parked += row->parked;
	s->bad += row->unparked > row->parked;
	for (int i = 0; i < ELIDE_NR_BINS; i++) {
		waits += row->wait_bins[i];
		holds += row->hold_bins[i];
	}
	s->bad += waits != row->wait.count || holds != row->hold.weight + row->hold.exact;
	s->nr_rows += elide_kind_is_lock(row->kind);
}

/* Is the checksum that of the records, or of these and one more? As elide report has it. */
static inline bool has_check(const struct elide_chunk *chunk)
{
	const char *record = (const char *)(chunk + 1), *end = (const char *)chunk + ELIDE_CHUNK_SIZE;
	uint32_t check = ELIDE_CHECK_START, size = chunk->record_size;

	if (!elide_record_fixed(chunk->type, size))
		return true;
	for (uint32_t i = 0; i < chunk->nr_records; i++, record += size)
		check = elide_record_check(check, chunk->type, record, size);
	return check == chunk->check ||
	       (record + size <= end &&
		elide_record_check(check, chunk->type, record, size) == chunk->check);
}

/* Opens the file that is to be @path, or is it by now. */
static inline int data_file_open(const char *path)
{
	char live[4096];
	int fd = elide_live_name(live, sizeof(live), path) ? open(live, O_RDONLY | O_CLOEXEC) : -1;

	return fd >= 0 ? fd : open(path, O_RDONLY | O_CLOEXEC);
}

/* False if there is no such file or it is none of ours. */
static inline bool sum_file(const char *path, struct sums *s)
{
	uint32_t chunks[ELIDE_MAX_CHUNK_TYPES] = {0}, records[ELIDE_MAX_CHUNK_TYPES] = {0};
	int fd = data_file_open(path);
	const char *map;
	struct stat st;

	memset(s, 0, sizeof(*s));
	if (fd < 0)
		return false;
	if (fstat(fd, &st) || (size_t)st.st_size < sizeof(s->header)) {
		close(fd);
		return false;
	}
	map = mmap(NULL, st.st_size, PROT_READ, MAP_SHARED, fd, 0);
	close(fd);
	if (map == MAP_FAILED)
		return false;
	memcpy(&s->header, map, sizeof(s->header));
	s->size = st.st_size;
	/* The header may speak of more than the file got room for. */
	for (uint64_t at = ELIDE_HEADER_SIZE; at < s->header.size && at + ELIDE_CHUNK_SIZE <= s->size;
	     at += ELIDE_CHUNK_SIZE) {
		const struct elide_chunk *chunk = (const void *)(map + at);
		const char *record = (const char *)(chunk + 1);

		s->damaged += !has_check(chunk);
		if (chunk->type < ELIDE_MAX_CHUNK_TYPES) {
			chunks[chunk->type]++;
			records[chunk->type] += chunk->nr_records;
		}
		for (uint32_t i = 0; i < chunk->nr_records; i++, record += chunk->record_size) {
			const struct elide_class *class = (const void *)record;
			const struct elide_misuse *misuse = (const void *)record;
			const struct elide_blame *blame = (const void *)record;

			if (chunk->type == ELIDE_CHUNK_ROWS)
				sum_row(s, (const void *)record);
			else if (chunk->type == ELIDE_CHUNK_CLASSES)
				*(elide_kind_is_lock(class->kind) ? &s->nr_locks : &s->nr_objects) +=
					class->nr_locks;
			else if (chunk->type == ELIDE_CHUNK_BLAME)
				s->nr_woken += elide_kind_is_lock(blame->held_kind) ? 0 : blame->samples;
			else if (chunk->type == ELIDE_CHUNK_MISUSE && misuse->type < 8)
				s->misuse[misuse->type] += misuse->count;
			else if (chunk->type == ELIDE_CHUNK_ORDER)
				s->orders++;
		}
	}
	munmap((void *)map, st.st_size);
	for (int type = 0; s->header.size <= s->size && type < ELIDE_MAX_CHUNK_TYPES; type++)
		s->damaged += s->header.nr_chunks[type] > chunks[type] ||
			      s->header.nr_records[type] > records[type];
	return s->header.magic == ELIDE_DATA_MAGIC;
}

#endif
