// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test_hint.c - loads sampled in locked sections, as hints in the data file.
 *
 * The samples are made up, in a ring of memory.
 */
#include <unistd.h>

#include "unit.h"
#include "../../lib/base/datafile-writer.h"
#include "../../lib/base/heap.h"
#include "../../lib/section/engine.h"
#include "../../lib/evidence/abort.h"
#include "../../lib/evidence/evidence.h"
#include "../../lib/life/fill.h"
#include "../../lib/state/gate.h"
#include "../../lib/section/locked.h"
#include "../../lib/state/settings.h"
#include "../../lib/state/wiped.h"
#include "own-data.h"

__attribute__((constructor(101))) static void environment(void)
{
	own_data("profile");
	setenv("ELIDE_STACKS", "64", 1);
}

/* Blocks of 64 bytes from 1 GiB on. */
#define HEAP_BASE 0x40000000ull
#define HEAP_SIZE 0x10000000ull

bool elide_heap_find(uint64_t address, struct elide_heap_block *block)
{
	if (address < HEAP_BASE || address >= HEAP_BASE + HEAP_SIZE)
		return false;
	*block = (struct elide_heap_block){
		.base = address & ~63ull, .size = 64, .nr = 1, .frames = {0x1000}};
	return true;
}

static uint32_t lock, inner_lock;
static uint64_t word[16];
static struct perf_event_mmap_page *ring;

static struct elide_row *row_of(const void *site, enum elide_kind kind)
{
	struct elide_call *call = elide_call_get(&lock, site, kind);

	assert_non_null(call);
	return elide_call_row(call);
}

/* The number of details in the file, and the last one. */
static unsigned int details(struct elide_detail *d)
{
	unsigned int nr = 0;

	for (uint64_t at = ELIDE_HEADER_SIZE; at < elide_data->size; at += ELIDE_CHUNK_SIZE) {
		const struct elide_chunk *chunk = (const void *)((const char *)elide_data + at);
		const struct elide_detail *record = (const void *)(chunk + 1);

		if (chunk->type != ELIDE_CHUNK_DETAILS || !chunk->nr_records)
			continue;
		nr += chunk->nr_records;
		*d = record[chunk->nr_records - 1];
	}
	return nr;
}

static void sampled(uint64_t ip, uint64_t address)
{
	const struct {
		struct perf_event_header h;
		struct elide_pmu_load s;
	} r = {{PERF_RECORD_SAMPLE, 0, sizeof(r)}, {ip, address, 0}};

	for (size_t i = 0; i < sizeof(r); i++)
		((char *)ring + 4096)[ring->data_head++ % 4096] = ((const char *)&r)[i];
}

/* A section in which a load is sampled. */
static void section(struct elide_row *row, uint64_t ip, uint64_t address)
{
	elide_locked_begin(elide_self, row, &lock, true);
	sampled(ip, address);
	elide_locked_end(elide_self, &lock);
}

static int eliding(void **state)
{
	row_of((const void *)0x100, ELIDE_KIND_MUTEX);
	elide_process.mode = ELIDE_RUN_ELIDE;
	if (!ring)
		ring = elide_wiped_alloc(2 * 4096);
	assert_non_null(ring);
	elide_self->loads = ring;
	return 0;
}

static void of_the_section_alone(void **state)
{
	struct elide_row *row = row_of((const void *)0x200, ELIDE_KIND_MUTEX);
	struct elide_detail d;
	unsigned int before = details(&d);

	row->causes[ELIDE_CAUSE_conflict] = 1;
	/* Before and after it. */
	sampled(0x2000, (uintptr_t)&word[1]);
	elide_locked_begin(elide_self, row, &lock, true);
	elide_locked_end(elide_self, &lock);
	sampled(0x2000, (uintptr_t)&word[1]);
	elide_locked_end(elide_self, &lock);
	assert_int_equal(details(&d), before);

	section(row, 0x2000, (uintptr_t)&word[1]);
	assert_int_equal(details(&d), before + 1);
	assert_int_equal(d.source, ELIDE_DETAIL_HINT);
	assert_int_equal(d.cause, ELIDE_CAUSE_conflict);
	assert_int_equal(d.class_index, row->class_index);
	assert_int_equal(d.kind, ELIDE_KIND_MUTEX);
	assert_int_equal(d.site, 0x200);
	assert_int_equal(d.own_pc, 0x2000);
	assert_int_equal(d.line, (uintptr_t)&word[1] & -64);
	assert_int_equal(d.own_bytes, 1ull << (uintptr_t)&word[1] % 64);
	assert_int_equal(d.data_type, ELIDE_DATA_STATIC);
	assert_int_equal(d.lock, (uintptr_t)&lock);
	assert_int_equal(d.samples, 1);
	assert_int_equal(d.count, 0);
	assert_int_equal(d.cycles, 0);
	assert_int_equal(d.syscall_nr, -1);
	assert_int_equal(d.other_pc | d.other_bytes | d.other_class | d.own_stack, 0);
	/* The same again, and another byte of the line. */
	section(row, 0x2000, (uintptr_t)&word[1]);
	section(row, 0x2000, (uintptr_t)&word[1] + 1);
	assert_int_equal(details(&d), before + 1);
	assert_int_equal(d.samples, 3);
	assert_int_equal(d.count, 0);
	assert_int_equal(d.own_bytes, 3ull << (uintptr_t)&word[1] % 64);
}

