// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * read.c - see read.h.
 *
 * The file may be live: it is read, not mapped, because its end may move.
 */
#include "read.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../../lib/compiler.h"
#include "../../base/data-open.h"
#include "../../base/settings.h"
#include "../records.h"

/* Reads of an inconsistent chunk, at most: its process may have counted meanwhile. */
#define TRIES 4

int read_fail(struct reader *r, const char *format, ...)
{
	va_list args;
	int len = snprintf(r->error, LOAD_ERROR_MAX, "%.1000s: ", r->path);

	va_start(args, format);
	vsnprintf(r->error + len, LOAD_ERROR_MAX - len, format, args);
	va_end(args);
	r->fault = r->error + len;
	return -EBADMSG;
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

/* Is it a name below a folder that this process holds open? Another user may change it: live.h. */
static int is_in_held_folder(const char *path)
{
	static const char held[] = "/proc/self/fd/";

	return !strncmp(path, held, sizeof(held) - 1) && strchr(path + sizeof(held) - 1, '/');
}

int read_open(const char *path, uint64_t *size)
{
	int fd = data_open(path, O_RDONLY | (is_in_held_folder(path) ? O_NOFOLLOW : 0)), rc;
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
	h->unsaid[sizeof(h->unsaid) - 1] = '\0';
}

#define AT(member) ((unsigned int)offsetof(struct elide_header, member))

static int check_header(struct reader *r, const struct elide_header *h)
{
	if (h->version != ELIDE_DATA_VERSION) {
		read_fail(r, "written in version %u of the format, this elide reads version %u (offset %u)",
			  h->version, ELIDE_DATA_VERSION, AT(version));
		return -EINVAL;
	}
	if (h->header_size != ELIDE_HEADER_SIZE)
		return read_fail(r, "header of %u bytes (offset %u)", h->header_size,
				 AT(header_size));
	if (h->chunk_size != ELIDE_CHUNK_SIZE)
		return read_fail(r, "chunks of %u bytes (offset %u)", h->chunk_size,
				 AT(chunk_size));
	if (h->state != ELIDE_FILE_LIVE && h->state != ELIDE_FILE_CLOSED)
		return read_fail(r, "unknown state %u (offset %u)", h->state, AT(state));
	if (h->size < ELIDE_HEADER_SIZE ||
	    h->size > ELIDE_HEADER_SIZE + (settings_file_max << 20) ||
	    (h->size - ELIDE_HEADER_SIZE) % h->chunk_size)
		return read_fail(r, "impossible size %llu (offset %u)", (unsigned long long)h->size,
				 AT(size));
	if (h->mode > ELIDE_RUN_RESTRICT)
		return read_fail(r, "unknown mode %u (offset %u)", h->mode, AT(mode));
	if (h->rtm > ELIDE_RTM_EMULATED)
		return read_fail(r, "unknown kind of RTM %u (offset %u)", h->rtm, AT(rtm));
	if (h->args_len > sizeof(h->args))
		return read_fail(r, "impossible length of arguments %u (offset %u)", h->args_len,
				 AT(args_len));
	return 0;
}

/* Reads the header, unchecked. */
static int get_header(struct reader *r, struct elide_header *h)
{
	char page[ELIDE_HEADER_SIZE];
	ssize_t n = read_at(r->fd, page, sizeof(page), 0);

	if (n < 0) {
		read_fail(r, "cannot be read at offset 0: %s", strerror(-n));
		return n;
	}
	if ((size_t)n < sizeof(h->magic) || memcmp(page, &(uint64_t){ELIDE_DATA_MAGIC}, 8)) {
		read_fail(r, "%s (offset 0)", n ? "not an elide data file" : "empty");
		return -EINVAL;
	}
	if ((size_t)n < sizeof(page))
		return read_fail(r, "ends within its header (offset %zd)", n);
	memcpy(h, page, sizeof(*h));
	return 0;
}

int read_header(struct reader *r, struct elide_header *h)
{
	struct stat st;
	int rc = get_header(r, h);

	/* The size was read before the counts, which may include one more chunk. */
	if (!rc && read_at(r->fd, &h->size, sizeof(h->size), AT(size)) != sizeof(h->size))
		rc = read_fail(r, "cannot be read (offset %u)", AT(size));
	if (!rc)
		rc = check_header(r, h);
	if (rc)
		return rc;
	if (!fstat(r->fd, &st))
		r->end = st.st_size;
	r->promised = h->size;
	r->merged = !h->pid_start;
	r->live = h->state == ELIDE_FILE_LIVE;
	terminate(h);
	return 0;
}

/* Is the checksum that of the records, with or without the one that is being published? */
static int has_check(const struct chunk *c)
{
	const struct elide_chunk *h = &c->head;
	uint32_t check = ELIDE_CHECK_START, i;

	if (!elide_record_fixed(h->type, h->record_size))
		return 1;
	for (i = 0; i < h->nr_records; i++)
		check = elide_record_check(check, h->type, c->records + i * h->record_size,
					   h->record_size);
	if (check == h->check)
		return 1;
	return (i + 1) * (size_t)h->record_size <= READ_ROOM &&
	       elide_record_check(check, h->type, c->records + i * h->record_size,
				  h->record_size) == h->check;
}

/*
 * The sum of a histogram and the number of its measurements may differ by what a running process counts
 * between the copies of two pages. The reader may be preempted there for tens of milliseconds, and a thread
 * counts some thousands in each. Damage mostly makes them differ by hundreds of millions.
 */
#define BINS_TOLERANCE 4096
#define BINS_TOLERANCE_LIVE (1 << 20)

static int bins_fit(const struct reader *r, const uint64_t *bins, uint64_t count)
{
	uint64_t tolerance = r->live ? BINS_TOLERANCE_LIVE : BINS_TOLERANCE, sum = 0, apart;

	for (int i = 0; i < ELIDE_NR_BINS; i++)
		sum += bins[i];
	apart = sum > count ? sum - count : count - sum;
	return apart <= tolerance;
}

/* No process counts that far. */
#define COUNTED_MAX (1ull << 56)

static int is_plausible(const struct reader *r, const struct elide_row *row)
{
	uint64_t all = row->not_attempted | row->fallback | row->commits | row->nested |
		       row->contended | row->wait.count | row->hold.count | row->failed;

	for (int i = 0; i < ELIDE_MAX_CAUSES; i++)
		all |= row->causes[i];
	return all < COUNTED_MAX && (r->merged || (bins_fit(r, row->wait_bins, row->wait.count) &&
						   bins_fit(r, row->hold_bins, row->hold.weight + row->hold.exact)));
}

/* Return: 0; -EBADMSG with the message set, in which case another try may succeed. */
static int check_chunk(struct reader *r, const struct chunk *c, uint64_t at)
{
	const struct elide_row *rows = (const struct elide_row *)c->records;

	if (!has_check(c))
		return read_fail(r, "chunk of %u %s has another checksum (offset %llu)",
				 c->head.nr_records, record_name(c->head.type),
				 (unsigned long long)at);
	if (c->head.type != ELIDE_CHUNK_ROWS)
		return 0;
	for (uint32_t i = 0; i < c->head.nr_records; i++)
		if (!is_plausible(r, &rows[i]))
			return read_fail(r, "row with impossible counters (offset %llu)",
					 (unsigned long long)at + sizeof(c->head) +
						 i * sizeof(*rows));
	return 0;
}

static ssize_t try_chunk(struct reader *r, struct chunk *c, uint64_t at, size_t *size)
{
	ssize_t n = read_at(r->fd, &c->head, sizeof(c->head), at), length;

	if (n != sizeof(c->head))
		return read_fail(r, "cannot be read (offset %llu)", (unsigned long long)at);
	if (c->head.magic != ELIDE_CHUNK_MAGIC || !c->head.type)
		return read_fail(r, "damaged chunk (offset %llu)", (unsigned long long)at);
	*size = record_size(c->head.type);
	if (!*size)
		return 0;
	if (c->head.record_size != *size || c->head.nr_records > READ_ROOM / *size)
		return read_fail(r, "chunk of %u records of %u bytes (offset %llu)",
				 c->head.nr_records, c->head.record_size, (unsigned long long)at);
	/* Reads one record more, which may be in the checksum; bytes beyond the file are 0. */
	length = (c->head.nr_records + 1) * *size;
	if ((size_t)length > READ_ROOM)
		length = READ_ROOM;
	if (read_at(r->fd, c->records, length, at + sizeof(c->head)) != length)
		return read_fail(r, "cannot be read (offset %llu)",
				 (unsigned long long)at + sizeof(c->head));
	if (check_chunk(r, c, at))
		return -EAGAIN;
	return c->head.nr_records * *size;
}

ssize_t read_chunk(struct reader *r, struct chunk *c, uint64_t at, size_t *size)
{
	ssize_t length;
	int tries = 0;

	do
		length = try_chunk(r, c, at, size);
	while (length == -EAGAIN && ++tries < TRIES);
	return length == -EAGAIN ? -EBADMSG : length;
}
