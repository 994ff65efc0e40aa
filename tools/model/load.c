// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * load.c - the records of data files, hostile ones included.
 *
 * Must never confuse a record with another one if some are missing.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../lib/compiler.h"
#include "../../lib/live-name.h"
#include "../base/data-open.h"
#include "../base/intern.h"
#include "file/classes.h"
#include "file/faults.h"
#include "file/read.h"
#include "load.h"
#include "file/open-waits.h"
#include "records.h"

/* Appends @nr records of @size bytes to an array whose length is *@have. */
static int append(void *array, size_t *have, const void *records, size_t nr, size_t size)
{
	char **to = array;
	char *grown = *to;

	/* Grows when the length is a power of two, which has one bit set. */
	for (size_t i = 0; i < nr; i++, ++*have) {
		if (!*have || !(*have & (*have - 1))) {
			grown = reallocarray(*to, *have ? 2 * *have : 1, size);
			if (!grown)
				return -ENOMEM;
			*to = grown;
		}
		memcpy(grown + *have * size, (const char *)records + i * size, size);
	}
	return 0;
}

/* The array for records of a type; NULL for rows, which stay in the file. */
static void **destination(struct data_file *f, int type, size_t **have)
{
#define TO(array, nr)                                                                              \
	do {                                                                                       \
		*have = &f->nr;                                                                    \
		return (void **)&f->array;                                                         \
	} while (0)
	switch (type) {
	case ELIDE_CHUNK_MODULES:
		TO(modules, nr_modules);
	case ELIDE_CHUNK_CLASSES:
		TO(classes, nr_classes);
	case ELIDE_CHUNK_MISUSE:
		TO(misuse, nr_misuse);
	case ELIDE_CHUNK_ORDER:
		TO(orders, nr_orders);
	case ELIDE_CHUNK_STACKS:
		TO(stacks, nr_stacks);
	case ELIDE_CHUNK_SAMPLES:
		TO(samples, nr_samples);
	case ELIDE_CHUNK_DETAILS:
		TO(details, nr_details);
	case ELIDE_CHUNK_BLAME:
		TO(blames, nr_blames);
	case ELIDE_CHUNK_TIMELINE:
		TO(events, nr_events);
	case ELIDE_CHUNK_THREADS:
		TO(threads, nr_threads);
	case ELIDE_CHUNK_SPANS:
		TO(spans, nr_spans);
	case ELIDE_CHUNK_ABORTS:
		TO(aborts, nr_aborts);
	case ELIDE_CHUNK_SOURCES:
		TO(sources, nr_sources);
	default:
		TO(counters, nr_counters);
	}
#undef TO
}

/*
 * What was found so far in a file: by enum elide_chunk_type the chunks, records, and the number
 * of the next chunk; unreadable chunks; the highest class of a row; classes and sites of rows, as struct
 * lock_site; and whether numbered records are missing.
 */
struct found {
	uint32_t chunks[ELIDE_MAX_CHUNK_TYPES];
	uint32_t records[ELIDE_MAX_CHUNK_TYPES];
	uint32_t next[ELIDE_MAX_CHUNK_TYPES];
	uint32_t nr_bad;
	uint32_t last_class;
	struct intern sites;
	int gaps;
};

/* Do other records refer to records of this type by number? An empty one replaces a missing one. */
static int is_numbered(int type)
{
	return type == ELIDE_CHUNK_CLASSES || type == ELIDE_CHUNK_STACKS;
}

/* Fills the gap that missing chunks before this one leave in an array of numbered records. */
static int fill_gap(struct found *found, struct data_file *f, const struct elide_chunk *c,
		    size_t size)
{
	static const char empty[sizeof(struct elide_stack)];
	uint64_t first = (uint64_t)c->nr * (READ_ROOM / size);
	size_t *have;
	void **array = destination(f, c->type, &have);

	_Static_assert(sizeof(empty) >= sizeof(struct elide_class), "either record fits");
	for (; *have < first; found->gaps = 1)
		if (append(array, have, empty, 1, size))
			return -ENOMEM;
	return 0;
}

/* Is it the next chunk of its type, or may the missing ones be among the unreadable chunks? */
static int has_its_place(struct reader *r, const struct found *found, const struct elide_chunk *c,
			 uint64_t at)
{
	uint32_t next = c->type < ELIDE_MAX_CHUNK_TYPES ? found->next[c->type] : 0;

	if (c->type >= ELIDE_MAX_CHUNK_TYPES ||
	    (c->nr >= next && c->nr - next <= found->nr_bad))
		return 1;
	read_fail(r, "chunk %u of %s in the place of another one (offset %llu)", c->nr,
		  record_name(c->type), (unsigned long long)at);
	return 0;
}

