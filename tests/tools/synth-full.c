// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * synth-full.c - a data file with everything that can be sampled, one row for each cause.
 *
 * Must never share code with the reader it tests.
 */
#include <signal.h>

#include "../../lib/compiler.h"
#include "synth.h"

/* Stacks of the file, counted from 1. */
enum {
	STACK_INSERT = 1, /* a lock call: insert, called by the inlined guard of user */
	STACK_LOOKUP,
	STACK_COUNT, /* at an instruction */
	STACK_CREATE,
	STACK_USER,
	NR_STACKS = STACK_USER
};

/* A heap block that is nowhere, on two lines. */
#define BLOCK      0x7e0000000040ull
#define BLOCK_SIZE 96

/* Cycles of the file begin here, half a nanosecond each: see synth.c. */
#define START_CYCLES 5000000000ull

static void add_stacks(struct synth *s, const struct subject_sites *sites)
{
	const struct elide_stack stacks[NR_STACKS] = {
		{.nr_frames = 2, .frames = {sites->insert, sites->inlined}},
		{.nr_frames = 1, .frames = {sites->lookup}},
		{.nr_frames = 3, .exact = 1,
		 .frames = {sites->count, sites->lookup, sites->inlined}},
		{.nr_frames = 1, .frames = {sites->create}},
		/* The last frame is of no object. */
		{.nr_frames = 2, .frames = {sites->inlined, 0x1000}},
	};

	for (int i = 0; i < NR_STACKS; i++)
		synth_add(s, ELIDE_CHUNK_STACKS, &stacks[i], sizeof(stacks[i]));
}

static void add_rows(struct synth *s, const struct subject_sites *sites)
{
	const struct elide_class quiet = {ELIDE_CLASS_STATIC, ELIDE_KIND_MUTEX,
					  (uint64_t)&subject_quiet_lock, 1, 0, 0};
	struct elide_row rows[] = {
		/* PAUSE */
		{.class_index = 0, .site = sites->lookup, .fallback = 90, .commits = 10,
		 .wasted_cycles = 70000, .causes[ELIDE_CAUSE_instruction] = 270,
		 .causes[ELIDE_CAUSE_conflict] = 60},
		/* pages touched first */
		{.class_index = 1, .site = sites->create, .fallback = 40, .commits = 60,
		 .wasted_cycles = 60000, .causes[ELIDE_CAUSE_fault] = 80},
		/* aborted by another call that falls back */
		{.class_index = 2, .site = sites->lookup, .fallback = 50, .commits = 150,
		 .contended = 20, .wasted_cycles = 50000, .wait = {20, 60000, 500, 9000},
		 .causes[ELIDE_CAUSE_busy] = 300},
		/* a set of the cache */
		{.class_index = 2, .site = sites->create, .fallback = 30, .commits = 70,
		 .wasted_cycles = 40000, .causes[ELIDE_CAUSE_capacity] = 60},
		/* nothing contends */
		{.class_index = 3, .site = sites->create, .commits = 1000},
		/* blocks that share a line, and a lock inside */
		{.class_index = 2, .site = sites->insert, .fallback = 5, .commits = 95,
		 .wasted_cycles = 30000,
		 .causes[ELIDE_CAUSE_conflict] = 40, .causes[ELIDE_CAUSE_inner_busy] = 20},
	};

	synth_add(s, ELIDE_CHUNK_CLASSES, &quiet, sizeof(quiet));
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		rows[i].kind = rows[i].class_index == 1 ? ELIDE_KIND_RWLOCK_READ : ELIDE_KIND_MUTEX;
		rows[i].state = ELIDE_STATE_ELIDING;
		synth_add(s, ELIDE_CHUNK_ROWS, &rows[i], sizeof(rows[i]));
	}
}

