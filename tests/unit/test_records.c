// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test_records.c - what is sampled: hostile records, what a reset leaves of them, how they
 * are told.
 */
#include <unistd.h>

#include "unit.h"
#include <jansson.h>

#include "../../lib/compiler.h"
#include "../../tools/model/evidence.h"
#include "../../tools/names/instruction.h"
#include "../../tools/print/json-report.h"
#include "../../tools/print/suggestion.h"
#include "../../tools/names/syscalls.h"
#include "../../tools/print/text-report.h"
#include "../../tools/print/view/view-line.h"
#include "../../tools/print/view/view-stack.h"
#include "../tools/synth.h"

static char path[64];
static char base_path[64 + sizeof(LOAD_BASE_SUFFIX)];
static char error[LOAD_ERROR_MAX];

static int setup(void **state)
{
	snprintf(path, sizeof(path), "/tmp/elide-test-records.%d", getpid());
	snprintf(base_path, sizeof(base_path), "%s" LOAD_BASE_SUFFIX, path);
	return 0;
}

static int teardown(void **state)
{
	unlink(path);
	unlink(base_path);
	return 0;
}

/* Loads it; hostile objects are not elfutils' business: it names none. */
static int try_load(struct synth *s, size_t size, struct data_file *f)
{
	int rc;

	synth_seal(s);
	synth_write(s, path, size);
	rc = load(path, f, error);
	if (rc)
		assert_non_null(strstr(error, "offset"));
	return rc;
}

/* Everything that prints. */
static void report_on(const struct data_file *f)
{
	FILE *out = fopen("/dev/null", "w");
	struct suggestion suggestion = {0};
	struct report r;

	assert_int_equal(report_build(&r, f, BY_LOCK_AND_SITE, "cost"), 0);
	text_report(&r, out, 120, 0);
	json_decref(json_report(&r, 0));
	json_decref(stacks_json(&r, 0));
	json_decref(lines_json(&r, 0));
	stacks_table(&r, out, 0);
	lines_table(&r, out, 0);
	stacks_csv(&r, out, 0);
	lines_csv(&r, out, 0);
	folded_print(&r, out, FOLDED_ABORT);
	assert_int_equal(suggestion_add(&suggestion, &r), 0);
	suggestion_print(&suggestion, out);
	report_free(&r);
	fclose(out);
}

static void make(struct synth *s)
{
	synth_make(s, SYNTH_FULL, 0, 1);
}

static void nameless(struct synth *s)
{
	strcpy(((struct elide_module *)(synth_chunk(s, ELIDE_CHUNK_MODULES) + 1))->path, "none");
}

static void whole_file(void **state)
{
	struct data_file f;
	struct synth s;

	make(&s);
	assert_int_equal(try_load(&s, s.size, &f), 0);
	assert_int_equal(f.nr_stacks, 5);
	assert_int_equal(f.nr_samples, 6);
	assert_int_equal(f.nr_details, 9);
	assert_int_equal(f.nr_blames, 4);
	assert_int_equal(f.nr_events, 3);
	assert_int_equal(f.nr_counters, 2);
	assert_int_equal(f.notes.nr_orphans, 0);
	load_free(&f);
	synth_free(&s);
}

#define IN(type, member, value, what)                                                              \
	{offsetof(struct type, member), sizeof(((struct type *)0)->member), value, what}

