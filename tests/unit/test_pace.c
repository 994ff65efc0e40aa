// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test_pace.c - the truth tables of lib/policy/pace.c: after how many sections a thread flushes.
 */
#include "unit.h"
#include "../../lib/compiler.h"
#include "../../lib/policy/pace.h"

#define US LEARN_US

static void as_many_as_fit_into_the_interval(void **state)
{
	static const struct {
		uint32_t nr;
		uint64_t elapsed;
		uint32_t interval;
		uint32_t next;
	} table[] = {
		{10, 10 * US - 1, 8 * US, 8},
		{100, 10 * US - 1, 8 * US, 80},
		/* At least three: where a section takes longer, each call would report. */
		{1, 16 * US, 8 * US, 3},
		{0, 16 * US, 8 * US, 3},
		{3, 1000 * US, 8 * US, 3},
		/* At most four times as many, and 4096. */
		{10, 1, 80 * US, 40},
		{3000, 1, 80 * US, 4096},
		{1000, 1000, 80 * US, 4000},
	};

	for (size_t i = 0; i < ARRAY_SIZE(table); i++)
		assert_int_equal(learn_count(table[i].nr, table[i].elapsed, table[i].interval,
					     LEARN_LOCKS_NOT),
				 table[i].next);
}

static void where_it_locks_it_reports_seldom(void **state)
{
	static const struct {
		uint32_t nr;
		uint64_t elapsed;
		enum learn_locks locks;
		uint32_t next;
	} table[] = {
		/* A section in 8 us: 40 in 320 us. */
		{10, 80 * US - 1, LEARN_LOCKS_HELD, 40},
		{10, 80 * US - 1, LEARN_LOCKS_FREE, 40},
		/* A section in 1 us: it is parked after 64, but not while threads wait. */
		{80, 80 * US - 1, LEARN_LOCKS_HELD, 80},
		{40, 40 * US - 1, LEARN_LOCKS_FREE, 80},
		{40, 60 * US - 1, LEARN_LOCKS_HELD, 60},
		{40, 60 * US - 1, LEARN_LOCKS_FREE, 80},
		/* What fits into the usual interval is not made fewer. */
		{1000, 80 * US - 1, LEARN_LOCKS_HELD, 1000},
		{1000, 80 * US - 1, LEARN_LOCKS_FREE, 1000},
		{1, 1000 * US, LEARN_LOCKS_HELD, 3},
		/* While the thread holds another lock, a fourth as often. */
		{10, 80 * US - 1, LEARN_LOCKS_INSIDE, 40},
		{40, 80 * US - 1, LEARN_LOCKS_INSIDE, 160},
		{160, 640 * US - 1, LEARN_LOCKS_INSIDE, 320},
		{320, 320 * US - 1, LEARN_LOCKS_INSIDE, 320},
		{4000, 80 * US - 1, LEARN_LOCKS_INSIDE, 4000},
		{1, 2000 * US, LEARN_LOCKS_INSIDE, 3},
	};

	for (size_t i = 0; i < ARRAY_SIZE(table); i++)
		assert_int_equal(learn_count(table[i].nr, table[i].elapsed, 80 * US,
					     table[i].locks),
				 table[i].next);
}

static void long_trials_have_few_reports(void **state)
{
	struct learn_class c;

	learn_start(&c, false, true);
	assert_int_equal(learn_interval(&c), 80 * US);
	c.phase = LEARN_INCUMBENT;
	c.challenger = POLICY_ARM_lean;
	assert_int_equal(learn_interval(&c), 8 * US);
	/* As long as the incumbent's trial. */
	c.phase = LEARN_CHALLENGER;
	c.length = 80 * US;
	assert_int_equal(learn_interval(&c), 32 * US);
	c.question = LEARN_CROWD;
	assert_int_equal(learn_interval(&c), 80 * US);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(as_many_as_fit_into_the_interval),
		cmocka_unit_test(where_it_locks_it_reports_seldom),
		cmocka_unit_test(long_trials_have_few_reports),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
