// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * load.c - read data files, hostile ones included.
 *
 * The file may be live: it is read, not mapped, because its end may move.
 * Must never trust a number of the file before it was compared with a bound.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../lib/compiler.h"
#include "../base/settings.h"
#include "../base/data-open.h"
#include "load.h"
#include "records.h"

/*
 * A file that is being read, its version, where an error message goes, and the highest class of a
 * row so far.
 */
struct reader {
	int fd;
	const char *path;
	uint64_t end;
	char *error;
	uint32_t version;
	uint32_t last_class;
};

static int fail(const struct reader *r, const char *format, ...) __printf(2, 3);

static int fail(const struct reader *r, const char *format, ...)
{
	va_list args;
	int len = snprintf(r->error, LOAD_ERROR_MAX, "%.1000s: ", r->path);

	va_start(args, format);
	vsnprintf(r->error + len, LOAD_ERROR_MAX - len, format, args);
	va_end(args);
	return -EINVAL;
}

/* Reads as much of @size as there is: bytes read or -errno. */
static ssize_t read_at(int fd, void *to, size_t size, uint64_t offset)
{
	size_t done = 0;

	while (done < size) {
		ssize_t n = pread(fd, (char *)to + done, size - done, offset + done);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (!n)
			break;
		done += n;
	}
	return done;
}

static void terminate(struct elide_header *h)
{
	h->policy[sizeof(h->policy) - 1] = '\0';
	h->model[sizeof(h->model) - 1] = '\0';
	h->learned[sizeof(h->learned) - 1] = '\0';
	h->changes[sizeof(h->changes) - 1] = '\0';
	h->why[sizeof(h->why) - 1] = '\0';
	h->exe[sizeof(h->exe) - 1] = '\0';
	h->args[sizeof(h->args) - 1] = '\0';
	h->host[sizeof(h->host) - 1] = '\0';
}

#define AT(member) ((unsigned int)offsetof(struct elide_header, member))

static int check_header(struct reader *r, const struct elide_header *h)
{
	if (h->magic != ELIDE_DATA_MAGIC)
		return fail(r, "not an elide data file (offset %u)", AT(magic));
	if (h->version < ELIDE_DATA_OLDEST || h->version > ELIDE_DATA_VERSION)
		return fail(r,
			    "written in version %u of the format, this elide reads %u to %u "
			    "(offset %u)",
			    h->version, ELIDE_DATA_OLDEST, ELIDE_DATA_VERSION, AT(version));
	r->version = h->version;
	if (h->header_size != ELIDE_HEADER_SIZE)
		return fail(r, "header of %u bytes (offset %u)", h->header_size, AT(header_size));
	if (h->chunk_size != ELIDE_CHUNK_SIZE)
		return fail(r, "chunks of %u bytes (offset %u)", h->chunk_size, AT(chunk_size));
	if (h->state != ELIDE_FILE_LIVE && h->state != ELIDE_FILE_CLOSED)
		return fail(r, "unknown state %u (offset %u)", h->state, AT(state));
	if (h->size < ELIDE_HEADER_SIZE || h->size > ELIDE_HEADER_SIZE + (settings_file_max << 20))
		return fail(r, "impossible size %llu (offset %u)", (unsigned long long)h->size,
			    AT(size));
	if (h->mode > ELIDE_RUN_RESTRICT)
		return fail(r, "unknown mode %u (offset %u)", h->mode, AT(mode));
	if (h->rtm > ELIDE_RTM_EMULATED)
		return fail(r, "unknown kind of RTM %u (offset %u)", h->rtm, AT(rtm));
	if (h->args_len > sizeof(h->args))
		return fail(r, "impossible length of arguments %u (offset %u)", h->args_len,
			    AT(args_len));
	return 0;
}

static int read_header(struct reader *r, struct elide_header *h)
{
	char page[ELIDE_HEADER_SIZE];
	ssize_t n = read_at(r->fd, page, sizeof(page), 0);
	int rc;

	if (n < 0) {
		fail(r, "cannot be read at offset 0: %s", strerror(-n));
		return n;
	}
	if (!n)
		return fail(r, "empty (offset 0)");
	if ((size_t)n < sizeof(h->magic) || memcmp(page, &(uint64_t){ELIDE_DATA_MAGIC}, 8))
		return fail(r, "not an elide data file (offset 0)");
	if ((size_t)n < sizeof(page))
		return fail(r, "ends within its header (offset %zd)", n);
	memcpy(h, page, sizeof(*h));
	rc = check_header(r, h);
	if (!rc)
		terminate(h);
	return rc;
}

/* Appends @nr records of @size bytes to an array whose length is *@have. */
static int append(void *array, size_t *have, const void *records, size_t nr, size_t size)
{
	char **to = array;
	char *grown = *to;

	/* Grows at powers of two, which are when the length has one bit set. */
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

/* Where records of a type go but those of rows, which stay in the file. */
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
	case ELIDE_CHUNK_MOMENTS:
		TO(moments, nr_moments);
	case ELIDE_CHUNK_ABORTS:
		TO(aborts, nr_aborts);
	case ELIDE_CHUNK_SOURCES:
		TO(sources, nr_sources);
	default:
		TO(counters, nr_counters);
	}
