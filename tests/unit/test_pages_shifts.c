// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test_pages_shifts.c - what follows a shift of a news site's window.
 */
#include "unit.h"
#include "../../demo/pages/bench/shifts.h"

/* A sample each 10 ns of operations at these rates, a shift at 100 and one at 200. */
static void fill(struct shifts *s, const unsigned int *rates, unsigned int nr, unsigned int split_at)
{
	uint64_t done = 0;

	for (unsigned int i = 0; i < nr; i++) {
		shifts_sample(s, 10 * i, done, 10 * i >= split_at);
		done += 10 * rates[i];
	}
	shifts_note(s, 100);
	shifts_note(s, 200);
}

static void judged(void **state)
{
	unsigned int rates[25];
	struct shift_outcome o;
	struct shifts s = {0};

	for (unsigned int i = 0; i < 25; i++)
		rates[i] = i >= 10 && i < 14 ? 5 : i >= 20 ? 8 : i == 14 ? 9 : 10;
	fill(&s, rates, 25, 120);
	assert_int_equal(shifts_judge(&s, 0, &o), 0);
	assert_int_equal(o.detected_ns, 20);
	/* From 140 to 150 it is nine tenths of 10 again. */
	assert_int_equal(o.recovered_ns, 50);
	/* The splits before the shift are none that it caused, and 8 is too little. */
	assert_int_equal(shifts_judge(&s, 1, &o), 0);
	assert_true(o.detected_ns == UINT64_MAX && o.recovered_ns == UINT64_MAX);
	free(s.sample);
}

/* The first interval after the shift may have begun before it. */
static void first_interval_is_left_out(void **state)
{
	struct shift_outcome o;
	struct shifts s = {0};

	shifts_sample(&s, 0, 0, 0);
	shifts_sample(&s, 50, 500, 0);
	shifts_sample(&s, 95, 950, 0);
	shifts_sample(&s, 195, 1950, 0);
	shifts_note(&s, 100);
	assert_int_equal(shifts_judge(&s, 0, &o), 0);
	assert_true(o.recovered_ns == UINT64_MAX);
	free(s.sample);
}

static void not_judged(void **state)
{
	struct shift_outcome o;
	struct shifts s = {0};

	shifts_note(&s, 100);
	assert_int_equal(shifts_judge(&s, 0, &o), -1);
	shifts_sample(&s, 10, 0, 0);
	shifts_sample(&s, 90, 10, 0);
	/* Nothing after it. */
	assert_int_equal(shifts_judge(&s, 0, &o), -1);
	free(s.sample);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(judged),
		cmocka_unit_test(first_interval_is_left_out),
		cmocka_unit_test(not_judged),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
