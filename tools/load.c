// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * load.c - reads data files, hostile ones included.
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

#include "../lib/compiler.h"
#include "load.h"
#include "settings.h"

/* A file being read: where, and where to put what went wrong. */
struct reader {
	int fd;
	const char *path;
	uint64_t end;
	char *error;
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
	h->changes[sizeof(h->changes) - 1] = '\0';
	h->why[sizeof(h->why) - 1] = '\0';
	h->exe[sizeof(h->exe) - 1] = '\0';
	h->args[sizeof(h->args) - 1] = '\0';
}

#define AT(member) ((unsigned int)offsetof(struct elide_header, member))

static int check_header(struct reader *r, const struct elide_header *h)
{
	if (h->magic != ELIDE_DATA_MAGIC)
		return fail(r, "not an elide data file (offset %u)", AT(magic));
	if (h->version != ELIDE_DATA_VERSION)
		return fail(r,
			    "written in version %u of the format, this elide reads %u (offset %u)",
			    h->version, ELIDE_DATA_VERSION, AT(version));
	if (h->header_size != ELIDE_HEADER_SIZE)
		return fail(r, "header of %u bytes (offset %u)", h->header_size, AT(header_size));
	if (h->chunk_size != ELIDE_CHUNK_SIZE)
		return fail(r, "chunks of %u bytes (offset %u)", h->chunk_size, AT(chunk_size));
	if (h->state != ELIDE_FILE_LIVE && h->state != ELIDE_FILE_CLOSED)
		return fail(r, "unknown state %u (offset %u)", h->state, AT(state));
	if (h->size < ELIDE_HEADER_SIZE || h->size > ELIDE_HEADER_SIZE + (settings_file_max << 20))
		return fail(r, "impossible size %llu (offset %u)", (unsigned long long)h->size,
			    AT(size));
	if (h->mode > ELIDE_RUN_ELIDE)
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

static int check_module(const struct reader *r, struct elide_module *m, uint64_t at)
{
	if (m->build_id_len > sizeof(m->build_id))
		return fail(r, "build-id of %u bytes (offset %llu)", m->build_id_len,
			    (unsigned long long)at);
	m->path[sizeof(m->path) - 1] = '\0';
	return 0;
}

static int check_class(const struct reader *r, const struct elide_class *c, uint64_t at)
{
	if (c->type < ELIDE_CLASS_INIT || c->type > ELIDE_CLASS_FIRST || !c->kind ||
	    c->kind >= ELIDE_NR_KINDS)
		return fail(r, "lock class of unknown type %u, kind %u (offset %llu)", c->type,
			    c->kind, (unsigned long long)at);
	return 0;
}

static int check_row(const struct reader *r, const struct elide_row *row, uint64_t at)
{
	if (!row->kind || row->kind >= ELIDE_NR_KINDS || row->state > ELIDE_STATE_OFF)
		return fail(r, "row of unknown kind %u, state %u (offset %llu)", row->kind,
			    row->state, (unsigned long long)at);
	return 0;
}

static int check_misuse(const struct reader *r, const struct elide_misuse *m, uint64_t at)
{
	if (m->type < ELIDE_MISUSE_UNLOCK_FREE || m->type >= ELIDE_MISUSE_END || !m->kind ||
	    m->kind >= ELIDE_NR_KINDS)
		return fail(r, "misuse of unknown type %u, kind %u (offset %llu)", m->type, m->kind,
			    (unsigned long long)at);
	return 0;
}

static int check_order(const struct reader *r, const struct elide_order *o, uint64_t at)
{
	if (o->nr_edges < 2 || o->nr_edges > ELIDE_ORDER_EDGES)
		return fail(r, "circle of %u locks (offset %llu)", o->nr_edges,
			    (unsigned long long)at);
	for (uint32_t i = 0; i < o->nr_edges; i++) {
		const struct elide_order_edge *e = &o->edges[i];

		if (!e->held_kind || e->held_kind >= ELIDE_NR_KINDS || !e->taken_kind ||
		    e->taken_kind >= ELIDE_NR_KINDS)
			return fail(r, "lock order of unknown kinds %u, %u (offset %llu)",
				    e->held_kind, e->taken_kind, (unsigned long long)at);
	}
	return 0;
}

static int check_record(const struct reader *r, int type, void *record, uint64_t at)
{
	switch (type) {
	case ELIDE_CHUNK_MODULES:
		return check_module(r, record, at);
	case ELIDE_CHUNK_CLASSES:
		return check_class(r, record, at);
	case ELIDE_CHUNK_ROWS:
		return check_row(r, record, at);
	case ELIDE_CHUNK_ORDER:
		return check_order(r, record, at);
	default:
		return check_misuse(r, record, at);
	}
}

/* Where records of a chunk's type go; 0 bytes for a type this elide does not know. */
static size_t destination(struct data_file *f, int type, void **array, size_t **have)
{
	switch (type) {
	case ELIDE_CHUNK_MODULES:
		*array = &f->modules;
		*have = &f->nr_modules;
		return sizeof(*f->modules);
	case ELIDE_CHUNK_CLASSES:
		*array = &f->classes;
		*have = &f->nr_classes;
		return sizeof(*f->classes);
	case ELIDE_CHUNK_ROWS:
		*array = &f->rows;
		*have = &f->nr_rows;
		return sizeof(*f->rows);
	case ELIDE_CHUNK_MISUSE:
		*array = &f->misuse;
		*have = &f->nr_misuse;
		return sizeof(*f->misuse);
	case ELIDE_CHUNK_ORDER:
		*array = &f->orders;
		*have = &f->nr_orders;
		return sizeof(*f->orders);
	}
	return 0;
}

static int read_chunk(struct reader *r, struct data_file *f, uint64_t at)
{
	_Alignas(64) char bytes[ELIDE_CHUNK_SIZE];
	struct elide_chunk *c = (struct elide_chunk *)bytes;
	size_t size, *have, length;
	void *array;
	ssize_t n = read_at(r->fd, bytes, sizeof(*c), at);
	int rc;

	if (n != sizeof(*c))
		return fail(r, "cannot be read (offset %llu)", (unsigned long long)at);
	if (!c->magic)
		return 0; /* not yet in use */
	if (c->magic != ELIDE_CHUNK_MAGIC)
		return fail(r, "damaged chunk (offset %llu)", (unsigned long long)at);
	size = destination(f, c->type, &array, &have);
	if (!size)
		return 0;
	if (c->record_size != size || c->nr_records > (ELIDE_CHUNK_SIZE - sizeof(*c)) / size)
		return fail(r, "chunk of %u records of %u bytes (offset %llu)", c->nr_records,
			    c->record_size, (unsigned long long)at);
	length = c->nr_records * size;
	if (read_at(r->fd, bytes + sizeof(*c), length, at + sizeof(*c)) != (ssize_t)length)
		return fail(r, "cannot be read (offset %llu)", (unsigned long long)at + sizeof(*c));
	for (size_t done = 0; done < length; done += size) {
		rc = check_record(r, c->type, bytes + sizeof(*c) + done, at + sizeof(*c) + done);
		if (rc)
			return rc;
	}
	rc = append(array, have, bytes + sizeof(*c), c->nr_records, size);
	if (rc)
		fail(r, "out of memory (offset %llu)", (unsigned long long)at);
	return rc;
}

static int has_classes(const struct data_file *f, const struct elide_order *o)
{
	for (uint32_t i = 0; i < o->nr_edges; i++)
		if (o->edges[i].class_index >= f->nr_classes)
			return 0;
	return 1;
}

/* Leaves out what has no class there: it came after what was lost, or is being written. */
static void drop_orphans(struct data_file *f)
{
	size_t kept = 0, kept_orders = 0;

	for (size_t i = 0; i < f->nr_rows; i++) {
		if (f->rows[i].class_index < f->nr_classes)
			f->rows[kept++] = f->rows[i];
		else
			f->notes.nr_orphans++;
	}
	f->nr_rows = kept;
	for (size_t i = 0; i < f->nr_orders; i++) {
		if (has_classes(f, &f->orders[i]))
			f->orders[kept_orders++] = f->orders[i];
		else
			f->notes.nr_orphans++;
	}
	f->nr_orders = kept_orders;
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
		f->notes.lost_from = r->end < promised ? r->end : at;
		f->notes.lost_size = promised - f->notes.lost_from;
	}
	drop_orphans(f);
	return 0;
}