#undef TO
}

/* Bytes of a chunk for its records in the file. */
#define ROOM (ELIDE_CHUNK_SIZE - sizeof(struct elide_chunk))

/* A chunk in memory, with room for the rows of a chunk of an old version as they are made wider. */
struct chunk {
	_Alignas(64) struct elide_chunk head;
	char records[ROOM / ELIDE_ROW_SIZE_1 * sizeof(struct elide_row)];
};

_Static_assert(sizeof(((struct chunk *)0)->records) >= ROOM, "any other record fits");

/* Rows of old versions end before the present ones do. */
static size_t row_size(uint32_t version)
{
	return version == 1 ? ELIDE_ROW_SIZE_1 :
	       version <= 3 ? ELIDE_ROW_SIZE_2 : sizeof(struct elide_row);
}

/* Widen rows of @size bytes in place, from the last one on. What they do not have is 0. */
static void widen_rows(struct chunk *c, size_t size)
{
	struct elide_row row;

	for (uint32_t i = c->head.nr_records; i--;) {
		memset(&row, 0, sizeof(row));
		memcpy(&row, c->records + i * size, size);
		memcpy(c->records + i * sizeof(row), &row, sizeof(row));
	}
	c->head.record_size = sizeof(row);
}

/*
 * Reads a chunk if it is in use and of a type we know. Return: bytes of its
 * records, each of *@size; -errno.
 */
static ssize_t get_chunk(struct reader *r, struct chunk *c, uint64_t at, size_t *size)
{
	ssize_t n = read_at(r->fd, &c->head, sizeof(c->head), at), length;
	size_t saved;

	if (n != sizeof(c->head))
		return fail(r, "cannot be read (offset %llu)", (unsigned long long)at);
	if (!c->head.magic)
		return 0; /* not yet in use */
	if (c->head.magic != ELIDE_CHUNK_MAGIC)
		return fail(r, "damaged chunk (offset %llu)", (unsigned long long)at);
	*size = record_size(c->head.type);
	if (!*size)
		return 0;
	saved = c->head.type == ELIDE_CHUNK_ROWS ? row_size(r->version) : *size;
	if (c->head.record_size != saved || c->head.nr_records > ROOM / saved)
		return fail(r, "chunk of %u records of %u bytes (offset %llu)", c->head.nr_records,
			    c->head.record_size, (unsigned long long)at);
	length = c->head.nr_records * saved;
	if (read_at(r->fd, c->records, length, at + sizeof(c->head)) != length)
		return fail(r, "cannot be read (offset %llu)",
			    (unsigned long long)at + sizeof(c->head));
	if (saved != *size)
		widen_rows(c, saved);
	return c->head.nr_records * *size;
}

static int read_chunk(struct reader *r, struct data_file *f, uint64_t at)
{
	size_t size = 0, *have;
	struct chunk c;
	ssize_t length = get_chunk(r, &c, at, &size);
	uint32_t number = (at - ELIDE_HEADER_SIZE) / ELIDE_CHUNK_SIZE;
	void **array;
	char what[256];
	int rc;

	for (ssize_t done = 0; done < length; done += size)
		if (record_check(c.head.type, c.records + done, what, sizeof(what)))
			return fail(r, "%s (offset %llu)", what,
				    (unsigned long long)at + sizeof(c.head) + done);
	if (length <= 0)
		return length;
	for (uint32_t i = 0; c.head.type == ELIDE_CHUNK_ROWS && i < c.head.nr_records; i++) {
		const struct elide_row *row = (const struct elide_row *)c.records + i;

		if (row->class_index > r->last_class)
			r->last_class = row->class_index;
		f->nr_rows++;
	}
	if (c.head.type == ELIDE_CHUNK_ROWS) {
		rc = append(&f->row_chunks, &f->nr_row_chunks, &number, 1, sizeof(number));
	} else {
		array = destination(f, c.head.type, &have);
		rc = append(array, have, c.records, c.head.nr_records, size);
	}
	if (rc)
		fail(r, "out of memory (offset %llu)", (unsigned long long)at);
	return rc;
}

/* Negate a row, so that its sum with the row it was copied from is 0 modulo 2^64. */
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
	negate_times(&row->hold);
	for (int i = 0; i < ELIDE_MAX_CAUSES; i++)
		row->causes[i] = -row->causes[i];
}