static void add_samples(struct synth *s, const struct subject_sites *sites)
{
	const struct elide_sample samples[] = {
		{0, ELIDE_KIND_MUTEX, ELIDE_SAMPLE_ABORT, sites->insert, STACK_INSERT, 10, 640,
		 700000},
		{0, ELIDE_KIND_MUTEX, ELIDE_SAMPLE_ABORT, sites->insert, STACK_USER, 2, 128, 200000},
		{0, ELIDE_KIND_MUTEX, ELIDE_SAMPLE_WAIT, sites->insert, STACK_INSERT, 3, 192,
		 500000},
		{0, ELIDE_KIND_MUTEX, ELIDE_SAMPLE_BLOCK, sites->insert, STACK_LOOKUP, 3, 192, 0},
		{0, ELIDE_KIND_MUTEX, ELIDE_SAMPLE_ABORT, sites->lookup, STACK_LOOKUP, 4, 256,
		 60000},
		{2, ELIDE_KIND_MUTEX, ELIDE_SAMPLE_WAIT, sites->lookup, STACK_LOOKUP, 1, 20, 60000},
	};

	for (size_t i = 0; i < ARRAY_SIZE(samples); i++)
		synth_add(s, ELIDE_CHUNK_SAMPLES, &samples[i], sizeof(samples[i]));
}

static void add_details(struct synth *s, const struct subject_sites *sites)
{
	const uint64_t line = (uint64_t)&subject_reads;
	struct elide_detail details[] = {
		/* false sharing of two variables */
		{.class_index = 0, .cause = ELIDE_CAUSE_conflict, .site = sites->insert,
		 .data_type = ELIDE_DATA_STATIC, .other_write = 1, .other_kind = ELIDE_KIND_MUTEX,
		 .other_class = 1, .samples = 8, .count = 512, .cycles = 500000,
		 .own_pc = sites->count, .other_pc = sites->drain, .other_site = sites->lookup,
		 .line = line, .own_bytes = 0xff, .other_bytes = 0xff00, .own_written = 0xff,
		 .other_written = 0xff00, .own_stack = STACK_INSERT,
		 .other_stack = STACK_LOOKUP, .read_lines = 5, .write_lines = 2,
		 .max_read_lines = 9, .max_write_lines = 3},
		/* the same line, true sharing, by code outside of any section */
		{.class_index = 0, .cause = ELIDE_CAUSE_conflict, .site = sites->insert,
		 .data_type = ELIDE_DATA_STATIC, .samples = 1, .count = 64, .cycles = 60000,
		 .own_pc = sites->count, .other_pc = sites->count, .line = line, .own_bytes = 0xff,
		 .other_bytes = 0x0f, .own_stack = STACK_INSERT, .read_lines = 4, .write_lines = 1,
		 .max_read_lines = 4, .max_write_lines = 1},
		{.class_index = 0, .cause = ELIDE_CAUSE_syscall, .site = sites->insert,
		 .samples = 3, .count = 192, .cycles = 90000, .own_pc = sites->count,
		 .syscall_nr = 1, .own_stack = STACK_INSERT, .abort_stack = STACK_COUNT},
		{.class_index = 0, .cause = ELIDE_CAUSE_instruction, .site = sites->lookup,
		 .samples = 4, .count = 256, .cycles = 60000, .own_pc = (uint64_t)subject_pause,
		 .own_stack = STACK_LOOKUP, .abort_stack = STACK_COUNT},
		{.class_index = 1, .cause = ELIDE_CAUSE_fault, .site = sites->create, .samples = 2,
		 .count = 80, .cycles = 50000, .own_pc = sites->count,
		 .fault_addr = (uint64_t)&subject_table, .abort_stack = STACK_COUNT},
		{.class_index = 2, .cause = ELIDE_CAUSE_capacity, .site = sites->create,
		 .samples = 2, .count = 60, .cycles = 40000, .own_pc = sites->count, .line = BLOCK,
		 .own_bytes = 1, .data_type = ELIDE_DATA_HEAP, .data_base = BLOCK,
		 .data_size = BLOCK_SIZE, .alloc_stack = STACK_CREATE, .read_lines = 20,
		 .write_lines = 9, .max_read_lines = 22, .max_write_lines = 9, .cache_set = 17,
		 .cache_ways = 9},
		/* two blocks on one line */
		{.class_index = 2, .cause = ELIDE_CAUSE_conflict, .site = sites->insert,
		 .data_type = ELIDE_DATA_HEAP, .other_write = 1, .other_kind = ELIDE_KIND_MUTEX,
		 .other_class = 3, .samples = 2, .count = 40, .cycles = 20000,
		 .own_pc = sites->count, .other_pc = sites->drain, .other_site = sites->insert,
		 .line = BLOCK + 64, .own_bytes = 0xff000000, .other_bytes = 0xff0000000000,
		 .data_base = BLOCK, .data_size = BLOCK_SIZE, .alloc_stack = STACK_CREATE},
		/* hints: at a line that is known, and at one that nothing else is known of */
		{.class_index = 0, .cause = ELIDE_CAUSE_conflict, .site = sites->insert,
		 .data_type = ELIDE_DATA_STATIC, .samples = 7, .own_pc = sites->count,
		 .line = line, .own_bytes = 1},
		{.class_index = 0, .cause = ELIDE_CAUSE_conflict, .site = sites->lookup,
		 .data_type = ELIDE_DATA_HEAP, .samples = 3, .own_pc = sites->drain,
		 .line = BLOCK, .own_bytes = 1ull << 16, .data_base = BLOCK,
		 .data_size = BLOCK_SIZE, .alloc_stack = STACK_CREATE},
	};

	for (size_t i = 0; i < ARRAY_SIZE(details); i++) {
		struct elide_detail *d = &details[i];

		d->kind = d->class_index == 1 ? ELIDE_KIND_RWLOCK_READ : ELIDE_KIND_MUTEX;
		d->source = d->count ? ELIDE_DETAIL_EMULATOR : ELIDE_DETAIL_HINT;
		if (d->cause != ELIDE_CAUSE_syscall)
			d->syscall_nr = -1;
		synth_add(s, ELIDE_CHUNK_DETAILS, d, sizeof(*d));
	}
}

