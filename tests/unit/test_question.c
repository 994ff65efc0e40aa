// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test_question.c - which challenges the adaptive policy makes, how often, and which it leaves out.
 */
#include "../../lib/policy/question.h"
#include "learn-world.h"

/* Where nothing aborts the only challenge is whether to elide. */
static void arms_that_cannot_differ_do_not_challenge(void **state)
{
	struct learn_decision d;
	struct world w;

	begin(&w, 1, 2, 0.03);
	w.aborts = 0.001;
	set(&w, 0, 2, 1, 1);
	set(&w, 1, 2, 1, 1);
	for (int i = 0; i < 2000; i++) {
		d = trial(&w);
		if (d.made && !d.won)
			assert_int_equal(d.arm, KEEN);
	}
	assert_int_equal(w.class.arm, REAL);
}

/* In a round each arm before "probe" challenges each other one, once, and locking comes first. */
static void each_arm_challenges(void **state)
{
	for (unsigned int arm = 0; arm < POLICY_ARM_probe; arm++) {
		unsigned int asked[POLICY_NR_ARMS] = {0};
		struct world w;

		begin(&w, 1, 1, 0);
		w.class.crowds = w.class.oversubscribed = true;
		w.class.aborts = w.class.waits = 1;
		w.class.arm = arm;
		for (unsigned int i = 0; i < LEARN_ROUND; i++) {
			assert_true(learn_ask(&w.class));
			asked[w.class.challenger]++;
			assert_int_equal(w.class.question, arm == REAL || w.class.challenger == REAL ?
								   LEARN_WHETHER : LEARN_HOW);
			if (!i && arm != REAL)
				assert_int_equal(w.class.challenger, REAL);
		}
		for (unsigned int by = 0; by < POLICY_NR_ARMS; by++)
			assert_int_equal(asked[by], by != arm && by < POLICY_ARM_probe);
	}
}

/* After the first round every other challenge asks whether to elide. */
static void whether_to_elide_is_asked_every_other_time(void **state)
{
	unsigned int asked[POLICY_NR_ARMS] = {0};
	struct world w;

	begin(&w, 1, 1, 0);
	w.class.aborts = 1;
	w.class.asked = LEARN_ROUND;
	for (unsigned int i = 0; i < 60; i++) {
		assert_true(learn_ask(&w.class));
		asked[w.class.challenger]++;
	}
	assert_int_equal(asked[REAL], 40);
	assert_int_equal(asked[PATIENT], 10);
	assert_int_equal(asked[POLICY_ARM_lean], 10);
}

/* Is the question CROWD asked of a class that began @age ns ago? */
static bool asks_crowd(struct learn_class class, uint64_t age)
{
	class.crowds = true;
	class.waits = 1;
	class.starts_from = 1;
	return learn_ask_crowd(&class, 1 + age);
}

/* With no more threads than processors it is asked from 256 ms on. Never while something is elided. */
static void who_has_a_processor_is_restricted_late(void **state)
{
	struct world w;

	begin(&w, 1, 2, 0);
	w.class.oversubscribed = true;
	assert_false(asks_crowd(w.class, 300 * MS));
	w.class.arm = REAL;
	assert_true(asks_crowd(w.class, 0));
	w.class.oversubscribed = false;
	assert_false(asks_crowd(w.class, 255 * MS));
	assert_true(asks_crowd(w.class, 256 * MS));
	w.class.arm = KEEN;
	w.class.sites[0].unelidable = true;
	assert_false(asks_crowd(w.class, 300 * MS));
	w.class.sites[1].unelidable = true;
	assert_true(asks_crowd(w.class, 300 * MS));
	/* Few threads wait: there is nothing to restrict. */
	w.class.waits = 0.001;
	assert_false(learn_ask_crowd(&w.class, w.class.starts_from + 300 * MS));
}

/* The share of time in which arms are tried that are not kept. */
static double share_asked(struct world *w, uint64_t time)
{
	uint64_t end = w->now + time, asked = 0;

	while (w->now < end) {
		bool challenger = w->class.phase == LEARN_CHALLENGER;
		uint64_t before = w->now;

		trial(w);
		asked += challenger ? w->now - before : 0;
	}
	return (double)asked / time;
}

/* Arms that differ by noise alone: one that wins by chance must not begin the round anew. */
static void chance_does_not_begin_the_rotation_anew(void **state)
{
	struct world w;

	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		begin(&w, seed, 2, 0.05);
		set(&w, 0, 1, 3, 3);
		set(&w, 1, 1, 3, 3);
		run_for(&w, 20 * MS);
		check(&w, seed, share_asked(&w, 100 * MS) < 0.03);
	}
}

/* One trial may measure any rate: an arm must not win by that alone. */
static void one_lucky_pair_does_not_win(void **state)
{
	struct learn_decision d = {0};
	struct world w;

	begin(&w, 1, 1, 0);
	set(&w, 0, 1, 2, 2);
	while (w.class.phase != LEARN_CHALLENGER)
		trial(&w);
	set(&w, 0, 20, 2, 2);
	d = trial(&w);
	assert_false(d.made);
	set(&w, 0, 1, 2, 2);
	for (int i = 0; i < 100 && !d.made; i++)
		d = trial(&w);
	assert_true(d.made);
	assert_false(d.won);
}

