// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test_probe.c - call sites at which nothing can be elided, and when that is over.
 */
#include "learn-world.h"

static void without_hope_it_is_probed_seldom(void **state)
{
	struct world w;
	unsigned int probes = 0;

	begin(&w, 1, 1, 0);
	assert_true(learn_unelidable(&w.class, 0, w.now));
	assert_false(learn_unelidable(&w.class, 0, w.now));
	assert_int_equal(learn_arm(&w.class, 0), REAL);
	for (uint64_t end = w.now + 100 * MS; w.now < end; w.now += 10 * LEARN_US) {
		if (!learn_probe(&w.class, 0, w.now))
			continue;
		/* One at a time. */
		assert_false(learn_probe(&w.class, 0, w.now));
		learn_probed(&w.class, 0, LEARN_FAILED, w.now);
		probes++;
	}
	/* 0.5 1 2 4 4 4 ... ms */
	assert_in_range(probes, 24, 28);
}

/* The last number may stand for several sites. */
static void shared_numbers_keep_hope(void **state)
{
	struct world w;

	begin(&w, 1, 1, 0);
	while (w.class.nr_sites < LEARN_SITES)
		learn_site(&w.class);
	w.class.arm = KEEN;
	assert_true(learn_unelidable(&w.class, LEARN_SITES - 2, w.now));
	assert_false(learn_unelidable(&w.class, LEARN_SITES - 1, w.now));
	assert_int_equal(learn_arm(&w.class, LEARN_SITES - 2), REAL);
	assert_int_equal(learn_arm(&w.class, LEARN_SITES - 1), KEEN);
}

/* A fifth of the sections that begin at the site release a lock from before them, and more than two. */
static void hand_over_hand_is_a_fifth(void **state)
{
	static const struct {
		uint64_t aborts, commits;
		bool hand;
	} table[] = {
		{0, 0, false}, {2, 0, false}, {3, 0, true},      {3, 15, true},
		{3, 16, false}, {250, 1003, true}, {250, 1004, false},
	};

	for (size_t i = 0; i < ARRAY_SIZE(table); i++)
		if (learn_hand_over_hand(table[i].aborts, table[i].commits) != table[i].hand)
			fail_msg("row %zu", i);
}

static void two_commits_give_hope(void **state)
{
	struct world w;

	begin(&w, 1, 1, 0);
	w.class.arm = KEEN;
	learn_unelidable(&w.class, 0, w.now);
	w.now += MS;
	assert_true(learn_probe(&w.class, 0, w.now));
	assert_false(learn_probed(&w.class, 0, LEARN_PASSED, w.now));
	assert_int_equal(learn_arm(&w.class, 0), REAL);
	/* One that fails between begins it anew. */
	assert_true(learn_probe(&w.class, 0, w.now));
	assert_false(learn_probed(&w.class, 0, LEARN_FAILED, w.now));
	w.now += 2 * MS;
	assert_true(learn_probe(&w.class, 0, w.now));
	assert_false(learn_probed(&w.class, 0, LEARN_PASSED, w.now));
	assert_true(learn_probe(&w.class, 0, w.now));
	assert_true(learn_probed(&w.class, 0, LEARN_PASSED, w.now));
	assert_int_equal(learn_arm(&w.class, 0), KEEN);
	/* A clock that went back must not stop the probes for ever. */
	learn_unelidable(&w.class, 0, w.now);
	w.now -= 3000 * MS;
	assert_false(learn_probe(&w.class, 0, w.now));
	assert_true(learn_probe(&w.class, 0, w.now + 10 * MS));
}

/* If other threads end four probes, the site is usual again. */
static void four_ended_by_others_are_enough(void **state)
{
	struct world w;
	int n = 0;

	begin(&w, 1, 1, 0);
	learn_unelidable(&w.class, 0, w.now);
	w.now += MS;
	while (!learn_probed(&w.class, 0, LEARN_UNSURE, w.now)) {
		w.now += MS;
		assert_true(learn_probe(&w.class, 0, w.now));
		assert_true(++n < 10);
	}
	assert_int_equal(learn_arm(&w.class, 0), KEEN);
	assert_true(learn_unelidable(&w.class, 0, w.now));
	/* It has cost more than a probe, and is not done as soon again. */
	assert_false(learn_probe(&w.class, 0, w.now + MS - 1));
	assert_true(learn_probe(&w.class, 0, w.now + MS));
}

/* A site without hope is left out of what all of them do. */
static void without_hope_it_is_not_asked(void **state)
{
	struct world w;

	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		begin(&w, seed, 2, 0.03);
		set(&w, 0, 1, 2, 2);
		set(&w, 1, 1, 0.1, 0.1);
		learn_unelidable(&w.class, 1, w.now);
		for (int i = 0; i < 500; i++) {
			trial(&w);
			assert_int_equal(learn_arm(&w.class, 1), REAL);
		}
		check(&w, seed, w.class.arm != REAL);
		check(&w, seed, w.done > 0.95 * w.best);
	}
}

/* One elided acquisition for four that fell back: the others met theirs by chance. */
static void few_that_are_elided_are_enough(void **state)
{
	static const struct {
		uint32_t commits, fallbacks;
		bool elided;
	} table[] = {
		{0, 0, false}, {0, 3, false},   {0, 1000, false}, {1, 3, true},
		{1, 7, true},  {1, 8, false},   {250, 1000, true}, {249, 1000, false},
		{5, 0, true},  {1u << 31, 1u << 31, true},
	};

	for (unsigned int i = 0; i < ARRAY_SIZE(table); i++)
		assert_int_equal(learn_elided(table[i].commits, table[i].fallbacks), table[i].elided);
}

/* A round begins anew with a site that was elided, not with one where locking is the best. */
static void a_usual_site_begins_the_rotation_anew(void **state)
{
	static const uint8_t arms[] = {KEEN, REAL};
	struct world w;

	for (unsigned int i = 0; i < ARRAY_SIZE(arms); i++) {
		begin(&w, 1, 1, 0);
		w.class.arm = arms[i];
		w.class.asked = 3;
		learn_unelidable(&w.class, 0, w.now);
		learn_probed(&w.class, 0, LEARN_PASSED, w.now);
		assert_true(learn_probed(&w.class, 0, LEARN_PASSED, w.now));
		assert_int_equal(w.class.asked, arms[i] == REAL ? 3 : 0);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_hope_it_is_probed_seldom),
		cmocka_unit_test(shared_numbers_keep_hope),
		cmocka_unit_test(hand_over_hand_is_a_fifth),
		cmocka_unit_test(two_commits_give_hope),
		cmocka_unit_test(four_ended_by_others_are_enough),
		cmocka_unit_test(without_hope_it_is_not_asked),
		cmocka_unit_test(few_that_are_elided_are_enough),
		cmocka_unit_test(a_usual_site_begins_the_rotation_anew),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
