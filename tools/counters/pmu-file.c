// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * pmu-file.c - reads counters from the emulator's file, and appends them to the data file.
 *
 * Must never touch the file of another process than the one that was run.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../lib/compiler.h"
#include "../base/settings.h"
#include "../base/data-open.h"
#include "../model/records.h"
#include "pmu-file.h"
#include "pmu.h"

/* Keeps rtmgrind's separate counts of the library's start-up probe, which a processor does not have. */
static int is_wanted(const char *name)
{
	return !strncmp(name, "RTM_RETIRED.", 12) || !strcmp(name, "TX_MEM.ABORT_CONFLICT") ||
	       !strcmp(name, "TX_MEM.ABORT_CAPACITY") || !strcmp(name, "probe.starts") ||
	       !strcmp(name, "probe.commits");
}

size_t pmu_read_emulated(FILE *f, struct elide_counter *counters, size_t max)
{
	char line[256];
	size_t nr = 0;

	while (nr < max && fgets(line, sizeof(line), f)) {
		char *space = strchr(line, ' '), *end;
		unsigned long long value;

		if (!space || space[1] < '0' || space[1] > '9')
			continue;
		*space = '\0';
		errno = 0;
		value = strtoull(space + 1, &end, 10);
		if (errno || *end != '\n' || !is_wanted(line) ||
		    strlen(line) >= sizeof(counters->name))
			continue;
		counters[nr] = (struct elide_counter){.source = ELIDE_COUNTER_PMU, .value = value};
		strcpy(counters[nr++].name, line);
	}
	return nr;
}

static int put(int fd, const void *bytes, size_t size, uint64_t at)
{
	errno = 0;
	if (pwrite(fd, bytes, size, at) == (ssize_t)size)
		return 0;
	return errno ? -errno : -EIO;
}

/* Counters in a chunk. */
#define EACH ((ELIDE_CHUNK_SIZE - sizeof(struct elide_chunk)) / sizeof(struct elide_counter))

/*
 * Writes a chunk of @nr counters, at most EACH, at the end of the file, then the header's size, so that
 * a reader sees both or neither, then the counts of the header.
 */
static int append(int fd, struct elide_header *h, const struct elide_counter *counters, size_t nr)
{
	_Alignas(64) static char bytes[ELIDE_CHUNK_SIZE];
	struct elide_chunk *c = (struct elide_chunk *)bytes;
	uint32_t nr_chunks = h->nr_chunks[ELIDE_CHUNK_COUNTERS] + 1;
	uint32_t nr_records = h->nr_records[ELIDE_CHUNK_COUNTERS] + nr;
	uint64_t size = h->size + ELIDE_CHUNK_SIZE;
	int rc;

	memset(bytes, 0, sizeof(bytes));
	c->magic = ELIDE_CHUNK_MAGIC;
	c->type = ELIDE_CHUNK_COUNTERS;
	c->record_size = sizeof(*counters);
	c->nr_records = nr;
	c->nr = nr_chunks - 1;
	c->check = ELIDE_CHECK_START;
	for (size_t i = 0; i < nr; i++)
		c->check = elide_record_check(c->check, c->type, &counters[i], sizeof(*counters));
	memcpy(c + 1, counters, nr * sizeof(*counters));
	rc = put(fd, bytes, sizeof(bytes), h->size);
	if (!rc)
		rc = put(fd, &size, sizeof(size), offsetof(struct elide_header, size));
	if (!rc)
		rc = put(fd, &nr_chunks, sizeof(nr_chunks),
			 offsetof(struct elide_header, nr_chunks[ELIDE_CHUNK_COUNTERS]));
	if (!rc)
		rc = put(fd, &nr_records, sizeof(nr_records),
			 offsetof(struct elide_header, nr_records[ELIDE_CHUNK_COUNTERS]));
	h->size = size;
	h->nr_chunks[ELIDE_CHUNK_COUNTERS] = nr_chunks;
	h->nr_records[ELIDE_CHUNK_COUNTERS] = nr_records;
	return rc;
}

int pmu_append(const char *path, pid_t pid, const struct elide_counter *counters, size_t nr)
{
	struct elide_header h;
	int fd = data_open(path, O_RDWR | O_NOFOLLOW), rc;
	char opened[32];

	if (fd < 0)
		return fd;
	/* Writes to the file that was checked, as another one may have its name by now. */
	snprintf(opened, sizeof(opened), "/proc/self/fd/%d", fd);
	rc = load_header(opened, &h);
	if (!rc && h.pid != (uint32_t)pid)
		rc = -ESRCH;
	if (nr > 2 * PMU_EVENTS_MAX)
		nr = 2 * PMU_EVENTS_MAX;
	/* By a library of another version. */
	if (!rc && h.chunk_size != ELIDE_CHUNK_SIZE)
		rc = -EINVAL;
	for (size_t done = 0; !rc && done < nr; done += EACH) {
		/* The file does not grow beyond ELIDE_FILE_MAX. */
		if (h.size + ELIDE_CHUNK_SIZE > ELIDE_HEADER_SIZE + (settings_file_max << 20))
			rc = -EFBIG;
		else
			rc = append(fd, &h, counters + done, nr - done < EACH ? nr - done : EACH);
	}
	close(fd);
	return rc;
}