/*
 * Checks the records of a chunk: leaves out bad ones, or empties them if they are numbered. Return: the
 * number of good ones.
 */
static uint32_t check_records(struct reader *r, struct data_file *f, struct chunk *c, uint64_t at,
			  size_t size)
{
	uint32_t kept = 0, good = 0;
	char what[256];

	for (uint32_t i = 0; i < c->head.nr_records; i++) {
		char *record = c->records + i * size;

		if (record_check(c->head.type, record, what, sizeof(what))) {
			read_fail(r, "%s (offset %llu)", what,
				  (unsigned long long)at + sizeof(c->head) + i * size);
			faults_bad(&f->notes, r->fault);
			if (!is_numbered(c->head.type))
				continue;
			memset(record, 0, size);
			good--;
		}
		good++;
		memmove(c->records + kept++ * size, record, size);
	}
	c->head.nr_records = kept;
	return good;
}

/* Return: 0 or -ENOMEM. */
static int take_chunk(struct reader *r, struct found *found, struct data_file *f, uint64_t at)
{
	size_t size = 0, *have;
	struct chunk c;
	ssize_t length = read_chunk(r, &c, at, &size);
	uint32_t number = (at - ELIDE_HEADER_SIZE) / ELIDE_CHUNK_SIZE;
	void **array;
	int rc = 0;

	if (length >= 0 && !has_its_place(r, found, &c.head, at))
		length = -EBADMSG;
	if (length < 0) {
		faults_bad(&f->notes, r->fault);
		found->nr_bad++;
		return 0;
	}
	if (c.head.type < ELIDE_MAX_CHUNK_TYPES) {
		found->next[c.head.type] = c.head.nr + 1;
		found->chunks[c.head.type]++;
		if (!length)
			found->records[c.head.type] += c.head.nr_records;
	}
	if (!length)
		return 0;
	if (is_numbered(c.head.type))
		rc = fill_gap(found, f, &c.head, size);
	found->records[c.head.type] += check_records(r, f, &c, at, size);
	if (c.head.type == ELIDE_CHUNK_ROWS) {
		for (uint32_t i = 0; i < c.head.nr_records; i++) {
			const struct elide_row *row = (const struct elide_row *)c.records + i;

			const struct lock_site site = {.site = row->site, .class_index = row->class_index};

			if (row->class_index > found->last_class)
				found->last_class = row->class_index;
			if (!rc && intern(&found->sites, &site, sizeof(site)) < 0)
				rc = -ENOMEM;
		}
		f->nr_rows += c.head.nr_records;
		rc = rc ? rc : append(&f->row_chunks, &f->nr_row_chunks, &number, 1, sizeof(number));
	} else if (!rc) {
		array = destination(f, c.head.type, &have);
		rc = append(array, have, c.records, c.head.nr_records, size);
	}
	if (rc) {
		read_fail(r, "out of memory (offset %llu)", (unsigned long long)at);
		return -ENOMEM;
	}
	return 0;
}

/* Negate a row, so that its sum with the row it was copied from is 0 modulo 2^64. */
static void negate_holds(struct elide_holds *h)
{
	*h = (struct elide_holds){
		.count = -h->count,
		.min = ~0ull,
		.exact = -h->exact,
		.exact_total = -h->exact_total,
		.weight = -h->weight,
		.total = -h->total,
		.spread = -h->spread,
		.spread_total = -h->spread_total,
		.spread_squares = -h->spread_squares,
	};
}

static void negate_times(struct elide_times *t)
{
	*t = (struct elide_times){.count = -t->count, .total = -t->total, .min = ~0ull};
}

static void negate_row(struct elide_row *row)
{
	row->not_attempted = -row->not_attempted;
	row->fallback = -row->fallback;
	row->commits = -row->commits;
	row->nested = -row->nested;
	row->contended = -row->contended;
	row->failed = -row->failed;
	row->parked = -row->parked;
	row->unparked = -row->unparked;
	row->parked_cycles = -row->parked_cycles;
	for (int i = 0; i < ELIDE_NR_BINS; i++) {
		row->wait_bins[i] = -row->wait_bins[i];
		row->hold_bins[i] = -row->hold_bins[i];
	}
	row->wasted_cycles = -row->wasted_cycles;
	negate_times(&row->wait);
	negate_holds(&row->hold);
	for (int i = 0; i < ELIDE_MAX_CAUSES; i++)
		row->causes[i] = -row->causes[i];
}

/* Opens a file that load_close() has closed. Return: its descriptor; -EIO if another file has its name. */
static int open_again(const struct data_file *f)
{
	struct stat st;
	uint64_t size;
	int fd = read_open(f->path, &size);

	if (fd < 0)
		return fd;
	if (!fstat(fd, &st) && st.st_dev == f->dev && st.st_ino == f->ino)
		return fd;
	close(fd);
	return -EIO;
}

