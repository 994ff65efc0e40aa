// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * load-log.c - a buffered log under one mutex: most sections copy a record, some write the buffer
 * to a file.
 *
 * The file is /dev/null; what was written is summed up before.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "load.h"

#define RECORD_WORDS 8
#define RECORDS_MAX  4096

struct record {
	uint64_t words[RECORD_WORDS];
} __attribute__((aligned(CACHE_LINE)));

static union lock common;
static struct record *buffer;
static uint32_t nr_max, nr;
static uint64_t written;
static int file;

static void init(void)
{
	nr_max = numbers.every < RECORDS_MAX ? numbers.every : RECORDS_MAX;
	buffer = lines_of(nr_max * sizeof(*buffer));
	lock_init(&common, 0);
	file = open("/dev/null", O_WRONLY | O_CLOEXEC);
	if (file < 0)
		abort();
}

/* Of the records in the buffer; one of which half was written adds something else. */
static uint64_t buffered(void)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < nr && i < nr_max; i++)
		sum += buffer[i].words[0] ^ buffer[i].words[1] ^ buffer[i].words[RECORD_WORDS - 1];
	return sum;
}

static bool sum(uint64_t *sum)
{
	*sum = written + buffered();
	return true;
}

const struct family family_log = { .init = init, .sum = sum };

static inline void flush(void)
{
	written += buffered();
	if (write(file, buffer, nr_max * sizeof(*buffer)) < 0)
		abort();
	nr = 0;
}

site void load_log(struct worker *w)
{
	uint32_t value = draw(w, 1000);
	struct record *record;

	lock_acquire(&common, &w->guard);
	record = &buffer[nr < nr_max ? nr : 0];
	for (unsigned int i = 0; i < RECORD_WORDS; i++)
		record->words[i] = value;
	spend(numbers.work);
	if (++nr >= nr_max)
		flush();
	lock_release(&common, &w->guard);
	w->added += value;
}