/* The rows of one file. They are checked again: the file may have been changed. */
static int rows_of(const struct data_file *f, int negated, uint64_t *nr_orphans, load_row row,
		   void *arg)
{
	char error[LOAD_ERROR_MAX], what[256];
	struct reader r = {.fd = f->fd, .path = f->path, .error = error,
			   .version = f->header.version};
	struct chunk c;
	size_t size;
	int rc = 0;

	for (size_t i = 0; !rc && i < f->nr_row_chunks; i++) {
		uint64_t at = ELIDE_HEADER_SIZE + (uint64_t)f->row_chunks[i] * ELIDE_CHUNK_SIZE;
		ssize_t length = get_chunk(&r, &c, at, &size);

		if (length < 0 || c.head.type != ELIDE_CHUNK_ROWS)
			return -EIO;
		for (uint32_t j = 0; !rc && j < length / sizeof(struct elide_row); j++) {
			struct elide_row *record = (struct elide_row *)c.records + j;

			if (record_check(ELIDE_CHUNK_ROWS, record, what, sizeof(what)))
				return -EIO;
			if (record->class_index >= f->nr_classes) {
				++*nr_orphans;
				continue;
			}
			if (negated)
				negate_row(record);
			rc = row(arg, c.head.block, record);
		}
	}
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

static int read_chunks(struct reader *r, struct data_file *f)
{
	uint64_t promised = f->header.size, at = ELIDE_HEADER_SIZE;
	int rc;

	for (; at + ELIDE_CHUNK_SIZE <= promised && at + ELIDE_CHUNK_SIZE <= r->end;
	     at += ELIDE_CHUNK_SIZE) {
		rc = read_chunk(r, f, at);
		if (rc)
			return rc;
	}
	if (at < promised) {
		if (at == ELIDE_HEADER_SIZE)
			return fail(r, "ends before its first chunk does (offset %llu)",
				    (unsigned long long)r->end);
		if (!f->nr_rows)
			return fail(r, "ends before its first row (offset %llu)",
				    (unsigned long long)r->end);
		f->notes.lost_from = r->end < promised ? r->end : at;
		f->notes.lost_size = promised - f->notes.lost_from;
	}
	records_link(f);
	records_merge(f);
	f->nr_processes = f->nr_sources;
	if (r->last_class < f->nr_classes || !f->nr_rows)
		return 0;
	f->nr_rows = 0;
	rc = rows_of(f, 0, &f->notes.nr_orphans, count_row, &f->nr_rows);
	return rc ? fail(r, "changed while it was read (offset %u)", ELIDE_HEADER_SIZE) : 0;
}

static int open_regular(const char *path, uint64_t *size)
{
	int fd = data_open(path, O_RDONLY), rc;
	struct stat st;

	if (fd < 0)
		return fd;
	rc = fstat(fd, &st) ? -errno : S_ISDIR(st.st_mode) ? -EISDIR : 0;
	if (!rc && !S_ISREG(st.st_mode))
		rc = -EINVAL;
	if (rc) {
		close(fd);
		return rc;
	}
	*size = st.st_size;
	return fd;
}

int load(const char *path, struct data_file *file, char *error)
{
	struct reader r = {.path = path, .error = error};
	int rc;

	memset(file, 0, sizeof(*file));
	file->fd = -1;
	r.fd = open_regular(path, &r.end);
	if (r.fd < 0) {
		fail(&r, "%s", r.fd == -EINVAL ? "not a regular file" : strerror(-r.fd));
		return r.fd;
	}
	file->fd = r.fd;
	file->path = strdup(path);
	rc = file->path ? read_header(&r, &file->header) : -ENOMEM;
	if (!rc)
		rc = read_chunks(&r, file);
	if (rc)
		load_free(file);
	return rc;
}

int load_header(const char *path, struct elide_header *header)
{
	char error[LOAD_ERROR_MAX];
	struct reader r = {.path = path, .error = error};
	int rc;

	r.fd = open_regular(path, &r.end);
	if (r.fd < 0)
		return r.fd;
	rc = read_header(&r, header);
	close(r.fd);
	return rc;
}

void load_free(struct data_file *file)
{
	if (file->path && file->fd >= 0)
		close(file->fd);
	free(file->path);
	free(file->row_chunks);
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

int load_base(struct data_file *file)
{
	struct elide_header *h = &file->header;
	char path[PATH_MAX + sizeof(LOAD_BASE_SUFFIX)], error[LOAD_ERROR_MAX];
	struct data_file base;
	int rc;

	snprintf(path, PATH_MAX, "%s", file->path);
	elide_final_name(path);
	strcat(path, LOAD_BASE_SUFFIX);
	if (load(path, &base, error))
		return 0;
	if (base.header.pid != h->pid || base.header.pid_start != h->pid_start ||
	    base.header.start_ns != h->start_ns || base.nr_classes > file->nr_classes) {
		load_free(&base);
		return 0;
	}
	file->base = malloc(sizeof(*file->base));
	if (!file->base) {
		load_free(&base);
		return -ENOMEM;
	}
	*file->base = base;
	file->negates = 1;
	rc = subtract(file, file->base);
	h->start_ns = base.header.end_ns;
	h->start_cycles = base.header.end_cycles;
	return rc;
}