static void bad_records(void **state)
{
	static const struct {
		enum elide_chunk_type type;
		struct {
			size_t offset, size;
			uint64_t value;
			const char *error;
		} change;
	} table[] = {
		{ELIDE_CHUNK_STACKS, IN(elide_stack, nr_frames, 32, "stack of 32 frames")},
		{ELIDE_CHUNK_STACKS, IN(elide_stack, nr_frames, 65535, "stack of 65535 frames")},
		{ELIDE_CHUNK_SAMPLES, IN(elide_sample, kind, 0, "sample of unknown kind 0")},
		{ELIDE_CHUNK_SAMPLES, IN(elide_sample, kind, ELIDE_NR_KINDS, "unknown kind ")},
		{ELIDE_CHUNK_SAMPLES, IN(elide_sample, type, 0, "type 0")},
		{ELIDE_CHUNK_SAMPLES, IN(elide_sample, type, ELIDE_SAMPLE_END, "type 5")},
		{ELIDE_CHUNK_DETAILS, IN(elide_detail, kind, 99, "detail of unknown kind 99")},
		{ELIDE_CHUNK_DETAILS, IN(elide_detail, cause, ELIDE_MAX_CAUSES, "cause 24")},
		{ELIDE_CHUNK_DETAILS, IN(elide_detail, source, 0, "source 0")},
		{ELIDE_CHUNK_DETAILS, IN(elide_detail, source, ELIDE_DETAIL_END, "source 5")},
		{ELIDE_CHUNK_DETAILS, IN(elide_detail, data_type, ELIDE_DATA_END, "data 5")},
		{ELIDE_CHUNK_DETAILS, IN(elide_detail, other_kind, ELIDE_NR_KINDS, "other kind 13")},
		{ELIDE_CHUNK_BLAME, IN(elide_blame, kind, 0, "blame of unknown kind 0")},
		{ELIDE_CHUNK_BLAME, IN(elide_blame, type, ELIDE_BLAME_END, "type 4")},
		{ELIDE_CHUNK_BLAME, IN(elide_blame, held_kind, ELIDE_NR_KINDS, "held kind 13")},
		{ELIDE_CHUNK_TIMELINE, IN(elide_event, type, 0, "decision of unknown type 0")},
		{ELIDE_CHUNK_TIMELINE, IN(elide_event, type, ELIDE_EVENT_END, "unknown type 5")},
		{ELIDE_CHUNK_TIMELINE, IN(elide_event, kind, 0, "kind 0")},
		{ELIDE_CHUNK_COUNTERS, IN(elide_counter, source, 0, "counter of unknown source 0")},
		{ELIDE_CHUNK_COUNTERS, IN(elide_counter, source, ~0u, "source 4294967295")},
	};

	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		struct data_file f;
		struct synth s;

		make(&s);
		memcpy((char *)(synth_chunk(&s, table[i].type) + 1) + table[i].change.offset,
		       &table[i].change.value, table[i].change.size);
		assert_int_equal(try_load(&s, s.size, &f), 0);
		assert_int_equal(f.notes.nr_bad, 1);
		assert_non_null(strstr(f.notes.first_bad, table[i].change.error));
		report_on(&f);
		load_free(&f);
		synth_free(&s);
	}
}

/* Indices of what is not there: the record goes, or the stack is forgotten. */
static void dangling(void **state)
{
	struct elide_detail *detail;
	struct elide_sample *sample;
	struct elide_blame *blame;
	struct data_file f;
	struct synth s;

	make(&s);
	nameless(&s);
	sample = (void *)(synth_chunk(&s, ELIDE_CHUNK_SAMPLES) + 1);
	sample[0].stack = 6;
	sample[1].stack = ~0u;
	sample[2].class_index = ~0u;
	detail = (void *)(synth_chunk(&s, ELIDE_CHUNK_DETAILS) + 1);
	detail[0].own_stack = detail[0].other_stack = detail[0].abort_stack = 1u << 31;
	detail[0].other_class = ~0u;
	detail[1].class_index = 4;
	blame = (void *)(synth_chunk(&s, ELIDE_CHUNK_BLAME) + 1);
	blame[0].held_class = 4;
	/* One that is not known has none. */
	blame[2].held_class = ~0u;
	assert_int_equal(try_load(&s, s.size, &f), 0);
	/* Two that differed in their stacks alone are one now. */
	assert_int_equal(f.nr_samples, 4);
	assert_int_equal(f.nr_details, 8);
	assert_int_equal(f.nr_blames, 3);
	assert_int_equal(f.notes.nr_orphans, 3);
	for (size_t i = 0; i < f.nr_samples; i++)
		assert_true(f.samples[i].stack <= f.nr_stacks);
	report_on(&f);
	load_free(&f);
	synth_free(&s);
}

