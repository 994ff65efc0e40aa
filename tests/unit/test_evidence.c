// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test_evidence.c - what is sampled of aborts and waits, and how it is merged.
 *
 * Aborts are made up here: the records are those the emulator would give.
 */
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "../../lib/base/datafile-writer.h"
#include "../../lib/section/engine.h"
#include "../../lib/evidence/decisions.h"
#include "../../lib/evidence/evidence.h"
#include "../../lib/evidence/moments.h"
#include "../../lib/life/fill.h"
#include "../../lib/state/gate.h"
#include "../../lib/state/settings.h"
#include "../../lib/evidence/stack.h"
#include "../../lib/state/tunables.h"
#include "../../lib/state/wiped.h"
#include "child.h"
#include "own-data.h"

__attribute__((constructor(101))) static void environment(void)
{
	own_data("profile");
	setenv("ELIDE_STACKS", "64", 1);
}

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

static uint32_t lock;

/* The row of a lock call that this thread has made at @site. */
static struct elide_row *row_of(const void *site)
{
	struct elide_call *call = elide_call_get(&lock, site, ELIDE_KIND_MUTEX);

	assert_non_null(call);
	return elide_row(call);
}

/* The number of records of a type in the file; @found is set to the last one. */
static unsigned int records(enum elide_chunk_type type, void *found, size_t size)
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

static const struct rtmgrind_abort conflict = {
	.cause = RTMGRIND_CAUSE_CONFLICT,
	.syscall_nr = -1,
	.own_pc = 0x2000,
	.other_pc = 0x3000,
};

static void abort_now(struct elide_row *row, const struct rtmgrind_abort *detail)
{
	const struct elide_aborted a = {
		.lock = &lock, .cause = ELIDE_CAUSE_conflict, .cycles = 10,
		.brief = (const struct rtmgrind_brief *)detail, .detail = detail};

	row->causes[ELIDE_CAUSE_conflict]++;
	elide_evidence_abort(elide_self, row, &a);
}

static void weights_add_up(void **state)
{
	static const uint32_t periods[] = {1, 2, 64, 1000};
	static const uint64_t nr = 4000000;

	row_of((const void *)0x500);
	for (unsigned int i = 0; i < ARRAY_SIZE(periods); i++) {
		uint64_t sum = 0, looked_at = 0, weight;

		elide_tunables.stacks = periods[i];
		for (uint64_t n = 1; n <= nr; n++) {
			weight = elide_evidence_weight(elide_self, n);
			assert_true(weight == 0 || weight == (n <= elide_self->first_seen ? 1 : periods[i]));
			assert_true(weight || n > elide_self->first_seen);
			sum += weight;
			looked_at += weight != 0;
		}
		/* The deviation of the sum is the root of nr * period, 1.6 % here at most. */
		assert_in_range(sum, nr - nr / 16, nr + nr / 16);
		assert_in_range(looked_at, nr / periods[i] * 15 / 16, nr / periods[i] * 17 / 16 + 8);
	}
	elide_tunables.stacks = 64;
}

/* Sums of few events are right, too, in the first threads, in later ones, and in those after many. */
static void few_weights_add_up(void **state)
{
	static const uint64_t trials = 20000, nr = 200;
	uint32_t first = elide_self->first_seen;

	assert_int_equal(elide_evidence_first(1), 8);
	assert_int_equal(elide_evidence_first(4), 8);
	assert_int_equal(elide_evidence_first(5), 1);
	assert_int_equal(elide_evidence_first(256), 1);
	assert_int_equal(elide_evidence_first(257), 0);
	for (unsigned int i = 0; i < 3; i++) {
		uint64_t sum = 0;

		elide_self->first_seen = (uint32_t[]){0, 1, 8}[i];
		for (uint64_t trial = 0; trial < trials; trial++)
			for (uint64_t n = 1; n <= nr; n++)
				sum += elide_evidence_weight(elide_self, n);
		/* One trial's deviation is 112, that of their mean 0.4 %. */
		assert_in_range(sum, trials * nr * 98 / 100, trials * nr * 102 / 100);
	}
	elide_self->first_seen = first;
}

static void *first_of_thread(void *first)
{
	row_of((const void *)0x580);
	*(uint32_t *)first = elide_self->first_seen;
	return NULL;
}

/* The first four threads of the process look at eight, as many as there are after them at one. */
static void further_threads_sample_one(void **state)
{
	assert_int_equal(elide_self->first_seen, 8);
	for (uint32_t nr = elide_data->nr_threads + 1; nr <= 8; nr++) {
		pthread_t thread;
		uint32_t first;

		assert_int_equal(pthread_create(&thread, NULL, first_of_thread, &first), 0);
		assert_int_equal(pthread_join(thread, NULL), 0);
		assert_int_equal(elide_data->nr_threads, nr);
		assert_int_equal(first, nr <= 4 ? 8 : 1);
	}
}

