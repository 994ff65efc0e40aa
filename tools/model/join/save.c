// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * save.c - writes a data file from memory.
 *
 * Must never write what load() would refuse.
 */
#include "save.h"

#include <errno.h>
#include <string.h>

#include "../../../lib/compiler.h"
#include "../../base/settings.h"
#include "../records.h"
#include "table.h"

#define ROOM (ELIDE_CHUNK_SIZE - sizeof(struct elide_chunk))

/* Counts the records of a type, and the chunks that they fill, in the header. */
static void count(struct elide_header *h, int type, size_t nr)
{
	size_t each = ROOM / record_size(type);

	h->nr_chunks[type] = (nr + each - 1) / each;
	h->nr_records[type] = nr;
}

/* The chunk that is being filled, and how many chunks were filled before it. */
struct writer {
	FILE *out;
	uint32_t nr_chunks[ELIDE_MAX_CHUNK_TYPES];
	_Alignas(64) char bytes[ELIDE_CHUNK_SIZE];
};

static void flush(struct writer *w)
{
	struct elide_chunk *head = (struct elide_chunk *)w->bytes;

	if (head->nr_records) {
		head->nr = w->nr_chunks[head->type]++;
		fwrite(w->bytes, 1, sizeof(w->bytes), w->out);
	}
	memset(w->bytes, 0, sizeof(w->bytes));
}

static void put(struct writer *w, int type, const void *record)
{
	struct elide_chunk *head = (struct elide_chunk *)w->bytes;
	size_t size = record_size(type);

	if (head->type != type || (head->nr_records + 1) * size > ROOM)
		flush(w);
	if (!head->nr_records)
		head->check = ELIDE_CHECK_START;
	head->check = elide_record_check(head->check, type, record, size);
	head->magic = ELIDE_CHUNK_MAGIC;
	head->type = type;
	head->record_size = size;
	memcpy(w->bytes + sizeof(*head) + head->nr_records++ * size, record, size);
}

/* All records but rows: TYPE, array and its length. */
#define ARRAYS(act)                                                                                \
	act(ELIDE_CHUNK_MODULES, modules, nr_modules);                                              \
	act(ELIDE_CHUNK_CLASSES, classes, nr_classes);                                              \
	act(ELIDE_CHUNK_MISUSE, misuse, nr_misuse);                                                 \
	act(ELIDE_CHUNK_ORDER, orders, nr_orders);                                                  \
	act(ELIDE_CHUNK_STACKS, stacks, nr_stacks);                                                 \
	act(ELIDE_CHUNK_SAMPLES, samples, nr_samples);                                              \
	act(ELIDE_CHUNK_DETAILS, details, nr_details);                                              \
	act(ELIDE_CHUNK_BLAME, blames, nr_blames);                                                  \
	act(ELIDE_CHUNK_TIMELINE, events, nr_events);                                               \
	act(ELIDE_CHUNK_COUNTERS, counters, nr_counters);                                           \
	act(ELIDE_CHUNK_THREADS, threads, nr_threads);                                              \
	act(ELIDE_CHUNK_SPANS, spans, nr_spans);                                              \
	act(ELIDE_CHUNK_ABORTS, aborts, nr_aborts);                                                \
	act(ELIDE_CHUNK_SOURCES, sources, nr_sources)

int save(struct data_file *f, FILE *out)
{
	struct elide_header *h = &f->header;
	uint64_t chunks = 0;
	char page[ELIDE_HEADER_SIZE] = "";
	struct writer w = {.out = out};

#define COUNT(type, array, nr) count(h, type, f->nr)
	memset(h->nr_chunks, 0, sizeof(h->nr_chunks));
	memset(h->nr_records, 0, sizeof(h->nr_records));
	ARRAYS(COUNT);
#undef COUNT
	count(h, ELIDE_CHUNK_ROWS, table_nr(f->table));
	for (int type = 0; type < ELIDE_MAX_CHUNK_TYPES; type++)
		chunks += h->nr_chunks[type];
	h->size = ELIDE_HEADER_SIZE + chunks * ELIDE_CHUNK_SIZE;
	if (h->size > settings_file_max << 20)
		return -EFBIG;
	/* Keeps the number of missing records, so that each reader reports them. */
	for (int type = 0; type < ELIDE_MAX_CHUNK_TYPES; type++)
		h->nr_records[type] += f->notes.records[type];
	memcpy(page, h, sizeof(*h));
	fwrite(page, 1, sizeof(page), out);
#define WRITE(type, array, nr)                                                                     \
	for (size_t i = 0; i < f->nr; i++)                                                         \
		put(&w, type, &f->array[i])
	ARRAYS(WRITE);
#undef WRITE
	for (size_t i = 0; i < table_nr(f->table); i++)
		put(&w, ELIDE_CHUNK_ROWS, table_row(f->table, i));
	flush(&w);
	return 0;
}
