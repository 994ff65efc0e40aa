// SPDX-License-Identifier: GPL-2.0-or-later
/* room.c - see room.h. */
#include <stdint.h>
#include <stdio.h>

#include "room.h"

/* The bounds of each setting. */
#define ELIDE_UINT(name, NAME, scope, min, max, def, unit, help) \
	enum { LEAST_##NAME = min, MOST_##NAME = max, DEFAULT_##NAME = def };
#define ELIDE_ENUM(name, NAME, scope, values, def, help)
#define ELIDE_SET(name, NAME, scope, values, def, help)
#define ELIDE_STR(name, NAME, scope, def, help)
#include "../../lib/tunables.def"
#undef ELIDE_UINT
#undef ELIDE_ENUM
#undef ELIDE_SET
#undef ELIDE_STR

/* The least power of two above @n, within the bounds of a setting. */
static unsigned long long more_than(uint64_t n, uint64_t least, uint64_t most)
{
	uint64_t p = 1;

	while (p <= n && p < most)
		p *= 2;
	return p < least ? least : p > most ? most : p;
}

static uint64_t nr_locks(const struct data_file *file)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < file->nr_classes; i++)
		sum += file->classes[i].nr_locks;
	return sum;
}

/* Blocks of threads; records of ended threads have none. */
static uint64_t nr_blocks(const struct data_file *file)
{
	uint64_t nr = 0;

	for (size_t i = 0; i < file->nr_threads; i++)
		nr += file->threads[i].state != ELIDE_THREAD_PAST;
	return nr;
}

/*
 * A thread has no row for a call because its table is full, or because the file is full: then the size of
 * the file is less than a step of growth below a whole number of MiB.
 */
static void rows_text(const struct data_file *file, char *text, size_t size)
{
	const uint64_t mib = 1 << 20, unit = 65 * ELIDE_CHUNK_SIZE;
	uint64_t end = file->header.size;

	if (end % mib && mib - end % mib >= unit)
		snprintf(text, size, " of a thread, 768, which no setting changes");
	else
		snprintf(text, size, "; set ELIDE_FILE_MAX=%llu",
			 more_than(end / mib + 1, LEAST_FILE_MAX, MOST_FILE_MAX));
}

void room_text(const struct data_file *file, unsigned int what, char *text, size_t size)
{
	switch (what) {
	case ELIDE_DROPPED_LOCKS:
		snprintf(text, size, "; set ELIDE_MAX_LOCKS=%llu",
			 more_than(nr_locks(file), LEAST_MAX_LOCKS, MOST_MAX_LOCKS));
		break;
	case ELIDE_DROPPED_THREADS:
		snprintf(text, size, "; set ELIDE_MAX_THREADS=%llu",
			 more_than(nr_blocks(file) + file->header.dropped[what], LEAST_MAX_THREADS,
				   MOST_MAX_THREADS));
		break;
	case ELIDE_DROPPED_ROWS:
		rows_text(file, text, size);
		break;
	case ELIDE_DROPPED_STACKS:
	case ELIDE_DROPPED_DETAILS:
		snprintf(text, size, "; set ELIDE_STACKS=%d for fewer samples", 16 * DEFAULT_STACKS);
		break;
	default:
		snprintf(text, size, ", which no setting changes");
	}
}