/* The counts of a row's samples converge on its aborts, however they were sampled. */
static void counts_are_unbiased(void **state)
{
	struct elide_row *row = row_of((const void *)0x600);
	struct elide_sample sample;
	struct elide_detail detail;

	for (int i = 0; i < 300000; i++)
		abort_now(row, &conflict);
	LAST(SAMPLES, &sample);
	LAST(DETAILS, &detail);
	assert_int_equal(sample.site, 0x600);
	assert_int_equal(sample.type, ELIDE_SAMPLE_ABORT);
	assert_in_range(sample.count, 300000 * 0.94, 300000 * 1.06);
	assert_int_equal(sample.cycles, sample.count * 10);
	assert_true(sample.samples < 300000 / 50);
	assert_int_equal(detail.count, sample.count);
	assert_int_equal(detail.samples, sample.samples);
	assert_int_equal(detail.cycles, sample.cycles);
	assert_int_equal(detail.own_stack, sample.stack);
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

/* A stack begins with the call that has entered the library. */
static void __noinline lock_call(struct elide_stack *stack)
{
	stack->nr_frames = elide_stack_take(stack->frames, __builtin_return_address(0));
}

static int __noinline outer_function(struct elide_stack *stack)
{
	lock_call(stack);
	return stack->nr_frames;
}

static void stacks_begin_at_the_call(void **state)
{
	struct elide_stack stack;
	uintptr_t start = (uintptr_t)outer_function;

	assert_in_range(outer_function(&stack), 3, ELIDE_STACK_FRAMES);
	assert_in_range(stack.frames[0], start, start + 64);
	start = (uintptr_t)stacks_begin_at_the_call;
	assert_in_range(stack.frames[1], start, start + 256);
	/* A call that is not on the stack: itself alone. */
	assert_int_equal(elide_stack_take(stack.frames, (const void *)0x900), 1);
	assert_int_equal(stack.frames[0], 0x900);
}

/* The same from a slow path, which runs on another stack. */
struct walk {
	const void *site;
	const char *stack;
	uint64_t frames[ELIDE_STACK_FRAMES];
	unsigned int nr;
};

static void walk_slow(void *arg)
{
	struct walk *w = arg;

	w->stack = __builtin_frame_address(0);
	w->nr = elide_stack_take(w->frames, w->site);
}

static void __noinline lock_slowly(struct walk *w)
{
	w->site = __builtin_return_address(0);
	assert_true(elide_slow_run(walk_slow, w));
}

static int __noinline outer_slowly(struct walk *w)
{
	lock_slowly(w);
	return w->nr;
}

static void slow_paths_have_a_stack(void **state)
{
	uintptr_t start = (uintptr_t)outer_slowly;
	struct walk w = {0};

	assert_in_range(outer_slowly(&w), 3, ELIDE_STACK_FRAMES);
	assert_in_range(w.frames[0], start, start + 64);
	start = (uintptr_t)slow_paths_have_a_stack;
	assert_in_range(w.frames[1], start, start + 256);
	if (!valgrind_runs())
		assert_false((uintptr_t)&w - (uintptr_t)w.stack < 1 << 20);
}

static int __noinline deep(int depth, struct elide_stack *stack)
{
	volatile int below = 0;

	if (depth)
		below = deep(depth - 1, stack) + 1;
	else
		lock_call(stack);
	return below;
}

static void deep_stacks_are_cut_off(void **state)
{
	struct elide_stack stack;

	assert_int_equal(deep(100, &stack), 100);
	assert_int_equal(stack.nr_frames, ELIDE_STACK_FRAMES);
}

static void waits_count_when_they_end(void **state)
{
	struct elide_row *row = row_of((const void *)0xa00), *held = row_of((const void *)0xb00);
	struct elide_blame blame;
	struct elide_sample sample;
	struct elide_waits w;

	held->not_attempted = 1000000; /* the site that holds the lock nearly always */
	elide_evidence_waits(elide_self, row, &lock, elide_self->tid, &w);
	assert_int_equal(w.weight, 1);
	LAST(SAMPLES, &sample);
	assert_int_equal(sample.type, ELIDE_SAMPLE_WAIT);
	assert_int_equal(sample.samples, 0);
	elide_evidence_waited(&w, 123);
	LAST(SAMPLES, &sample);
	assert_int_equal(sample.samples, 1);
	assert_int_equal(sample.cycles, 123);
	LAST(BLAME, &blame);
	assert_int_equal(blame.type, ELIDE_BLAME_WAIT);
	assert_int_equal(blame.site, 0xa00);
	assert_int_equal(blame.held_site, 0xb00);
	assert_int_equal(blame.held_kind, ELIDE_KIND_MUTEX);
	assert_int_equal(blame.held_class, row->class_index);
	assert_int_equal(blame.count, 1);
	assert_int_equal(blame.cycles, 123);
	held->not_attempted = 0;
}

/* A thread in a slow path, between the two times that the other waits for the barrier. */
static void stay(void *barrier)
{
	pthread_barrier_wait(barrier);
	pthread_barrier_wait(barrier);
}

static void *slow_path(void *barrier)
{
	return elide_slow_run(stay, barrier) ? barrier : NULL;
}

static void do_nothing(void *unused)
{
}

/*
 * A thread that has waited holds the lock by now: it waits for no slow path of another thread, which may
 * have no processor while others wait awake for that lock. The next wait has the weight of both.
 */
static void who_holds_a_lock_waits_for_no_slow_path(void **state)
{
	struct elide_row *row = row_of((const void *)0xc00);
	struct elide_thread *t = elide_self;
	struct elide_moment moment = {0};
	pthread_barrier_t barrier;
	uint64_t period = elide_moment_periods[ELIDE_MOMENT_WAIT];
	unsigned int before;
	pthread_t thread;
	void *entered;

	t->moment_sums[ELIDE_MOMENT_WAIT] = 0;
	before = LAST(MOMENTS, &moment);
	assert_int_equal(pthread_barrier_init(&barrier, NULL, 2), 0);
	assert_int_equal(pthread_create(&thread, NULL, slow_path, &barrier), 0);
	pthread_barrier_wait(&barrier);
	assert_false(elide_slow_try_run(do_nothing, NULL));
	elide_moment(t, row, ELIDE_MOMENT_WAIT, 1000, period);
	pthread_barrier_wait(&barrier);
	assert_int_equal(pthread_join(thread, &entered), 0);
	assert_non_null(entered);
	pthread_barrier_destroy(&barrier);
	assert_int_equal(LAST(MOMENTS, &moment), before);
	elide_moment(t, row, ELIDE_MOMENT_WAIT, 2000, period);
	assert_int_equal(LAST(MOMENTS, &moment), before + 1);
	assert_int_equal(moment.time, 2000);
	assert_int_equal(moment.cycles, period);
	assert_int_equal(moment.weight, 2 * period);
	assert_true(elide_slow_try_run(do_nothing, NULL));
}

/*
 * A thread whose event is drawn waits for no slow path of another thread, which may have no
 * processor, but does nothing: the next event of that kind has the weight of all.
 */
static void drawn_events_wait_for_no_slow_path(void **state)
{
	struct elide_row *row = row_of((const void *)0xb80);
	struct elide_sample before, sample;
	pthread_barrier_t barrier;
	uint64_t weight;
	struct elide_waits w;
	pthread_t thread;
	void *entered;

	elide_tunables.stacks = 2;
	while (row->causes[ELIDE_CAUSE_conflict] < elide_self->first_seen)
		abort_now(row, &conflict);
	LAST(SAMPLES, &before);
	assert_int_equal(before.site, 0xb80);
	assert_int_equal(pthread_barrier_init(&barrier, NULL, 2), 0);
	assert_int_equal(pthread_create(&thread, NULL, slow_path, &barrier), 0);
	pthread_barrier_wait(&barrier);
	for (int i = 0; i < 1000; i++)
		abort_now(row, &conflict);
	LAST(SAMPLES, &sample);
	assert_int_equal(sample.count, before.count);
	pthread_barrier_wait(&barrier);
	assert_int_equal(pthread_join(thread, &entered), 0);
	assert_non_null(entered);
	abort_now(row, &conflict);
	LAST(SAMPLES, &sample);
	assert_int_equal(sample.samples, before.samples + 1);
	/* The deviation of the sum is the root of 1000 * 2. */
	assert_in_range(sample.count - before.count, 1000 - 180, 1000 + 180);
	assert_int_equal(sample.cycles - before.cycles, 10 * (sample.count - before.count));

	/* The same with waits, of which this is one after those that are certain to be sampled. */
	row->contended = elide_self->first_seen;
	assert_int_equal(pthread_create(&thread, NULL, slow_path, &barrier), 0);
	pthread_barrier_wait(&barrier);
	for (int i = 0; i < 1000; i++) {
		elide_evidence_waits(elide_self, row, &lock, 0, &w);
		assert_int_equal(w.weight, 0);
	}
	pthread_barrier_wait(&barrier);
	assert_int_equal(pthread_join(thread, &entered), 0);
	assert_non_null(entered);
	elide_evidence_waits(elide_self, row, &lock, 0, &w);
	weight = w.weight;
	assert_in_range(weight, 1000 - 180, 1000 + 180);
	elide_evidence_waited(&w, 5);
	LAST(SAMPLES, &sample);
	assert_int_equal(sample.count, weight);
	assert_int_equal(sample.cycles, 5 * weight);
	pthread_barrier_destroy(&barrier);
	row->contended = 0;
	elide_tunables.stacks = 64;
}

static void the_holder_of_a_busy_abort(void **state)
{
	struct elide_row *row = row_of((const void *)0xc00), *held = row_of((const void *)0xd00);
	const struct elide_aborted a = {.lock = &lock, .cause = ELIDE_CAUSE_busy, .cycles = 7};
	struct elide_blame blame;

	elide_process.blames = true;
	/* Who locks is noted from the first abort on. */
	elide_evidence_locked(held, &lock);
	assert_false(elide_process.watch_locked);
	row->causes[ELIDE_CAUSE_busy]++;
	elide_evidence_abort(elide_self, row, &a);
	assert_true(elide_process.watch_locked);
	assert_int_equal(elide_short_mask, 0);
	LAST(BLAME, &blame);
	assert_int_equal(blame.held_site, 0);
	elide_evidence_locked(held, &lock);
	row->causes[ELIDE_CAUSE_busy]++;
	elide_evidence_abort(elide_self, row, &a);
	elide_process.watch_locked = elide_process.blames = false;
	LAST(BLAME, &blame);
	assert_int_equal(blame.type, ELIDE_BLAME_ABORT);
	assert_int_equal(blame.site, 0xc00);
	assert_int_equal(blame.held_site, 0xd00);
	assert_int_equal(blame.count, 1);
	assert_int_equal(blame.cycles, 7);
}

static void decisions_are_in_the_timeline(void **state)
{
	const struct policy_window window = {.last_tries = 3, .last_fails = 2};
	const struct policy_lock policy = {.pause = 256, .skip = 256};
	struct elide_row *row = row_of((const void *)0xe00);
	struct elide_event event;
	uint64_t first = cycles_now();

	elide_evidence_event(ELIDE_EVENT_PAUSED, row, &lock, &policy, &window);
	assert_int_equal(LAST(TIMELINE, &event), 1);
	assert_in_range(event.time, first, cycles_now());
	assert_int_equal(event.type, ELIDE_EVENT_PAUSED);
	assert_int_equal(event.site, 0xe00);
	assert_int_equal(event.a, 256);
	assert_int_equal(event.tries, 3);
	assert_int_equal(event.fails, 2);
	for (int i = 1; i < 65536 + 10; i++)
		elide_evidence_event(ELIDE_EVENT_RESUMED, row, &lock, &policy, &window);
	assert_int_equal(LAST(TIMELINE, &event), 65536);
	assert_int_equal(elide_data->dropped[ELIDE_DROPPED_EVENTS], 10);
}

/* The child begins anew, in a file of its own. */
static void a_child_has_its_own(void **state)
{
	struct elide_detail d;
	struct elide_stack stack;
	unsigned int before = LAST(DETAILS, &d);
	uint32_t parent = elide_data->pid;
	int status;
	pid_t pid = fork();

	if (!pid) {
		elide_data_detach(); /* the preloaded library has it called */
		check(row_of((const void *)0xf00));
		check(elide_data->pid != parent);
		check(LAST(DETAILS, &d) == 0);
		abort_now(row_of((const void *)0xf00), &conflict);
		check(LAST(DETAILS, &d) == 1);
		check(LAST(STACKS, &stack) == 1);
		check(d.own_stack == 1 && d.count == 1);
		unlink(elide_data_path());
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	assert_int_equal(LAST(DETAILS, &d), before);
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
	for (uint64_t i = 0; i < EVIDENCE_BOUND + 100; i++) {
		a.own_frames[0] = 0x20000 + i;
		a.nr_own = 1;
		elide_stack_save((const uint64_t[]){0x20000 + i}, 1, false);
	}
	assert_true(elide_data->dropped[ELIDE_DROPPED_STACKS] >= 100);
	elide_tunables.stacks = 64;
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
		cmocka_unit_test(weights_add_up),
		cmocka_unit_test(few_weights_add_up),
		cmocka_unit_test(further_threads_sample_one),
		cmocka_unit_test(counts_are_unbiased),
		cmocka_unit_test(equal_ones_are_merged),
		cmocka_unit_test(sampled_by_the_processor),
		cmocka_unit_test(data_is_named),
		cmocka_unit_test(stacks_begin_at_the_call),
		cmocka_unit_test(slow_paths_have_a_stack),
		cmocka_unit_test(deep_stacks_are_cut_off),
		cmocka_unit_test(waits_count_when_they_end),
		cmocka_unit_test(who_holds_a_lock_waits_for_no_slow_path),
		cmocka_unit_test(drawn_events_wait_for_no_slow_path),
		cmocka_unit_test(the_holder_of_a_busy_abort),
		cmocka_unit_test(decisions_are_in_the_timeline),
		cmocka_unit_test(a_child_has_its_own),
		cmocka_unit_test(full_tables_are_counted),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