/* A lock inside changes nothing: conflicts are the outermost call's. */
static void of_the_outermost(void **state)
{
	struct elide_row *outer = row_of((const void *)0x300, ELIDE_KIND_RWLOCK_WRITE);
	struct elide_row *inner = row_of((const void *)0x310, ELIDE_KIND_MUTEX);
	struct elide_detail d;
	unsigned int before = details(&d);

	outer->causes[ELIDE_CAUSE_conflict] = inner->causes[ELIDE_CAUSE_conflict] = 1;
	elide_locked_begin(elide_self, outer, &lock, true);
	elide_locked_begin(elide_self, inner, &inner_lock, true);
	sampled(0x3000, HEAP_BASE + 8);
	elide_locked_end(elide_self, &inner_lock);
	assert_int_equal(details(&d), before);
	elide_locked_end(elide_self, &lock);
	assert_int_equal(details(&d), before + 1);
	assert_int_equal(d.site, 0x300);
	assert_int_equal(d.kind, ELIDE_KIND_RWLOCK_WRITE);
	assert_int_equal(d.data_type, ELIDE_DATA_HEAP);
	assert_int_equal(d.data_base, HEAP_BASE);
	assert_int_equal(d.data_size, 64);
	assert_int_not_equal(d.alloc_stack, 0);
	/* The line of the lock itself. */
	section(outer, 0x3000, (uintptr_t)&lock);
	assert_int_equal(details(&d), before + 2);
	assert_int_equal(d.data_type, ELIDE_DATA_LOCK);
}

/* No conflicts to look for; a custom lock, whose end is not known; nothing that elides. */
static void of_no_use(void **state)
{
	struct elide_row *quiet = row_of((const void *)0x400, ELIDE_KIND_MUTEX);
	struct elide_row *custom = row_of((const void *)0x410, ELIDE_KIND_CUSTOM);
	struct elide_detail d;
	unsigned int before = details(&d);

	quiet->causes[ELIDE_CAUSE_capacity] = 1;
	section(quiet, 0x4000, HEAP_BASE);
	custom->causes[ELIDE_CAUSE_conflict] = 1;
	section(custom, 0x4000, HEAP_BASE);
	quiet->causes[ELIDE_CAUSE_conflict] = 1;
	elide_process.mode = ELIDE_RUN_PROFILE;
	section(quiet, 0x4000, HEAP_BASE);
	elide_process.mode = ELIDE_RUN_ELIDE;
	elide_self->loads = NULL;
	section(quiet, 0x4000, HEAP_BASE);
	assert_int_equal(details(&d), before);
	elide_self->loads = ring;
	section(quiet, 0x4000, HEAP_BASE);
	assert_int_equal(details(&d), before + 1);
}

/* However many there are, there is room for what is known of aborts. */
static void are_bounded(void **state)
{
	struct elide_row *row = row_of((const void *)0x500, ELIDE_KIND_MUTEX);
	const struct elide_aborted a = {.lock = &lock, .cause = ELIDE_CAUSE_capacity};
	uint64_t dropped = elide_data->dropped[ELIDE_DROPPED_DETAILS];
	struct elide_detail d;
	unsigned int before = details(&d), after;

	row->causes[ELIDE_CAUSE_conflict] = row->causes[ELIDE_CAUSE_capacity] = 1;
	for (unsigned int i = 0; i < 2000; i++)
		section(row, 0x5000 + i, HEAP_BASE);
	after = details(&d);
	assert_in_range(after, 1000, 1024);
	assert_int_equal(elide_data->dropped[ELIDE_DROPPED_DETAILS] - dropped,
			 2000 - (after - before));
	elide_evidence_abort(elide_self, row, &a);
	assert_int_equal(details(&d), after + 1);
	assert_int_equal(d.source, ELIDE_DETAIL_STATUS);
}

static int setup(void **state)
{
	/* Pulls the library's constructor in. */
	elide_status(NULL);
	return !elide_evidence;
}

static int teardown(void **state)
{
	return unlink(elide_data_path());
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(of_the_section_alone, eliding),
		cmocka_unit_test_setup(of_the_outermost, eliding),
		cmocka_unit_test_setup(of_no_use, eliding),
		cmocka_unit_test_setup(are_bounded, eliding),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
