/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * evidence-world.h - aborts that are made up, and what they leave in the data file of the test.
 *
 * The records of an abort are those the emulator would give.
 */
#ifndef TEST_EVIDENCE_WORLD_H
#define TEST_EVIDENCE_WORLD_H

#include <pthread.h>
#include <unistd.h>

#include "unit.h"
#include "../../lib/base/datafile-writer.h"
#include "../../lib/evidence/abort.h"
#include "../../lib/evidence/evidence.h"
#include "../../lib/life/fill.h"
#include "../../lib/section/engine.h"
#include "../../lib/state/gate.h"
#include "own-data.h"

__attribute__((constructor(101))) static void environment(void)
{
	own_data("profile");
	setenv("ELIDE_STACKS", "64", 1);
}

static uint32_t lock __attribute__((unused));

/* The row of a lock call that this thread has made at @site. */
static inline struct elide_row *row_of(const void *site)
{
	struct elide_call *call = elide_call_get(&lock, site, ELIDE_KIND_MUTEX);

	assert_non_null(call);
	return elide_call_row(call);
}

/* The number of records of a type in the file; @found is set to the last one. */
static inline unsigned int records(enum elide_chunk_type type, void *found, size_t size)
{
	unsigned int nr = 0;

	for (uint64_t at = ELIDE_HEADER_SIZE; at < elide_data->size; at += ELIDE_CHUNK_SIZE) {
		const struct elide_chunk *chunk = (const void *)((const char *)elide_data + at);
		const char *record = (const char *)(chunk + 1);

		if (chunk->type != type || !chunk->nr_records)
			continue;
		assert_int_equal(chunk->record_size, size);
		nr += chunk->nr_records;
		memcpy(found, record + (chunk->nr_records - 1) * size, size);
	}
	return nr;
}

#define LAST(type, record) records(ELIDE_CHUNK_##type, record, sizeof(*(record)))

static const struct rtmgrind_abort conflict __attribute__((unused)) = {
	.cause = RTMGRIND_CAUSE_CONFLICT,
	.syscall_nr = -1,
	.own_pc = 0x2000,
	.other_pc = 0x3000,
};

static inline void abort_now(struct elide_row *row, const struct rtmgrind_abort *detail)
{
	const struct elide_aborted a = {
		.lock = &lock, .cause = ELIDE_CAUSE_conflict, .cycles = 10,
		.brief = (const struct rtmgrind_brief *)detail, .detail = detail};

	row->causes[ELIDE_CAUSE_conflict]++;
	elide_evidence_abort(elide_self, row, &a);
}

/* A thread in a global-lock path, between the two times that the other waits for the barrier. */
static inline void stay(void *barrier)
{
	pthread_barrier_wait(barrier);
	pthread_barrier_wait(barrier);
}

static inline void *slow_path(void *barrier)
{
	return elide_global_run(stay, barrier) ? barrier : NULL;
}

static inline int setup(void **state)
{
	/* Pulls the library's constructor in. */
	elide_status(NULL);
	return !elide_evidence;
}

static inline int teardown(void **state)
{
	return unlink(elide_data_path());
}

#endif
