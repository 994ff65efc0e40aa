// SPDX-License-Identifier: GPL-2.0-or-later
/* test_abort.c - what is written down of an abort, how equal ones are merged, and who is to blame. */
#include "../../lib/base/heap.h"
#include "../../lib/evidence/holder.h"
#include "../../lib/evidence/pmu.h"
#include "../../lib/state/settings.h"
#include "../../lib/state/tunables.h"
#include "evidence-world.h"

/* A heap as it is known where allocations are sampled: blocks of 64 bytes from 1 GiB on. */
#define HEAP_BASE 0x40000000ull
#define HEAP_SIZE 0x10000000ull

static uint64_t alloc_site = 0x1000;

bool elide_heap_find(uint64_t address, struct elide_heap_block *block)
{
	if (address < HEAP_BASE || address >= HEAP_BASE + HEAP_SIZE)
		return false;
	*block = (struct elide_heap_block){
		.base = address & ~63ull, .size = 64, .nr = 1, .frames = {alloc_site}};
	return true;
}

static void equal_ones_are_merged(void **state)
{
	static uint64_t line[16] __cacheline_aligned;
	struct elide_row *row = row_of((const void *)0x700);
	struct rtmgrind_abort a = conflict;
	struct elide_detail d;
	unsigned int before = LAST(DETAILS, &d);

	elide_tunables.stacks = 1;
	a.line = (uintptr_t)line;
	a.own_addr = (uintptr_t)&line[1];
	a.own_bytes = 0xff00;
	a.other_bytes = 0xf;
	a.read_lines = 5;
	a.write_lines = 7;
	abort_now(row, &a);
	a.own_bytes = 0xf0000;
	a.read_lines = 9;
	a.write_lines = 3;
	a.other_write = 1;
	abort_now(row, &a);
	assert_int_equal(LAST(DETAILS, &d), before + 1);
	assert_int_equal(d.source, ELIDE_DETAIL_EMULATOR);
	assert_int_equal(d.data_type, ELIDE_DATA_STATIC);
	assert_int_equal(d.line, (uintptr_t)line);
	assert_int_equal(d.lock, (uintptr_t)&lock);
	assert_int_equal(d.samples, 2);
	assert_int_equal(d.own_bytes, 0xfff00);
	assert_int_equal(d.other_bytes, 0xf);
	assert_int_equal(d.other_write, 1);
	assert_int_equal(d.read_lines, 5);
	assert_int_equal(d.max_read_lines, 9);
	assert_int_equal(d.max_write_lines, 7);
	/* Another line of static data, instruction, system call: each is another story. */
	a.line = (uintptr_t)&line[8];
	a.own_addr = 0;
	abort_now(row, &a);
	assert_int_equal(LAST(DETAILS, &d), before + 2);
	a.own_pc++;
	abort_now(row, &a);
	assert_int_equal(LAST(DETAILS, &d), before + 3);
	a = (struct rtmgrind_abort){.cause = RTMGRIND_CAUSE_SYSCALL, .syscall_nr = 39};
	abort_now(row, &a);
	assert_int_equal(LAST(DETAILS, &d), before + 4);
	assert_int_equal(d.syscall_nr, 39);
	abort_now(row, NULL);
	assert_int_equal(LAST(DETAILS, &d), before + 5);
	assert_int_equal(d.source, ELIDE_DETAIL_STATUS);
	assert_int_equal(d.syscall_nr, -1);
	elide_tunables.stacks = 64;
}

static int choose_clock(enum elide_pmu_event event, struct perf_event_attr *attr)
{
	attr->type = PERF_TYPE_SOFTWARE;
	attr->config = PERF_COUNT_SW_TASK_CLOCK;
	attr->sample_period = 1ull << 40;
	return 0;
}

/* Where the processor samples aborts, counts still add up. */
static void sampled_by_the_processor(void **state)
{
	static const struct elide_pmu_abort sampled = {0x4000, 123, ELIDE_CAUSE_conflict};
	struct elide_row *row = row_of((const void *)0x900);
	struct elide_sample sample;
	struct elide_detail d;
	void *ring = elide_self->pmu;

	elide_pmu_choose = choose_clock;
	elide_pmu_start(50);
	elide_self->pmu = row; /* it is not looked into here */
	for (int i = 0; i < 1008; i++) {
		const struct elide_aborted a = {
			.lock = &lock,
			.cause = ELIDE_CAUSE_conflict,
			.cycles = 10,
			.sampled = i >= 8 && i % 50 == 0 ? &sampled : NULL,
		};

		row->causes[ELIDE_CAUSE_conflict]++;
		elide_evidence_abort(elide_self, row, &a);
	}
	elide_self->pmu = ring;
	LAST(SAMPLES, &sample);
	assert_int_equal(sample.site, 0x900);
	assert_int_equal(sample.samples, 8 + 20);
	assert_int_equal(sample.count, 8 + 1000);
	LAST(DETAILS, &d);
	assert_int_equal(d.source, ELIDE_DETAIL_PMU);
	assert_int_equal(d.own_pc, 0x4000);
	assert_int_equal(d.site, 0x900);
	assert_int_equal(d.samples, 20);
	assert_int_equal(d.count, 1000);
	assert_int_not_equal(d.abort_stack, 0);
}