/* Where trials differ by a fifth by themselves, one bad pair is no reason to give up. */
static void one_bad_pair_does_not_lose_in_noise(void **state)
{
	struct learn_decision d = {0};
	struct world w;

	begin(&w, 1, 1, 0.2);
	w.aborts = 0;
	set(&w, 0, 1, 0.7, 0.7);
	run_for(&w, 60 * MS);
	assert_int_equal(w.class.arm, REAL);
	while (w.class.phase == LEARN_HOLD)
		trial(&w);
	w.noise = 0;
	set(&w, 0, 1, 0.65, 0.65);
	trial(&w);
	d = trial(&w);
	assert_false(d.made);
	assert_int_equal(w.class.pairs, 1);
}

/* A challenger that is far worse loses after two pairs. */
static void a_clear_loser_is_cut_off(void **state)
{
	struct learn_decision d;
	struct world w;
	int nr = 0;

	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		begin(&w, seed, 1, 0.02);
		set(&w, 0, 1, 0.8, 0.8);
		run_for(&w, 20 * MS);
		check(&w, seed, w.class.arm == REAL);
		for (int i = 0; i < 2000; i++) {
			d = trial(&w);
			if (!d.made)
				continue;
			assert_int_equal(d.pairs, 2);
			nr++;
		}
	}
	assert_true(nr > 10 * SEEDS);
}

/* Where locking is the only challenger, and far behind, challenges are few. */
static void few_challenges_by_what_is_far_behind(void **state)
{
	struct learn_decision d;
	struct world w;

	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		unsigned int nr = 0;

		begin(&w, seed, 1, 0.05);
		w.aborts = 0.001;
		set(&w, 0, 0.01, 0.08, 0.08);
		for (uint64_t end = w.now + 40 * MS; w.now < end;) {
			d = trial(&w);
			nr += d.made;
		}
		/* The first answer may be by chance. */
		check(&w, seed, nr == 2);
		check(&w, seed, share_asked(&w, 4000 * MS) < 0.005);
		/* It challenges all the same. */
		set(&w, 0, 0.1, 0.08, 0.08);
		run_for(&w, 600 * MS);
		check(&w, seed, w.class.arm == REAL);
	}
}

/* Where no thread waits, eliding can gain little: there are a quarter of the challenges. */
static void few_challenges_without_waits(void **state)
{
	unsigned int nr[2] = {0, 0};
	struct learn_decision d;
	struct world w;

	for (int waits = 0; waits < 2; waits++) {
		begin(&w, 1, 1, 0.02);
		w.aborts = 0;
		w.waits = waits ? 0.5 : 0;
		set(&w, 0, 1, 0.8, 0.8);
		run_for(&w, 100 * MS);
		for (uint64_t end = w.now + 640 * MS; w.now < end;) {
			d = trial(&w);
			nr[waits] += d.made;
		}
	}
	assert_in_range(nr[0], 15, 25);
	assert_in_range(nr[1], 60, 90);
}

/* When threads begin to wait, a challenge comes as soon as if they always had. */
static void waits_are_noticed(void **state)
{
	struct world w;

	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		begin(&w, seed, 1, 0.03);
		w.waits = 0;
		set(&w, 0, 1, 0.8, 0.8);
		run_for(&w, 100 * MS);
		check(&w, seed, w.class.arm == REAL);
		w.waits = 0.5;
		set(&w, 0, 1, 2, 2);
		check(&w, seed, time_to_best(&w, 0.9) < 10 * MS);
	}
}

/* A rate that is noisy departs all the same: what it departs by is not taken for noise. */
static void a_collapse_is_noticed_through_noise(void **state)
{
	struct world w;

	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		begin(&w, seed, 1, 0.3);
		set(&w, 0, 1, 0.3, 0.3);
		run_for(&w, 60 * MS);
		check(&w, seed, w.class.arm == REAL);
		w.noise = 0.1;
		set(&w, 0, 0.2, 0.6, 0.6);
		check(&w, seed, time_to_best(&w, 0.9) < 3 * MS);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(arms_that_cannot_differ_do_not_challenge),
		cmocka_unit_test(each_arm_challenges),
		cmocka_unit_test(whether_to_elide_is_asked_every_other_time),
		cmocka_unit_test(who_has_a_processor_is_restricted_late),
		cmocka_unit_test(chance_does_not_begin_the_rotation_anew),
		cmocka_unit_test(one_lucky_pair_does_not_win),
		cmocka_unit_test(one_bad_pair_does_not_lose_in_noise),
		cmocka_unit_test(a_clear_loser_is_cut_off),
		cmocka_unit_test(few_challenges_by_what_is_far_behind),
		cmocka_unit_test(few_challenges_without_waits),
		cmocka_unit_test(waits_are_noticed),
		cmocka_unit_test(a_collapse_is_noticed_through_noise),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
