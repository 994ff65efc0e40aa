// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test_pmu_ring.c - records of perf events, made up as perf_event_open(2) lays them out.
 */
#include "unit.h"
#include "../../lib/evidence/pmu-ring.h"

#define SIZE 256

/* A ring being filled. */
static struct {
	unsigned char data[SIZE];
	uint64_t head;
} ring;

static void put(const void *bytes, size_t size)
{
	for (size_t i = 0; i < size; i++)
		ring.data[ring.head++ % SIZE] = ((const unsigned char *)bytes)[i];
}

/* A record of @nr words behind its header, which says @size bytes. */
static void record(uint32_t type, uint16_t size, const uint64_t *words, size_t nr)
{
	struct perf_event_header h = {.type = type, .misc = PERF_RECORD_MISC_USER, .size = size};

	put(&h, sizeof(h));
	put(words, nr * sizeof(*words));
}

static void sample(uint64_t ip)
{
	const uint64_t words[] = {ip, 1000 + ip, 10 * ip, PERF_TXN_TRANSACTION | ip << 32};

	record(PERF_RECORD_SAMPLE, 40, words, 4);
}

static int empty(void **state)
{
	memset(&ring, 0xee, sizeof(ring));
	ring.head = 0;
	return 0;
}

static struct elide_pmu_counts read_from(uint64_t tail, struct elide_pmu_sample *s)
{
	struct elide_pmu_counts counts;

	memset(s, 0, sizeof(*s));
	elide_pmu_ring_read(ring.data, SIZE, tail, ring.head, s, sizeof(*s), &counts);
	return counts;
}

static void nothing_new(void **state)
{
	static const struct elide_pmu_counts none;
	struct elide_pmu_sample s;
	struct elide_pmu_counts counts = read_from(0, &s);

	assert_memory_equal(&counts, &none, sizeof(counts));
}

static void newest_of_three(void **state)
{
	struct elide_pmu_sample s;
	struct elide_pmu_counts counts;

	sample(1);
	sample(2);
	sample(3);
	counts = read_from(0, &s);
	assert_int_equal(counts.nr_samples, 3);
	assert_int_equal(counts.nr_damaged + counts.nr_others + counts.nr_lost + counts.nr_throttles, 0);
	assert_int_equal(s.ip, 3);
	assert_int_equal(s.time, 1003);
	assert_int_equal(s.weight, 30);
	assert_int_equal(s.transaction, PERF_TXN_TRANSACTION | 3ull << PERF_TXN_ABORT_SHIFT);
}

/* At every offset that a record can have: cut at the end of the ring in every way. */
static void wraps_around(void **state)
{
	for (uint64_t start = 0; start < 2 * SIZE; start += 8) {
		struct elide_pmu_sample s;
		struct elide_pmu_counts counts;

		memset(ring.data, 0xee, SIZE);
		ring.head = start;
		sample(4);
		sample(start);
		counts = read_from(start, &s);
		assert_int_equal(counts.nr_samples, 2);
		assert_int_equal(counts.nr_damaged, 0);
		assert_int_equal(s.ip, start);
		assert_int_equal(s.weight, 10 * start);
	}
}

static void full_ring(void **state)
{
	struct elide_pmu_sample s;
	const uint64_t pad[1] = {0};

	for (int i = 0; i < 6; i++)
		sample(i);
	record(PERF_RECORD_THROTTLE, 16, pad, 1);
	assert_int_equal(ring.head, SIZE);
	assert_int_equal(read_from(0, &s).nr_samples, 6);
	/* More than a ring: the kernel has overtaken the reader, and all of it is damaged. */
	ring.head += 8;
	assert_int_equal(read_from(0, &s).nr_samples, 0);
	assert_int_equal(read_from(0, &s).nr_damaged, 1);
}

static void lost_and_throttled(void **state)
{
	const uint64_t lost[] = {77 /* id */, 5}, lost_samples[] = {3}, throttle[] = {1, 2, 3};
	struct elide_pmu_sample s;
	struct elide_pmu_counts counts;

	sample(1);
	record(PERF_RECORD_LOST, 24, lost, 2);
	record(PERF_RECORD_THROTTLE, 32, throttle, 3);
	record(PERF_RECORD_UNTHROTTLE, 32, throttle, 3);
	record(PERF_RECORD_LOST_SAMPLES, 16, lost_samples, 1);
	sample(2);
	counts = read_from(0, &s);
	assert_int_equal(counts.nr_samples, 2);
	assert_int_equal(counts.nr_lost, 8);
	assert_int_equal(counts.nr_throttles, 1);
	assert_int_equal(counts.nr_others, 1);
	assert_int_equal(counts.nr_damaged, 0);
	assert_int_equal(s.ip, 2);
}

