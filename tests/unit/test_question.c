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
		d = epoch(&w);
		if (d.made && !d.won)
			assert_int_equal(d.arm, KEEN);
	}
	assert_int_equal(w.class.sites[0].arm, REAL);
}

static const char *const arm_names[] = {
#define ELIDE_ARM(id, conflict, busy, capacity, other, patience, queue, help) #id,
#include "../../lib/arms.def"
#undef ELIDE_ARM
};

/* In the first rotation each arm of arms.def but "probe" challenges each other one, once. */
static void each_arm_challenges(void **state)
{
	for (unsigned int arm = 0; arm < POLICY_NR_ARMS; arm++) {
		unsigned int asked[POLICY_NR_ARMS] = {0};
		struct world w;

		begin(&w, 1, 1, 0);
		w.class.nr_sockets = 2;
		w.class.crowds = w.class.crowded = true;
		w.class.aborts = w.class.waits = 1;
		w.class.arm = w.class.sites[0].arm = arm;
		while (w.class.asked < learn_rotation(&w.class) && learn_ask(&w.class))
			asked[w.class.challenger]++;
		for (unsigned int by = 0; arm != POLICY_ARM_probe && by < POLICY_NR_ARMS; by++) {
			if (asked[by] == (by != arm && by != POLICY_ARM_probe))
				continue;
			print_message("%s challenges %s %u times: see question.c\n", arm_names[by],
				      arm_names[arm], asked[by]);
			fail();
		}
	}
}

/* Does "restrict" challenge in the first rotation of a class that began @age ns ago? */
static bool may_restrict(struct learn_class class, uint64_t age)
{
	class.crowds = true;
	class.aborts = class.waits = 1;
	class.starts_from = 1;
	class.next_at = 1 + age;
	class.asked = 0;
	while (class.asked < learn_rotation(&class) && learn_ask(&class))
		if (class.challenger == RESTRICT)
			return true;
	return false;
}

/*
 * With no more threads than processors "restrict" challenges from 256 ms on; at once if no site of the class
 * can be elided, as no other arm can challenge then.
 */
static void who_has_a_processor_is_restricted_late(void **state)
{
	struct world w;

	begin(&w, 1, 2, 0);
	assert_false(may_restrict(w.class, 0));
	assert_false(may_restrict(w.class, 255 * MS));
	assert_true(may_restrict(w.class, 256 * MS));
	w.class.crowded = true;
	assert_true(may_restrict(w.class, 0));
	w.class.crowded = false;
	w.class.sites[0].unelidable = true;
	assert_false(may_restrict(w.class, 0));
	w.class.sites[1].unelidable = true;
	assert_true(may_restrict(w.class, 0));
	begin(&w, 1, 2, 0);
	w.class.only_locks = true;
	w.class.arm = w.class.sites[0].arm = w.class.sites[1].arm = REAL;
	assert_true(may_restrict(w.class, 0));
}

static void begin_turns(struct world *w, uint64_t seed)
{
	begin(w, seed, 2, 0.03);
	for (unsigned int site = 0; site < 2; site++) {
		set(w, site, 2, 1.8, 1.7);
		w->rates[site][TURNS] = 2.6;
	}
	w->aborts = 0.5;
}

/* Threads of two sockets that conflict take turns; on one socket that arm never challenges. */
static void turns_are_for_several_sockets(void **state)
{
	struct learn_decision d;
	struct world w;

	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		begin_turns(&w, seed);
		for (int i = 0; i < 1000; i++) {
			d = epoch(&w);
			check(&w, seed, !d.made || d.arm != TURNS);
		}
		begin_turns(&w, seed);
		w.nr_sockets = 2;
		run_for(&w, 100 * MS);
		check(&w, seed, w.class.arm == TURNS);
		/* What is measured is whole turns. */
		check(&w, seed, !learn_may_end(&w.class, LEARN_SOCKETS_PERIOD - 1));
		check(&w, seed, learn_may_end(&w.class, LEARN_SOCKETS_PERIOD));
	}
}

/* The share of time in which arms are tried that are not kept. */
static double share_asked(struct world *w, uint64_t time)
{
	uint64_t end = w->now + time, asked = 0;

	while (w->now < end) {
		bool challenger = w->class.phase == LEARN_CHALLENGER;
		uint64_t before = w->now;

		epoch(w);
		asked += challenger ? w->now - before : 0;
	}
	return (double)asked / time;
}

/* Arms that differ by noise alone: one that wins by chance must not begin the rotation anew. */
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

/* One epoch may measure any rate: an arm must not win by that alone. */
static void one_lucky_pair_does_not_win(void **state)
{
	struct learn_decision d = {0};
	struct world w;

	begin(&w, 1, 1, 0);
	set(&w, 0, 1, 2, 2);
	while (w.class.phase != LEARN_CHALLENGER)
		epoch(&w);
	set(&w, 0, 20, 2, 2);
	d = epoch(&w);
	assert_false(d.made);
	set(&w, 0, 1, 2, 2);
	for (int i = 0; i < 100 && !d.made; i++)
		d = epoch(&w);
	assert_true(d.made);
	assert_false(d.won);
}

/* Where epochs differ by a fifth by themselves, one bad pair is no reason to give up. */
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
		epoch(&w);
	w.noise = 0;
	set(&w, 0, 1, 0.65, 0.65);
	epoch(&w);
	d = epoch(&w);
	assert_false(d.made);
	assert_int_equal(w.class.pairs, 1);
}