static void data_is_named(void **state)
{
	struct elide_row *row = row_of((const void *)0x800);
	struct rtmgrind_abort a = conflict;
	char on_stack[2 * CACHE_LINE];
	void *block = malloc(1 << 20); /* a mapping of its own */
	struct elide_detail d;
	unsigned int before;

	elide_tunables.stacks = 1;
	before = LAST(DETAILS, &d);
	/* A tree's nodes: the same two instructions, the same place of allocation. */
	for (int i = 0; i < 1000; i++) {
		a.line = HEAP_BASE + 64 * i;
		a.own_bytes = 1;
		abort_now(row, &a);
	}
	assert_int_equal(LAST(DETAILS, &d), before + 1);
	assert_int_equal(d.data_type, ELIDE_DATA_HEAP);
	assert_int_equal(d.data_base, HEAP_BASE);
	assert_int_equal(d.data_size, 64);
	assert_true(d.alloc_stack != 0);
	assert_int_equal(d.samples, 1000);
	alloc_site++;
	abort_now(row, &a);
	assert_int_equal(LAST(DETAILS, &d), before + 2);

	a.line = ((uintptr_t)block + CACHE_LINE) & -CACHE_LINE;
	abort_now(row, &a);
	LAST(DETAILS, &d);
	assert_int_equal(d.data_type, ELIDE_DATA_HEAP);
	assert_int_equal(d.data_size, 0);
	a.line = ((uintptr_t)on_stack + CACHE_LINE) & -CACHE_LINE;
	abort_now(row, &a);
	LAST(DETAILS, &d);
	assert_int_equal(d.data_type, ELIDE_DATA_STACK);
	a.line = (uintptr_t)&lock & -CACHE_LINE;
	abort_now(row, &a);
	LAST(DETAILS, &d);
	assert_int_equal(d.data_type, ELIDE_DATA_LOCK);
	a.line = 64;
	abort_now(row, &a);
	LAST(DETAILS, &d);
	assert_int_equal(d.data_type, ELIDE_DATA_UNKNOWN);
	free(block);
	elide_tunables.stacks = 64;
}

static void the_holder_of_a_busy_abort(void **state)
{
	struct elide_row *row = row_of((const void *)0xc00), *held = row_of((const void *)0xd00);
	const struct elide_aborted a = {.lock = &lock, .cause = ELIDE_CAUSE_busy, .cycles = 7};
	struct elide_blame blame;

	elide_process.blames = true;
	/* Who locks is noted from the first abort on. */
	assert_false(elide_process.watch_locked);
	row->causes[ELIDE_CAUSE_busy]++;
	elide_evidence_abort(elide_self, row, &a);
	assert_true(elide_process.watch_locked);
	assert_int_equal(elide_process.hold_mask, 0);
	LAST(BLAME, &blame);
	assert_int_equal(blame.held_site, 0);
	elide_evidence_locked(elide_self, held, &lock);
	row->causes[ELIDE_CAUSE_busy]++;
	elide_evidence_abort(elide_self, row, &a);
	LAST(BLAME, &blame);
	assert_int_equal(blame.type, ELIDE_BLAME_ABORT);
	assert_int_equal(blame.site, 0xc00);
	assert_int_equal(blame.held_site, 0xd00);
	assert_int_equal(blame.count, 1);
	assert_int_equal(blame.cycles, 7);
}

/* A window ends by the thread's acquisitions, none begins in the pause after it, and its notes end with it. */
static void windows(void **state)
{
	struct elide_row *row = row_of((const void *)0xc80), *held = row_of((const void *)0xd80);
	const struct elide_aborted a = {.lock = &lock, .cause = ELIDE_CAUSE_busy, .cycles = 7};
	struct evidence_holder holder;
	unsigned int nr = 0;

	assert_true(elide_process.window);
	elide_evidence_locked(elide_self, held, &lock);
	assert_true(evidence_noted_holder(&lock, &holder));
	assert_int_equal(holder.site, 0xd80);
	while (elide_process.window && nr < 100000) {
		elide_evidence_locked(elide_self, held, &lock);
		nr++;
	}
	assert_in_range(nr, 1, 2000);
	assert_false(elide_process.watch_locked);
	assert_int_equal(elide_process.hold_mask, ~0ull);
	assert_false(evidence_noted_holder(&lock, &holder));
	row->causes[ELIDE_CAUSE_busy]++;
	elide_evidence_abort(elide_self, row, &a);
	assert_false(elide_process.window);
	elide_process.blames = false;
}

/* Last: the tables are full after it. */
static void full_tables_are_counted(void **state)
{
	struct elide_row *row = row_of((const void *)0x1100);
	struct rtmgrind_abort a = conflict;
	struct elide_detail d;
	unsigned int before = LAST(DETAILS, &d), nr;

	elide_tunables.stacks = 1;
	for (int i = 0; i < EVIDENCE_BOUND + 100; i++) {
		a.own_pc = 0x10000 + i;
		abort_now(row, &a);
	}
	nr = LAST(DETAILS, &d);
	assert_int_equal(nr, EVIDENCE_BOUND);
	assert_int_equal(elide_data->dropped[ELIDE_DROPPED_DETAILS], 100 + before);
	/* What is in the table is still found. */
	a.own_pc = 0x10000;
	abort_now(row, &a);
	assert_int_equal(elide_data->dropped[ELIDE_DROPPED_DETAILS], 100 + before);
	elide_tunables.stacks = 64;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(equal_ones_are_merged),
		cmocka_unit_test(sampled_by_the_processor),
		cmocka_unit_test(data_is_named),
		cmocka_unit_test(the_holder_of_a_busy_abort),
		cmocka_unit_test(windows),
		cmocka_unit_test(full_tables_are_counted),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