static void unknown_types_are_skipped(void **state)
{
	const uint64_t words[3] = {1, 2, 3};
	struct elide_pmu_sample s;
	struct elide_pmu_counts counts;

	record(PERF_RECORD_COMM, 32, words, 3);
	record(4711, 8, words, 0);
	sample(9);
	counts = read_from(0, &s);
	assert_int_equal(counts.nr_others, 2);
	assert_int_equal(counts.nr_samples, 1);
	assert_int_equal(s.ip, 9);
}

static void other_layouts_are_damage(void **state)
{
	const uint64_t words[5] = {1, 2, 3, 4, 5};
	struct elide_pmu_sample s;
	struct elide_pmu_counts counts;

	record(PERF_RECORD_SAMPLE, 32, words, 3);
	record(PERF_RECORD_SAMPLE, 48, words, 5);
	record(PERF_RECORD_LOST, 16, words, 1);
	record(PERF_RECORD_LOST_SAMPLES, 8, words, 0);
	sample(6);
	counts = read_from(0, &s);
	assert_int_equal(counts.nr_damaged, 4);
	assert_int_equal(counts.nr_samples, 1);
	assert_int_equal(counts.nr_lost, 0);
	assert_int_equal(s.ip, 6);
}

/* Sizes that cannot be end the reading: no size may lead on, or nowhere. */
static void impossible_sizes(void **state)
{
	static const uint16_t sizes[] = {0, 1, 7, 12, 41, 248, 0xfff8, 0xffff};

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		const uint64_t words[4] = {1};
		struct elide_pmu_sample s;
		struct elide_pmu_counts counts;

		empty(NULL);
		sample(1);
		record(PERF_RECORD_SAMPLE, sizes[i], words, 4);
		sample(2);
		counts = read_from(0, &s);
		assert_int_equal(counts.nr_samples, 1);
		assert_int_equal(counts.nr_damaged, 1);
		assert_int_equal(s.ip, 1);
	}
}

/* Samples of loads are shorter; of one layout those of the other are damage. */
static void loads(void **state)
{
	const uint64_t words[] = {0x4000, 0x5008, PERF_TXN_SYNC};
	struct elide_pmu_load load = {0};
	struct elide_pmu_counts counts;

	record(PERF_RECORD_SAMPLE, 32, words, 3);
	sample(1);
	elide_pmu_ring_read(ring.data, SIZE, 0, ring.head, &load, sizeof(load), &counts);
	assert_int_equal(counts.nr_samples, 1);
	assert_int_equal(counts.nr_damaged, 1);
	assert_int_equal(load.ip, 0x4000);
	assert_int_equal(load.address, 0x5008);
	assert_int_equal(load.transaction, PERF_TXN_SYNC);
}

static void half_a_header(void **state)
{
	struct elide_pmu_sample s;
	struct elide_pmu_counts counts;

	sample(1);
	ring.head += 4;
	counts = read_from(0, &s);
	assert_int_equal(counts.nr_samples, 1);
	assert_int_equal(counts.nr_damaged, 1);
}

/* Positions count on for ever; theirs wrap as well. */
static void positions_wrap(void **state)
{
	struct elide_pmu_sample s;
	uint64_t tail = -(uint64_t)40;

	ring.head = tail;
	sample(5);
	sample(6);
	assert_int_equal(ring.head, 40);
	assert_int_equal(read_from(tail, &s).nr_samples, 2);
	assert_int_equal(s.ip, 6);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(nothing_new, empty),
		cmocka_unit_test_setup(newest_of_three, empty),
		cmocka_unit_test_setup(wraps_around, empty),
		cmocka_unit_test_setup(full_ring, empty),
		cmocka_unit_test_setup(lost_and_throttled, empty),
		cmocka_unit_test_setup(unknown_types_are_skipped, empty),
		cmocka_unit_test_setup(other_layouts_are_damage, empty),
		cmocka_unit_test_setup(impossible_sizes, empty),
		cmocka_unit_test_setup(loads, empty),
		cmocka_unit_test_setup(half_a_header, empty),
		cmocka_unit_test_setup(positions_wrap, empty),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
