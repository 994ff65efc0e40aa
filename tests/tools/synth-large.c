// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * synth-large.c - a data file as large as the report must bear, written as it is made.
 *
 * Must never hold the file in memory.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "synth.h"

/* Chunks of one type, written one after another. */
struct stream {
	FILE *file;
	size_t size;
	struct elide_header *header;
	_Alignas(64) char bytes[ELIDE_CHUNK_SIZE];
};

static void flush(struct stream *s)
{
	struct elide_chunk *c = (struct elide_chunk *)s->bytes;

	c->nr = s->header->nr_chunks[c->type];
	s->header->nr_chunks[c->type] += c->nr_records != 0;
	s->header->nr_records[c->type] += c->nr_records;
	if (c->nr_records && fwrite(s->bytes, sizeof(s->bytes), 1, s->file) != 1)
		abort();
	s->size += c->nr_records ? sizeof(s->bytes) : 0;
	memset(s->bytes, 0, sizeof(s->bytes));
}

static void add(struct stream *s, enum elide_chunk_type type, const void *record, size_t size)
{
	struct elide_chunk *c = (struct elide_chunk *)s->bytes;

	if (c->type != type || (c->nr_records + 1) * size > ELIDE_CHUNK_SIZE - sizeof(*c))
		flush(s);
	c->check = elide_record_check(c->nr_records ? c->check : ELIDE_CHECK_START, type, record, size);
	c->magic = ELIDE_CHUNK_MAGIC;
	c->type = type;
	c->record_size = size;
	memcpy(s->bytes + sizeof(*c) + c->nr_records++ * size, record, size);
}

void synth_large(const char *path, uint32_t nr_classes, uint32_t nr_sites)
{
	struct stream s = {.file = fopen(path, "w")};
	struct synth small;

	if (!s.file)
		abort();
	synth_make(&small, SYNTH_IDLE, 0, 4242);
	if (fwrite(small.bytes, small.size, 1, s.file) != 1)
		abort();
	s.size = small.size;
	s.header = synth_header(&small);
	for (uint32_t i = 0; i < nr_classes; i++)
		add(&s, ELIDE_CHUNK_CLASSES,
		    &(struct elide_class){ELIDE_CLASS_INIT, ELIDE_KIND_MUTEX, 0x100000 + 16 * i, 7, 0, 7},
		    sizeof(struct elide_class));
	/* Every fourth site is called by a second thread. */
	for (uint32_t i = 0; i < nr_sites + nr_sites / 4; i++) {
		uint32_t site = i < nr_sites ? i : 4 * (i - nr_sites);
		struct elide_row row = {
			.class_index = site % nr_classes, .kind = ELIDE_KIND_MUTEX,
			.state = ELIDE_STATE_ELIDING, .site = 0x40000000 + 8ull * site,
			.not_attempted = 1 + site % 7, .commits = 1000 + site % 1000,
			.contended = site % 3, .wasted_cycles = site * 2654435761u % 1000003,
			.wait = {site % 3, 100 * (site % 3), 100, 100},
			.hold = SYNTH_HOLD(10, 5000 + site % 100, 400, 600),
		};

		row.causes[ELIDE_CAUSE_conflict] = site % 11;
		row.causes[ELIDE_CAUSE_busy] = site % 5;
		add(&s, ELIDE_CHUNK_ROWS, &row, sizeof(row));
	}
	flush(&s);
	synth_header(&small)->size = s.size;
	if (fseek(s.file, 0, SEEK_SET) || fwrite(small.bytes, ELIDE_HEADER_SIZE, 1, s.file) != 1 ||
	    fclose(s.file))
		abort();
	synth_free(&small);
}