/* The rows of one file. They are checked again: the file may have been changed. */
static int rows_of(const struct data_file *f, int negated, uint64_t *nr_orphans, load_row row,
		   void *arg)
{
	char error[LOAD_ERROR_MAX], what[256];
	struct reader r = {.fd = f->fd, .path = f->path, .error = error,
			   .merged = !f->header.pid_start,
			   .live = f->header.state == ELIDE_FILE_LIVE};
	struct chunk c;
	size_t size;
	int rc = 0;

	if (f->fd < 0 && f->nr_row_chunks)
		r.fd = open_again(f);
	if (r.fd < 0)
		return f->nr_row_chunks ? r.fd : 0;
	for (size_t i = 0; !rc && i < f->nr_row_chunks; i++) {
		uint64_t at = ELIDE_HEADER_SIZE + (uint64_t)f->row_chunks[i] * ELIDE_CHUNK_SIZE;
		ssize_t length = read_chunk(&r, &c, at, &size);

		if (length < 0 || c.head.type != ELIDE_CHUNK_ROWS)
			rc = -EIO;
		for (uint32_t j = 0; !rc && j < c.head.nr_records; j++) {
			struct elide_row *record = (struct elide_row *)c.records + j;

			if (record_check(ELIDE_CHUNK_ROWS, record, what, sizeof(what)))
				continue;
			if (record->class_index >= f->nr_numbers ||
			    !load_has_class(f, f->numbers[record->class_index])) {
				++*nr_orphans;
				continue;
			}
			record->class_index = f->numbers[record->class_index];
			open_waits_add(f, c.head.block, record);
			if (negated)
				negate_row(record);
			rc = row(arg, c.head.block, record);
		}
	}
	if (f->fd < 0)
		close(r.fd);
	return rc;
}

int load_block_rows(const struct data_file *file, load_row row, void *arg)
{
	uint64_t nr_orphans;
	int rc;

	if (file->merged_rows)
		return file->merged_rows(file, row, arg);
	rc = rows_of(file, 0, &nr_orphans, row, arg);
	return !rc && file->base ? rows_of(file->base, 1, &nr_orphans, row, arg) : rc;
}

/* The arguments of load_rows(). */
struct row_call {
	int (*row)(void *arg, const struct elide_row *row);
	void *arg;
};

static int call_row(void *arg, uint32_t block, const struct elide_row *row)
{
	struct row_call *call = arg;

	return call->row(call->arg, row);
}

int load_rows(const struct data_file *file, int (*row)(void *arg, const struct elide_row *row),
	      void *arg)
{
	struct row_call call = {row, arg};

	return load_block_rows(file, call_row, &call);
}

static int count_row(void *arg, uint32_t block, const struct elide_row *row)
{
	++*(size_t *)arg;
	return 0;
}

/* Joins classes, or numbers them as they are in a file of the same process that has them all. */
static int number_classes(struct data_file *f, const struct data_file *like)
{
	size_t size = (like ? like->nr_classes : 0) * sizeof(*f->classes);
	void *classes;

	f->nr_numbers = f->nr_classes;
	if (!like)
		return classes_join(f, &f->numbers);
	if (like->nr_numbers < f->nr_numbers)
		return -EINVAL;
	f->numbers = malloc(f->nr_numbers * sizeof(*f->numbers) + 1);
	classes = realloc(f->classes, size + 1);
	if (!f->numbers || !classes)
		return -ENOMEM;
	f->classes = classes;
	memcpy(f->numbers, like->numbers, f->nr_numbers * sizeof(*f->numbers));
	memcpy(f->classes, like->classes, size);
	f->nr_classes = like->nr_classes;
	return 0;
}

static int read_chunks(struct reader *r, struct data_file *f, const struct data_file *like)
{
	uint64_t at = ELIDE_HEADER_SIZE;
	struct found found = {0};
	int rc = 0;

	for (; at < r->promised && at + ELIDE_CHUNK_SIZE <= r->end; at += ELIDE_CHUNK_SIZE) {
		rc = take_chunk(r, &found, f, at);
		if (rc) {
			intern_free(&found.sites);
			return rc;
		}
	}
	f->sites = (struct lock_site *)found.sites.bytes;
	f->nr_sites = found.sites.nr;
	found.sites.bytes = NULL;
	intern_free(&found.sites);
	if (at < r->promised) {
		f->notes.lost_from = r->end < r->promised ? r->end : at;
		f->notes.lost_size = r->promised - f->notes.lost_from;
	}
	faults_missing(f, found.chunks, found.records);
	records_link(f);
	rc = number_classes(f, like);
	if (rc)
		return rc;
	records_renumber(f);
	records_merge(f);
	if (open_waits_find(f))
		return -ENOMEM;
	f->nr_processes = f->nr_sources;
	if ((found.last_class < f->nr_numbers && !found.gaps) || !f->nr_rows)
		return 0;
	f->nr_rows = 0;
	rc = rows_of(f, 0, &f->notes.nr_orphans, count_row, &f->nr_rows);
	return rc ? read_fail(r, "changed while it was read (offset %u)", ELIDE_HEADER_SIZE) : 0;
}