/* A cause of a later version counts as "other"; numbers of stacks, frames and lines are bounded. */
static void extremes(void **state)
{
	struct elide_stack stack = {.nr_frames = ELIDE_STACK_FRAMES};
	struct elide_detail *detail;
	struct elide_sample *sample;
	struct data_file f;
	struct synth s;

	make(&s);
	for (int i = 0; i < ELIDE_STACK_FRAMES; i++)
		stack.frames[i] = ~0ull - i;
	for (int i = 0; i < 200; i++)
		synth_add(&s, ELIDE_CHUNK_STACKS, &stack, sizeof(stack));
	detail = (void *)(synth_chunk(&s, ELIDE_CHUNK_DETAILS) + 1);
	for (int i = 0; i < 7; i++) {
		detail[i].line = detail[i].data_base = ~0ull;
		detail[i].data_size = ~0ull;
		detail[i].own_bytes = detail[i].other_bytes = ~0ull;
		detail[i].count = detail[i].cycles = ~0ull;
		detail[i].lock = 0;
		detail[i].syscall_nr = i % 2 ? INT32_MAX : INT32_MIN;
		detail[i].signal = ~0u;
		detail[i].cache_ways = detail[i].cache_set = ~0u;
		detail[i].alloc_stack = 205;
	}
	detail[3].cause = ELIDE_MAX_CAUSES - 1;
	sample = (void *)(synth_chunk(&s, ELIDE_CHUNK_SAMPLES) + 1);
	sample[0].count = sample[0].cycles = ~0ull;
	sample[0].samples = ~0u;
	assert_int_equal(try_load(&s, s.size, &f), 0);
	report_on(&f);
	load_free(&f);
	synth_free(&s);
}

static void truncated(void **state)
{
	struct data_file f;
	struct synth s;

	make(&s);
	nameless(&s);
	synth_seal(&s);
	synth_write(&s, path, s.size);
	/* The third chunk has the rows, without which there is nothing to report. */
	for (size_t size = s.size; size >= ELIDE_HEADER_SIZE + 3 * ELIDE_CHUNK_SIZE; size -= 4096) {
		assert_int_equal(truncate(path, size), 0);
		assert_int_equal(load(path, &f, error), 0);
		report_on(&f);
		load_free(&f);
	}
	synth_free(&s);
}

/* Our own generator: a seed gives the same bytes everywhere (xorshift, Marsaglia 2003). */
static uint64_t next(uint64_t *x)
{
	*x ^= *x << 13;
	*x ^= *x >> 7;
	*x ^= *x << 17;
	return *x;
}

/* Bits flipped anywhere: it loads or says why not; what loads can be reported on. */
static void flipped_bits(void **state)
{
	uint64_t x = 1;
	int loaded = 0;

	for (int i = 0; i < 200; i++) {
		struct data_file f;
		struct synth s;

		make(&s);
		nameless(&s);
		for (int j = 0; j < 4; j++) {
			size_t chunk = next(&x) % ((s.size - ELIDE_HEADER_SIZE) / ELIDE_CHUNK_SIZE);

			/* Records begin at 64; further on there is nothing. */
			s.bytes[ELIDE_HEADER_SIZE + chunk * ELIDE_CHUNK_SIZE + 64 +
				next(&x) % 1344] ^= 1 << next(&x) % 8;
		}
		if (!try_load(&s, s.size, &f)) {
			report_on(&f);
			load_free(&f);
			loaded++;
		}
		synth_free(&s);
	}
	assert_true(loaded > 20);
}

/* What was there at the reset is not there after it; what came since is. */
static void reset(void **state)
{
	struct elide_event event = {.type = ELIDE_EVENT_OFF};
	struct elide_sample *sample;
	struct elide_detail *detail;
	struct elide_blame *blame;
	struct data_file f;
	struct synth s;

	make(&s);
	synth_seal(&s);
	synth_write(&s, base_path, s.size);
	sample = (void *)(synth_chunk(&s, ELIDE_CHUNK_SAMPLES) + 1);
	sample[0].samples += 2;
	sample[0].count += 128;
	sample[0].cycles += 1000;
	detail = (void *)(synth_chunk(&s, ELIDE_CHUNK_DETAILS) + 1);
	detail[6].samples++;
	detail[6].count += 20;
	blame = (void *)(synth_chunk(&s, ELIDE_CHUNK_BLAME) + 1);
	blame[1].samples++;
	blame[1].count += 60;
	event.time = synth_header(&s)->end_cycles + 5;
	synth_header(&s)->end_cycles += 1000;
	synth_header(&s)->end_ns += 500;
	synth_add(&s, ELIDE_CHUNK_TIMELINE, &event, sizeof(event));
	assert_int_equal(try_load(&s, s.size, &f), 0);
	assert_int_equal(load_base(&f), 0);
	assert_non_null(f.base);
	assert_int_equal(f.nr_samples, 1);
	assert_int_equal(f.samples[0].samples, 2);
	assert_int_equal(f.samples[0].count, 128);
	assert_int_equal(f.samples[0].cycles, 1000);
	assert_int_equal(f.nr_details, 1);
	assert_int_equal(f.details[0].count, 20);
	assert_int_equal(f.details[0].cycles, 0);
	assert_int_equal(f.nr_blames, 1);
	assert_int_equal(f.blames[0].count, 60);
	assert_int_equal(f.nr_events, 1);
	assert_int_equal(f.nr_misuse, 0);
	report_on(&f);
	load_free(&f);
	synth_free(&s);
}