/* O_NONBLOCK: a name given to us may be a FIFO that nobody writes to. */
static int open_regular(const char *path, uint64_t *size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY), rc;
	struct stat st;

	if (fd < 0)
		return -errno;
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
	r.fd = open_regular(path, &r.end);
	if (r.fd < 0) {
		fail(&r, "%s", r.fd == -EINVAL ? "not a regular file" : strerror(-r.fd));
		return r.fd;
	}
	rc = read_header(&r, &file->header);
	if (!rc)
		rc = read_chunks(&r, file);
	if (!rc) {
		file->path = strdup(path);
		if (!file->path)
			rc = -ENOMEM;
	}
	close(r.fd);
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
	free(file->path);
	free(file->modules);
	free(file->classes);
	free(file->rows);
	free(file->misuse);
	free(file->orders);
	memset(file, 0, sizeof(*file));
}

static void negate_times(struct elide_times *t)
{
	*t = (struct elide_times){.count = -t->count, .total = -t->total, .min = ~0ull};
}

/* A row that, added to what it was copied from, leaves nothing: sums are modulo 2^64. */
static void negate_row(struct elide_row *row)
{
	row->not_attempted = -row->not_attempted;
	row->fallback = -row->fallback;
	row->commits = -row->commits;
	row->nested = -row->nested;
	row->contended = -row->contended;
	row->wasted_cycles = -row->wasted_cycles;
	negate_times(&row->wait);
	negate_times(&row->hold);
	for (int i = 0; i < ELIDE_MAX_CAUSES; i++)
		row->causes[i] = -row->causes[i];
}

int load_base(struct data_file *file)
{
	struct elide_header *h = &file->header;
	char path[PATH_MAX], error[LOAD_ERROR_MAX];
	struct data_file base;
	int rc = 0;

	snprintf(path, sizeof(path), "%s" LOAD_BASE_SUFFIX, file->path);
	if (load(path, &base, error))
		return 0;
	if (base.header.pid == h->pid && base.header.pid_start == h->pid_start &&
	    base.header.start_ns == h->start_ns && base.nr_classes <= file->nr_classes) {
		for (size_t i = 0; i < base.nr_rows; i++)
			negate_row(&base.rows[i]);
		rc = append(&file->rows, &file->nr_rows, base.rows, base.nr_rows,
			    sizeof(*base.rows));
		h->start_ns = base.header.end_ns;
		h->start_cycles = base.header.end_cycles;
	}
	load_free(&base);
	return rc;
}