/* @like: as number_classes() */
static int load_like(const char *path, struct data_file *file, const struct data_file *like, char *error)
{
	struct reader r = {.path = path, .error = error};
	struct stat st;
	int rc;

	memset(file, 0, sizeof(*file));
	file->fd = -1;
	r.fd = read_open(path, &r.end);
	if (r.fd < 0) {
		read_fail(&r, "%s", r.fd == -EINVAL ? "not a regular file" : strerror(-r.fd));
		return r.fd;
	}
	file->fd = r.fd;
	if (!fstat(r.fd, &st)) {
		file->dev = st.st_dev;
		file->ino = st.st_ino;
	}
	file->path = strdup(path);
	rc = file->path ? read_header(&r, &file->header) : -ENOMEM;
	if (!rc)
		rc = read_chunks(&r, file, like);
	if (rc)
		load_free(file);
	return rc;
}

int load(const char *path, struct data_file *file, char *error)
{
	return load_like(path, file, NULL, error);
}

int load_header(const char *path, struct elide_header *header)
{
	char error[LOAD_ERROR_MAX];
	struct reader r = {.path = path, .error = error};
	int rc;

	r.fd = read_open(path, &r.end);
	if (r.fd < 0)
		return r.fd;
	rc = read_header(&r, header);
	close(r.fd);
	return rc;
}

void load_close(struct data_file *file)
{
	if (file->fd >= 0)
		close(file->fd);
	file->fd = -1;
	if (file->base)
		load_close(file->base);
}

void load_free(struct data_file *file)
{
	if (file->path && file->fd >= 0)
		close(file->fd);
	free(file->path);
	free(file->row_chunks);
	free(file->waiting);
	free(file->numbers);
	free(file->sites);
	for (int type = 1; record_size(type); type++) {
		size_t *have;

		if (type != ELIDE_CHUNK_ROWS)
			free(*destination(file, type, &have));
	}
	if (file->base)
		load_free(file->base);
	free(file->base);
	memset(file, 0, sizeof(*file));
}

/* Add the records of the base, negated, and leave out decisions from before the base. */
static int subtract(struct data_file *file, struct data_file *base)
{
	size_t kept = 0;
	int rc;

	records_negate(base);
	rc = append(&file->samples, &file->nr_samples, base->samples, base->nr_samples,
		    sizeof(*base->samples));
	if (!rc)
		rc = append(&file->details, &file->nr_details, base->details, base->nr_details,
			    sizeof(*base->details));
	if (!rc)
		rc = append(&file->blames, &file->nr_blames, base->blames, base->nr_blames,
			    sizeof(*base->blames));
	if (!rc)
		rc = append(&file->misuse, &file->nr_misuse, base->misuse, base->nr_misuse,
			    sizeof(*base->misuse));
	for (size_t i = 0; i < file->nr_events; i++)
		if (file->events[i].time >= base->header.end_cycles)
			file->events[kept++] = file->events[i];
	file->nr_events = kept;
	records_merge(file);
	return rc;
}

static int subtract_base(struct data_file *file)
{
	struct elide_header *h = &file->header;
	char path[PATH_MAX + sizeof(LOAD_BASE_SUFFIX)], error[LOAD_ERROR_MAX];
	struct data_file base;
	int rc;

	snprintf(path, PATH_MAX, "%s", file->path);
	elide_final_name(path);
	strcat(path, LOAD_BASE_SUFFIX);
	rc = load_like(path, &base, file, error);
	if (rc == -EBADMSG)
		faults_bad(&file->notes, "the numbers before the last reset cannot be read");
	if (rc)
		return 0;
	if (base.header.pid != h->pid || base.header.pid_start != h->pid_start ||
	    base.header.start_ns != h->start_ns) {
		load_free(&base);
		return 0;
	}
	file->base = malloc(sizeof(*file->base));
	if (!file->base) {
		load_free(&base);
		return -ENOMEM;
	}
	*file->base = base;
	faults_add(&file->notes, &base.notes);
	file->negates = 1;
	rc = subtract(file, file->base);
	h->start_ns = base.header.end_ns;
	h->start_cycles = base.header.end_cycles;
	return rc;
}

int load_base(struct data_file *file)
{
	int rc = subtract_base(file);

	return rc ? rc : open_waits_blame(file);
}
