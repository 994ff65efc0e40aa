// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test_wait.c - the truth tables of lib/policy/wait.c: what is learnt of hold times, and how long a
 * thread waits by them.
 */
#include "unit.h"
#include "../../lib/compiler.h"
#include "../../lib/policy/wait.h"

#define MAX POLICY_WAIT_MAX

static void a_hold_time_is_learnt(void **state)
{
	static const struct {
		uint32_t known;
		uint64_t seen;
		uint32_t then;
	} table[] = {
		/* The first is believed, but for what cannot be waited for. */
		{0, 100, 100},
		{0, 0, 1},
		{0, MAX, MAX},
		{0, MAX + 1ull, MAX},
		{0, UINT64_MAX, MAX},
		/* The same, up to an eighth more, or down to half of it. */
		{100, 100, 100},
		{100, 112, 100},
		{100, 50, 100},
		/* Longer: by at most twofold. */
		{100, 113, 113},
		{100, 199, 199},
		{100, 200, 200},
		{100, 201, 200},
		{100, UINT64_MAX, 200},
		{1, 60000, 2},
		{MAX, UINT64_MAX, MAX},
		{MAX - 1, UINT64_MAX, MAX - 1},
		{MAX / 2 + 1, UINT64_MAX, MAX},
		/* Shorter: by a quarter of the difference. */
		{100, 49, 88},
		{100, 0, 76},
		{60000, 100, 45025},
		{4, 1, 4},
		{8, 1, 7},
	};

	for (size_t i = 0; i < ARRAY_SIZE(table); i++)
		assert_int_equal(policy_hold(table[i].known, table[i].seen), table[i].then);
}

/* However much hold times change, some tens of them are enough to follow. */
static void hold_times_are_followed(void **state)
{
	uint32_t known = 0;

	known = policy_hold(known, 100);
	for (int i = 0; i < 10; i++)
		known = policy_hold(known, 60000);
	assert_in_range(known, 60000 * 8 / 9, 60000);
	for (int i = 0; i < 30; i++)
		known = policy_hold(known, 100);
	assert_in_range(known, 100, 210);
	/* A holder that was interrupted once is hardly believed. */
	known = policy_hold(100, 3000000);
	for (int i = 0; i < 2; i++)
		known = policy_hold(known, 100);
	assert_in_range(known, 100, 200);
}

static void an_attempt_waits_for_two_hold_times(void **state)
{
	static const struct {
		uint32_t hold;
		bool crowded;
		uint32_t cycles;
	} table[] = {
		{0, false, 0},
		{1, false, 2},
		{60000, false, 120000},
		{MAX / 2 - 1, false, MAX - 2},
		{MAX / 2, false, MAX},
		{MAX, false, MAX},
		{UINT32_MAX, false, MAX},
		/* The holder may have no processor. */
		{0, true, 0},
		{60000, true, 0},
		{UINT32_MAX, true, 0},
	};

	for (size_t i = 0; i < ARRAY_SIZE(table); i++)
		assert_int_equal(policy_wait_attempt(table[i].hold, table[i].crowded),
				 table[i].cycles);
}

static void nobody_stays_awake_for_a_long_hold_time(void **state)
{
	static const struct {
		uint32_t hold;
		bool crowded;
		uint32_t cycles;
	} table[] = {
		{0, false, POLICY_WAIT_SLEEP},
		{100, false, POLICY_WAIT_SLEEP},
		{POLICY_WAIT_SLEEP - 1, false, POLICY_WAIT_SLEEP},
		{POLICY_WAIT_SLEEP, false, 0},
		{UINT32_MAX, false, 0},
		{0, true, 0},
		{100, true, 0},
		{UINT32_MAX, true, 0},
	};

	for (size_t i = 0; i < ARRAY_SIZE(table); i++)
		assert_int_equal(policy_wait_sleep(table[i].hold, table[i].crowded),
				 table[i].cycles);
}

/* Threads that come from a condition variable sleep in glibc, and who is awake is faster. */
static void all_sleep_where_many_come_from_condition_variables(void **state)
{
	static const struct {
		uint32_t conds, contended;
		uint64_t site_contended, site_acquired;
		bool sleeps;
	} table[] = {
		{0, 0, 1, 1, false},
		{0, 200, 100, 200, false},
		/* The first few say nothing. */
		{POLICY_CONDS_MIN - 1, 1, 1, 1, false},
		{POLICY_CONDS_MIN, 1, 1, 1, true},
		/* One to two, and fewer. */
		{100, 100, 100, 200, true},
		{100, 199, 100, 200, true},
		{100, 200, 100, 200, false},
		{50, 200, 100, 200, false},
		/* Most are elided. */
		{100, 100, 100, 32 * 100, true},
		{100, 100, 100, 32 * 100 + 1, false},
		{100, 100, 1, 1u << 31, false},
	};

	for (size_t i = 0; i < ARRAY_SIZE(table); i++)
		if (policy_sleeps_at_once(table[i].conds, table[i].contended,
					  table[i].site_contended,
					  table[i].site_acquired) != table[i].sleeps)
			fail_msg("row %zu", i);
}

static void a_thread_stays_awake_for_short_waits_for_units(void **state)
{
	static const struct {
		uint32_t usual;
		bool crowded;
		uint64_t nr;
		uint32_t cycles;
	} table[] = {
		{0, false, 1, POLICY_WAIT_SLEEP},
		{POLICY_WAIT_SLEEP - 1, false, 1, POLICY_WAIT_SLEEP},
		{POLICY_WAIT_SLEEP, false, 1, 0},
		{UINT32_MAX, false, 1, 0},
		/* One in POLICY_UNIT_PROBE finds out. */
		{UINT32_MAX, false, 0, POLICY_WAIT_SLEEP},
		{UINT32_MAX, false, POLICY_UNIT_PROBE - 1, 0},
		{UINT32_MAX, false, POLICY_UNIT_PROBE, POLICY_WAIT_SLEEP},
		{UINT32_MAX, false, POLICY_UNIT_PROBE + 1, 0},
		{0, true, 0, 0},
		{0, true, 1, 0},
	};

	for (size_t i = 0; i < ARRAY_SIZE(table); i++)
		assert_int_equal(policy_wait_unit(table[i].usual, table[i].crowded, table[i].nr),
				 table[i].cycles);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_hold_time_is_learnt),
		cmocka_unit_test(hold_times_are_followed),
		cmocka_unit_test(an_attempt_waits_for_two_hold_times),
		cmocka_unit_test(nobody_stays_awake_for_a_long_hold_time),
		cmocka_unit_test(all_sleep_where_many_come_from_condition_variables),
		cmocka_unit_test(a_thread_stays_awake_for_short_waits_for_units),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
