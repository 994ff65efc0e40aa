// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test_join - parts of elide merge: rows are summed exactly, also where bins are full; clocks are
 * converted without changing a count; what was sampled is bounded.
 */
#include "unit.h"
#include "../../lib/row-sums.h"
#include "../../tools/model/join/clock.h"
#include "../../tools/model/join/limit.h"
#include "../../tools/model/join/table.h"

static struct elide_row a_row(uint64_t site)
{
	struct elide_row row = {.kind = ELIDE_KIND_MUTEX, .site = site, .not_attempted = 5,
				.contended = 2, .wait = {2, 300, 100, 200},
				.state = ELIDE_STATE_PROFILED};

	row.wait_bins[elide_bin(100)]++;
	row.wait_bins[elide_bin(200)]++;
	row.parked = 3;
	row.unparked = 2;
	row.parked_cycles = 50;
	return row;
}

static void rows_are_summed(void **state)
{
	struct row_table *t = table_new();
	struct elide_row row = a_row(1), other = a_row(2), *sum;

	for (int i = 0; i < 100; i++) {
		assert_int_equal(table_add(t, &row), 0);
		assert_int_equal(table_add(t, &other), 0);
	}
	row.state = ELIDE_STATE_ELIDING;
	row.wait = (struct elide_times){1, 1000, 1000, 1000};
	row.commits = 10000;
	assert_int_equal(table_add(t, &row), 0);
	assert_int_equal(table_nr(t), 2);
	sum = table_row(t, 0);
	assert_int_equal(sum->site, 1);
	assert_int_equal(sum->not_attempted, 505);
	assert_int_equal(sum->parked, 303);
	assert_int_equal(sum->unparked, 202);
	assert_int_equal(sum->parked_cycles, 5050);
	assert_int_equal(sum->wait.count, 201);
	assert_int_equal(sum->wait.total, 31000);
	assert_int_equal(sum->wait.min, 100);
	assert_int_equal(sum->wait.max, 1000);
	assert_int_equal(sum->wait_bins[elide_bin(100)], 101);
	assert_int_equal(sum->state, ELIDE_STATE_ELIDING); /* of most acquisitions */
	assert_int_equal(table_row(t, 1)->state, ELIDE_STATE_PROFILED);
	table_free(t);
}

static uint64_t count(const uint64_t *bins)
{
	uint64_t sum = 0;

	for (int i = 0; i < ELIDE_NR_BINS; i++)
		sum += bins[i];
	return sum;
}

static void clocks_are_converted(void **state)
{
	static const double ratios[] = {0.25, 0.7, 1.5, 2, 3.3};

	for (size_t i = 0; i < sizeof(ratios) / sizeof(*ratios); i++) {
		struct row_table *t = table_new();
		struct elide_row row = a_row(1), *to;
		struct elide_sample sample = {.samples = 1, .count = 3, .cycles = 1000};
		struct data_file f = {.table = t, .samples = &sample, .nr_samples = 1};

		row.wait_bins[0] = 7;
		row.wait_bins[10] = 1000;
		row.wait_bins[ELIDE_NR_BINS - 1] = 9;
		assert_int_equal(table_add(t, &row), 0);
		clock_convert(&f, ratios[i]);
		to = table_row(t, 0);
		assert_int_equal(to->not_attempted, 5);
		assert_int_equal(to->wait.count, 2);
		assert_int_equal(to->wait.total, (uint64_t)(300 * ratios[i] + 0.5));
		assert_int_equal(count(to->wait_bins), count(row.wait_bins));
		assert_int_equal(sample.count, 3);
		assert_int_equal(sample.cycles, (uint64_t)(1000 * ratios[i] + 0.5));
		if (ratios[i] == 2.0)
			assert_true(to->wait_bins[11] == 1000 && !to->wait_bins[10]);
		if (ratios[i] == 1.5) /* log2(1.5) is 0.585 */
			assert_true(to->wait_bins[11] == 585 && to->wait_bins[10] == 415);
		if (ratios[i] == 0.25)
			assert_true(to->wait_bins[8] == 1000);
		table_free(t);
	}
}

static void samples_are_bounded(void **state)
{
	enum { NR = LIMIT_RECORDS + 1000 };
	struct data_file f = {.nr_samples = NR, .nr_stacks = NR, .nr_spans = NR};
	double weight = 0;

	f.samples = calloc(NR, sizeof(*f.samples));
	f.stacks = calloc(NR, sizeof(*f.stacks));
	f.spans = calloc(NR, sizeof(*f.spans));
	for (uint32_t i = 0; i < NR; i++) {
		f.samples[i] = (struct elide_sample){.stack = i + 1, .samples = 1, .count = i};
		f.stacks[i].frames[0] = i;
		f.spans[i] = (struct elide_span){.type = ELIDE_SPAN_WAIT, .weight = i % 100};
		weight += i % 100;
	}
	assert_int_equal(limit_records(&f), 0);
	assert_int_equal(f.nr_samples, LIMIT_RECORDS);
	assert_int_equal(f.nr_stacks, LIMIT_RECORDS);
	assert_int_equal(f.header.dropped[ELIDE_DROPPED_DETAILS], 1000);
	for (size_t i = 0; i < f.nr_samples; i++) {
		assert_true(f.samples[i].count >= 1000); /* those that count least are out */
		assert_int_equal(f.stacks[f.samples[i].stack - 1].frames[0], f.samples[i].count);
	}
	assert_in_range(f.nr_spans, LIMIT_SPANS / 2, LIMIT_SPANS);
	for (size_t i = 0; i < f.nr_spans; i++)
		weight -= (double)f.spans[i].weight;
	assert_true(weight > -1e5 && weight < 1e5); /* of 3.3 million */
	free(f.samples);
	free(f.stacks);
	free(f.spans);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_are_summed),
		cmocka_unit_test(clocks_are_converted),
		cmocka_unit_test(samples_are_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