/* Locking has won: the arm that comes closest to it is the one that challenges every other time. */
static void the_likeliest_arm_asks_whether_to_elide(void **state)
{
	struct learn_decision d;
	struct world w;
	unsigned int nr[POLICY_NR_ARMS] = {0}, all = 0;

	begin(&w, 1, 1, 0.02);
	set(&w, 0, 1, 0.6, 0.9);
	run_for(&w, 60 * MS);
	assert_int_equal(w.class.arm, REAL);
	assert_int_equal(w.class.likely, QUEUE);
	for (uint64_t end = w.now + 400 * MS; w.now < end;) {
		d = epoch(&w);
		if (d.made)
			nr[d.arm]++, all++;
	}
	assert_in_range(2 * nr[QUEUE], all - 2, all + 2 * all / 4 + 4);
	for (unsigned int arm = 0; arm < POLICY_NR_ARMS; arm++)
		assert_int_equal(nr[arm] > 0, arm != REAL && arm != POLICY_ARM_probe &&
						arm != TURNS && arm != RESTRICT);
}

/* An arm that is far behind for the class is not asked of each site, but locking is. */
static void what_is_far_behind_does_not_challenge_sites(void **state)
{
	for (unsigned int arm = 0; arm < POLICY_NR_ARMS; arm++) {
		unsigned int asked = 0;
		struct world w;

		if (arm == KEEN || arm == POLICY_ARM_probe || arm == TURNS)
			continue;
		begin(&w, 1, 2, 0);
		w.class.aborts = 1;
		w.class.far_behind = 1u << arm;
		while (w.class.asked < learn_rotation(&w.class) && learn_ask(&w.class))
			asked += w.class.challenger == arm && w.class.target != LEARN_ALL;
		assert_int_equal(asked, arm == REAL ? 2 : 0);
	}
}

/* Where sections differ, or threads wait for processors, epochs are longer from the first one on. */
static void noise_and_crowds_make_epochs_longer(void **state)
{
	static const struct {
		double noise;
		bool crowded;
		uint32_t stretch;
	} table[] = {
		{0, false, 1},   {0.15, false, 1}, {0.16, false, 2}, {0.3, false, 4},
		{0.4, false, 8}, {5, false, 8},    {0, true, 4},     {0.5, true, 8},
	};

	for (unsigned int i = 0; i < ARRAY_SIZE(table); i++) {
		struct world w;

		begin(&w, 1, 1, 0);
		set(&w, 0, 1, 2, 2);
		w.crowded = table[i].crowded;
		w.class.pair_noise = table[i].noise;
		while (w.class.phase == LEARN_HOLD)
			epoch(&w);
		assert_int_equal(w.class.stretch, table[i].stretch);
	}
}

/* A challenger that is far worse loses after one pair, where the noise is known to be small. */
static void a_clear_loser_is_cut_off(void **state)
{
	struct learn_decision d;
	struct world w;
	int nr = 0;

	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		begin(&w, seed, 1, 0.02);
		set(&w, 0, 1, 0.8, 0.8);
		run_for(&w, 20 * MS);
		check(&w, seed, w.class.sites[0].arm == REAL);
		for (int i = 0; i < 2000; i++) {
			d = epoch(&w);
			if (!d.made)
				continue;
			assert_in_range(d.pairs, 1, 2);
			nr += d.pairs == 1;
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
			d = epoch(&w);
			nr += d.made;
		}
		check(&w, seed, nr == 1);
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
			d = epoch(&w);
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
		check(&w, seed, w.class.sites[0].arm == REAL);
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
		check(&w, seed, w.class.sites[0].arm == REAL);
		w.noise = 0.1;
		set(&w, 0, 0.2, 0.6, 0.6);
		check(&w, seed, time_to_best(&w, 0.9) < 3 * MS);
	}
}

/* What only beats the real lock's convoy, which the challenge has made, is no gain. */
static void a_convoy_is_not_what_is_beaten(void **state)
{
	struct world w;

	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		begin(&w, seed, 1, 0.05);
		set(&w, 0, 3, 2.3, 2.3);
		run_for(&w, 20 * MS);
		check(&w, seed, w.class.sites[0].arm == REAL);
		w.convoy = 0.5;
		for (uint64_t end = w.now + 200 * MS; w.now < end;) {
			epoch(&w);
			check(&w, seed, w.class.sites[0].arm == REAL);
		}
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(arms_that_cannot_differ_do_not_challenge),
		cmocka_unit_test(each_arm_challenges),
		cmocka_unit_test(who_has_a_processor_is_restricted_late),
		cmocka_unit_test(turns_are_for_several_sockets),
		cmocka_unit_test(chance_does_not_begin_the_rotation_anew),
		cmocka_unit_test(one_lucky_pair_does_not_win),
		cmocka_unit_test(one_bad_pair_does_not_lose_in_noise),
		cmocka_unit_test(the_likeliest_arm_asks_whether_to_elide),
		cmocka_unit_test(what_is_far_behind_does_not_challenge_sites),
		cmocka_unit_test(noise_and_crowds_make_epochs_longer),
		cmocka_unit_test(a_clear_loser_is_cut_off),
		cmocka_unit_test(few_challenges_by_what_is_far_behind),
		cmocka_unit_test(few_challenges_without_waits),
		cmocka_unit_test(waits_are_noticed),
		cmocka_unit_test(a_collapse_is_noticed_through_noise),
		cmocka_unit_test(a_convoy_is_not_what_is_beaten),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