static void sharing(void **state)
{
	static const struct {
		uint64_t own, other, lock;
		enum sharing want;
	} table[] = {
		{0xff, 0xff00, 0, SHARING_FALSE},
		{0xff, 0xff80, 0, SHARING_TRUE},
		{0, 0xff, 0, SHARING_UNKNOWN},
		{0xff, 0, 0, SHARING_UNKNOWN},
		/* Both have read the lock, and touch different data beside it. */
		{0x0000ff000000000full, 0x00ff00000000000full, 0x1000, SHARING_FALSE},
		{0x0000ff000000000full, 0x0001ff000000000full, 0x1000, SHARING_TRUE},
		/* One has only read the lock. */
		{0xf, 0x00ff000000000000ull, 0x1000, SHARING_FALSE},
		/* The thread had locked the lock. */
		{0xf, 0xf, 0x1000, SHARING_TRUE},
	};

	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		struct elide_detail d = {.kind = ELIDE_KIND_MUTEX, .line = 0x1000,
					 .lock = table[i].lock, .own_bytes = table[i].own,
					 .other_bytes = table[i].other};

		assert_int_equal(evidence_sharing(&d), table[i].want);
	}
	/* A lock that begins on the line before. */
	assert_int_equal(evidence_lock_bytes(&(struct elide_detail){
				 .kind = ELIDE_KIND_MUTEX, .line = 0x1000, .lock = 0xfe8}),
			 0xffff);
	assert_int_equal(evidence_lock_bytes(&(struct elide_detail){
				 .kind = ELIDE_KIND_SPIN, .line = 0x1000, .lock = 0x1020}),
			 0xf00000000ull);
}

static void instructions(void **state)
{
	static const struct {
		const char *code;
		size_t size;
		const char *name;
	} table[] = {
		{"\xf3\x90", 2, "PAUSE"},
		{"\x90", 1, NULL},
		{"\x0f\xa2", 2, "CPUID"},
		{"\x66\x0f\xa2", 3, "CPUID"},
		{"\xc5\xf8\x77", 3, "VZEROUPPER"},
		{"\xc5\xfc\x77", 3, NULL},
		{"\xc4\xe1\x78\x77", 4, "VZEROUPPER"},
		{"\x0f\xae\x38", 3, "CLFLUSH"},
		{"\x66\x0f\xae\x38", 4, "CLFLUSHOPT"},
		{"\x48\x0f\xc3\x07", 4, "MOVNTI"},
		{"\xd9\x3f", 2, NULL}, /* FNSTCW, an exception to the rows below it */
		{"\xd9\xe8", 2, "x87 instructions"},
		{"\x48\x89\xc3", 3, NULL},
		/* cut off */
		{"\xf3", 1, NULL},
		{"\x0f", 1, NULL},
		{"\xc5\xf8", 2, NULL},
		{"\x0f\xae", 2, NULL},
		{"", 0, NULL},
	};

	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		const char *name = instruction_name((const uint8_t *)table[i].code, table[i].size);

		if (table[i].name)
			assert_string_equal(name, table[i].name);
		else
			assert_null(name);
	}
}

static void system_calls(void **state)
{
	assert_string_equal(syscall_name(0), "read");
	assert_string_equal(syscall_name(1), "write");
	assert_string_equal(syscall_name(202), "futex");
	assert_null(syscall_name(-1));
	assert_null(syscall_name(100000));
	assert_null(syscall_name(INT32_MAX));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(whole_file), cmocka_unit_test(bad_records),
		cmocka_unit_test(dangling),   cmocka_unit_test(extremes),
		cmocka_unit_test(truncated),  cmocka_unit_test(flipped_bits),
		cmocka_unit_test(reset),      cmocka_unit_test(sharing),
		cmocka_unit_test(instructions), cmocka_unit_test(system_calls),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
