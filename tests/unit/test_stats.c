// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test_stats.c - Student's t, intervals, verdicts.
 */
#include <math.h>

#include "unit.h"
#include "../../lib/compiler.h"
#include "../../tools/model/stats.h"

/* Values of the table every textbook has. */
static void quantiles(void **state)
{
	static const struct {
		double confidence;
		size_t freedom;
		double t;
	} table[] = {
		{0.95, 1, 12.7062}, {0.95, 2, 4.30265}, {0.95, 3, 3.18245}, {0.95, 4, 2.77645},
		{0.95, 9, 2.26216}, {0.95, 10, 2.22814}, {0.95, 29, 2.04523}, {0.95, 100, 1.98397},
		{0.99, 4, 4.60409}, {0.99, 5, 4.03214}, {0.5, 1, 1.0}, {0.999, 1, 636.619},
	};

	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		double t = stats_t(table[i].confidence, table[i].freedom);

		assert_true(fabs(t - table[i].t) < 1e-5 * table[i].t);
	}
}

static void intervals(void **state)
{
	static const double values[] = {1, 2, 3, 4};
	struct interval i = stats_interval(values, 4, 0.95);

	/* sd = sqrt(5 / 3), half = 3.18245 * sd / 2 */
	assert_true(fabs(i.mean - 2.5) < 1e-12);
	assert_true(fabs(i.sd - 1.2909944) < 1e-6);
	assert_true(fabs(i.high - i.mean - 2.0542605) < 1e-4);
	assert_true(fabs(i.mean - i.low - 2.0542605) < 1e-4);
	i = stats_interval(values, 1, 0.95);
	assert_true(isinf(i.low) && isinf(i.high) && i.mean == 1);
}

static void verdicts(void **state)
{
	static const struct {
		double low, high;
		enum effect effect;
	} table[] = {
		{-0.1, -0.02, EFFECT_PAYS},	  {0.02, 0.1, EFFECT_HURTS},
		{-0.1, 0.1, EFFECT_UNDECIDED},	  {-0.005, 0.005, EFFECT_NEUTRAL},
		{0.001, 0.002, EFFECT_NEUTRAL},	  {-0.02, -0.001, EFFECT_PAYS},
		{0, 0, EFFECT_NEUTRAL},		  {0, 0.02, EFFECT_UNDECIDED},
		{-INFINITY, INFINITY, EFFECT_UNDECIDED},
	};

	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		struct interval v = {5, 0, 0, table[i].low, table[i].high};

		assert_int_equal(stats_effect(&v, 0.01), table[i].effect);
	}
}

/* The number is the least that decides. */
static void more(void **state)
{
	struct interval i = stats_with(-0.05, 0.1, 5, 0.95), with;
	size_t n = stats_more(&i, 0.01, 0.95);

	assert_int_equal(stats_effect(&i, 0.01), EFFECT_UNDECIDED);
	assert_true(n > 0 && n < 100);
	with = stats_with(-0.05, 0.1, 5 + n, 0.95);
	assert_int_equal(stats_effect(&with, 0.01), EFFECT_PAYS);
	with = stats_with(-0.05, 0.1, 5 + n - 1, 0.95);
	assert_int_equal(stats_effect(&with, 0.01), EFFECT_UNDECIDED);
	i = stats_with(-0.05, 0.001, 5, 0.95);
	assert_int_equal(stats_more(&i, 0.01, 0.95), 0);
	i = stats_with(0.0099503, 1, 5, 0.95);
	assert_int_equal(stats_more(&i, 0, 0.95) <= STATS_RUNS_MAX, 1);
	i = stats_with(0, 10, 5, 0.95);
	assert_int_equal(stats_more(&i, 0, 0.95), STATS_RUNS_MAX + 1);
	i = stats_with(0, 0, 1, 0.95);
	assert_int_equal(stats_more(&i, 0.01, 0.95), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(quantiles),
		cmocka_unit_test(intervals),
		cmocka_unit_test(verdicts),
		cmocka_unit_test(more),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