static void add_blames(struct synth *s, const struct subject_sites *sites)
{
	const struct elide_blame blames[] = {
		{2, ELIDE_KIND_MUTEX, ELIDE_BLAME_ABORT, sites->lookup, 2, ELIDE_KIND_MUTEX, 0,
		 sites->create, 0, 0, 4, 240, 40000},
		{2, ELIDE_KIND_MUTEX, ELIDE_BLAME_ABORT, sites->lookup, 2, ELIDE_KIND_MUTEX, 0,
		 sites->insert, 0, 0, 1, 60, 10000},
		{2, ELIDE_KIND_MUTEX, ELIDE_BLAME_WAIT, sites->lookup, 2, ELIDE_KIND_NONE, 0, 0, 0, 0,
		 1, 20, 60000},
		{2, ELIDE_KIND_MUTEX, ELIDE_BLAME_INNER, sites->insert, 1, ELIDE_KIND_RWLOCK_WRITE,
		 0, sites->insert, 0, 0, 1, 20, 5000},
	};

	for (size_t i = 0; i < ARRAY_SIZE(blames); i++)
		synth_add(s, ELIDE_CHUNK_BLAME, &blames[i], sizeof(blames[i]));
}

static void add_events(struct synth *s, const struct subject_sites *sites)
{
	/* Not in the order of time. */
	const struct elide_event events[] = {
		{.time = START_CYCLES + 2000000000, .kind = ELIDE_KIND_MUTEX,
		 .type = ELIDE_EVENT_RESUMED, .site = sites->insert, .tries = 3, .fails = 0},
		{.time = START_CYCLES + 1000000000, .kind = ELIDE_KIND_MUTEX,
		 .type = ELIDE_EVENT_PAUSED, .site = sites->insert, .a = 256, .tries = 64,
		 .fails = 40},
		{.time = START_CYCLES + 5000000000, .type = ELIDE_EVENT_OFF},
	};

	for (size_t i = 0; i < ARRAY_SIZE(events); i++)
		synth_add(s, ELIDE_CHUNK_TIMELINE, &events[i], sizeof(events[i]));
}

static void add_counters(struct synth *s)
{
	const struct elide_counter counters[] = {
		{ELIDE_COUNTER_PMU, 0, 16620, 3000000000, 3000000000, "tx-start"},
		{ELIDE_COUNTER_PCM, 0, 15780, 3000000000, 1500000000, "tx-commit"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(counters); i++)
		synth_add(s, ELIDE_CHUNK_COUNTERS, &counters[i], sizeof(counters[i]));
}

void synth_full(struct synth *s, const struct subject_sites *sites)
{
	add_stacks(s, sites);
	add_rows(s, sites);
	add_samples(s, sites);
	add_details(s, sites);
	add_blames(s, sites);
	add_events(s, sites);
	add_counters(s);
	synth_header(s)->dropped[ELIDE_DROPPED_DETAILS] = 5;
	synth_seal(s);
}
