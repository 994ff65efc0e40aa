// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test_stats.c - Student's t, intervals, verdicts.
 */
#include <math.h>

#include "unit.h"
#include "../../lib/compiler.h"
#include "../../tools/model/attribute.h"
#include "../../tools/model/compare.h"
#include "../../tools/model/diff.h"

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

static void ranks(void **state)
{
	double values[] = {3, 1, 2, 10, 9, 4, 8, 5, 7, 6}, many[51], mild[] = {5, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
	struct interval i = stats_ranks(values, 10, 0.95);

	/* 8 is the critical value of tables of Wilcoxon's test for 10 values and 5 %: the 9th average. */
	assert_true(i.mean == 5.5 && i.low == 3 && i.high == 8);
	i = stats_ranks(mild, 12, 0.95);
	assert_true(i.mean == 1 && i.low == 1 && i.high == 1);
	assert_int_equal(stats_least(0.95), 6);
	assert_int_equal(stats_least(0.99), 8);
	assert_int_equal(stats_least(0.5), 2);
	for (size_t n = 1; n < 12; n++) {
		i = stats_ranks(values, n < 10 ? n : 10, 0.95);
		assert_int_equal(!!isinf(i.low), n < 6);
		assert_int_equal(!!isinf(i.high), n < 6);
	}
	/* The exact interval of 50 values, and the approximate one of 51. */
	for (size_t n = 50; n <= 51; n++) {
		for (size_t j = 0; j < n; j++)
			many[j] = (double)j - (double)(n - 1) / 2;
		i = stats_ranks(many, n, 0.95);
		assert_true(fabs(i.mean) < 1e-9 && fabs(i.high - 4.6) < 0.3 && fabs(i.low + i.high) < 1e-9);
	}
}

/* Made-up runs: of each pair the seconds of the plain and of the elided run. */
static struct comparison judged(const double (*seconds)[2], size_t nr)
{
	static struct run_pair pairs[16];
	struct comparison c = {.confidence = 0.95, .margin = 0.01, .pairs = pairs, .nr = nr};

	for (size_t i = 0; i < nr; i++)
		for (int side = 0; side < NR_SIDES; side++)
			pairs[i].run[side] = (struct run_result){seconds[i][side], seconds[i][side], 0};
	assert_int_equal(compare_judge(&c), 0);
	return c;
}

static void series(void **state)
{
	/* One program without any difference, on a machine whose load came and went. */
	static const double worse[][2] = {{1.0, 1.4}, {1.1, 1.6}, {1.6, 2.0}, {1.1, 1.5}, {1.7, 2.2},
					  {1.2, 1.5}, {1.0, 1.4}, {1.5, 2.1}, {1.1, 1.5}, {1.6, 2.2}};
	static const double better[][2] = {{1.9, 1.4}, {1.4, 1.1}, {2.2, 1.7}, {1.5, 1.2}, {1.3, 1.0},
					   {2.1, 1.6}, {1.6, 1.2}, {1.4, 1.1}, {2.0, 1.5}, {1.5, 1.1}};
	static const double pays[][2] = {{1.00, 0.90}, {1.01, 0.91}, {0.99, 0.90}, {1.00, 0.89}, {1.02, 0.92},
					 {1.00, 0.90}, {0.98, 0.89}, {1.01, 4.00}, {1.00, 0.90}, {1.00, 0.91},
					 {1.01, 0.91}, {0.99, 0.89}};
	static const double same[][2] = {{1.000, 1.001}, {1.002, 1.000}, {1.001, 1.001}, {1.300, 1.303},
					 {1.301, 1.300}, {1.000, 1.002}, {1.003, 1.000}, {1.300, 1.301}};
	struct comparison c = judged(worse, 10);
	struct compare_condition slower;
	char why[256];

	assert_true(c.elapsed.low > 0 && c.busy && c.effect == EFFECT_UNDECIDED && c.more > STATS_RUNS_MAX);
	assert_int_equal(compare_condition_parse(&slower, "slower > 2%", why, sizeof(why)), 0);
	assert_false(compare_holds(&c, &slower));
	c.busy = false;
	assert_true(compare_holds(&c, &slower));
	c = judged(better, 10);
	assert_true(c.elapsed.high < 0 && c.busy && c.effect == EFFECT_UNDECIDED);
	/* One disturbed run of 12, with which Student's interval would decide nothing. */
	c = judged(pays, 12);
	assert_true(!c.busy && c.effect == EFFECT_PAYS && fabs(c.elapsed.mean - log(0.9)) < 0.01 && !c.more);
	/* Too few of them for ranks. */
	c = judged(pays, 5);
	assert_true(!c.busy && c.effect == EFFECT_UNDECIDED && c.more == 1 && isinf(c.elapsed.low));
	/* A load that both runs of each pair have decides nothing against "neutral". */
	c = judged(same, 8);
	assert_true(c.spread > 0.2 && !c.busy && c.effect == EFFECT_NEUTRAL);
	c = judged(same, 1);
	assert_true(!c.busy && c.effect == EFFECT_UNDECIDED && c.more == 5);
}

/* Made-up rows of a mutex in two runs of a second, and whether they differ by more than the noise. */
static void differences(void **state)
{
	static const struct {
		double run[2][5]; /* acquisitions, waits, their ns, ns held, its standard error */
		bool differ;
	} table[] = {
		{{{1e6, 1000, 2e8, 3e8, 1e6}, {1e6, 1000, 2e8, 3e8, 1e6}}, false},
		/* Acquisitions: 3 standard errors, and 2 %. */
		{{{1e6, 0, 0, 0, 0}, {1.018e6, 0, 0, 0, 0}}, false},
		{{{1e6, 0, 0, 0, 0}, {1.05e6, 0, 0, 0, 0}}, true},
		{{{40, 0, 0, 0, 0}, {60, 0, 0, 0, 0}}, false},
		{{{40, 0, 0, 0, 0}, {200, 0, 0, 0, 0}}, true},
		/* Few waits say little about their time, many say more. */
		{{{1e6, 10, 2e8, 0, 0}, {1e6, 12, 5e8, 0, 0}}, false},
		{{{1e6, 4000, 2e8, 0, 0}, {1e6, 4100, 5e8, 0, 0}}, true},
		{{{1e6, 4000, 2e8, 0, 0}, {1e6, 4100, 2.2e8, 0, 0}}, false},
		/* Less than a thousandth of the run, however often it was. */
		{{{1e6, 4000, 1e5, 0, 0}, {1e6, 4000, 9e5, 0, 0}}, false},
		{{{1e6, 100, 1e5, 0, 0}, {1e6, 900, 1e5, 0, 0}}, true},
		/* Holds: their standard error is known. */
		{{{1e6, 0, 0, 1e8, 1e6}, {1e6, 0, 0, 2e8, 1e6}}, true},
		{{{1e6, 0, 0, 1e8, 4e7}, {1e6, 0, 0, 2e8, 4e7}}, false},
	};
	struct report r[2] = {{.ns = 1000000000, .cycles = 1000000000}, {.ns = 1000000000, .cycles = 1000000000}};
	struct line l[2];
	struct diff_row row = {{&l[0], &l[1]}, DIFF_CHANGED};
	struct diff d = {.report = {&r[0], &r[1]}};
	size_t nr;

	diff_columns(&nr);
	for (size_t i = 0; i < ARRAY_SIZE(table); i++)
		for (int back = 0; back < 2; back++) {
			for (int w = 0; w < 2; w++) {
				const double *v = table[i].run[w ^ back];

				l[w] = (struct line){.acquired = v[0], .held = v[3], .held_error = v[4]};
				l[w].sum.contended = l[w].sum.wait.count = v[1];
				l[w].sum.wait.total = v[2];
				l[w].sum.hold.count = v[3] > 0;
			}
			if (diff_is_beyond_noise(&d, &row) != table[i].differ)
				fail_msg("row %zu, %s", i, back ? "back" : "forth");
		}
	/* A row that is new. */
	assert_false(diff_is_beyond_noise(&d, &(struct diff_row){{NULL, &(struct line){.acquired = 5}}, DIFF_NEW}));
	assert_true(diff_is_beyond_noise(&d, &(struct diff_row){{NULL, &(struct line){.acquired = 500}}, DIFF_NEW}));
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
		cmocka_unit_test(ranks),
		cmocka_unit_test(series),
		cmocka_unit_test(differences),
		cmocka_unit_test(verdicts),
		cmocka_unit_test(more),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
