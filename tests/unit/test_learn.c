// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test_learn.c - what lib/policy/learn.c decides, on synthetic streams of trials.
 */
#include "../../lib/policy/judge.h"
#include "learn-world.h"

static void friendly_is_elided(void **state)
{
	struct world w;

	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		begin(&w, seed, 1, 0.03);
		set(&w, 0, 1, 3, 3);
		run_for(&w, 50 * MS);
		check(&w, seed, w.class.arm != REAL);
		check(&w, seed, w.done > 0.97 * w.best);
	}
}

static void hostile_is_not(void **state)
{
	struct world w;

	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		begin(&w, seed, 1, 0.03);
		set(&w, 0, 3, 1, 1);
		run_for(&w, 50 * MS);
		check(&w, seed, w.class.arm == REAL);
		check(&w, seed, w.done > 0.97 * w.best);
	}
}

static void patience_is_found(void **state)
{
	struct world w;

	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		begin(&w, seed, 1, 0.03);
		set(&w, 0, 2, 1.5, 3);
		run_for(&w, 50 * MS);
		check(&w, seed, w.class.arm == PATIENT);
		check(&w, seed, w.done > 0.95 * w.best);
	}
}

/* What hardly matters may come out either way, but must not cost. */
static void noise_does_not_cost(void **state)
{
	struct world w;

	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		begin(&w, seed, 1, 0.2);
		set(&w, 0, 1, 1.01, 1.01);
		run_for(&w, 100 * MS);
		check(&w, seed, w.done > 0.97 * w.best);
	}
}

static void much_is_found_through_noise(void **state)
{
	struct world w;

	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		begin(&w, seed, 1, 0.2);
		set(&w, 0, 1, 2, 2);
		run_for(&w, 100 * MS);
		check(&w, seed, w.class.arm != REAL);
		check(&w, seed, w.done > 0.9 * w.best);
	}
}

/*
 * Threads that lock sleep and wake: trials are short and fast, or long and slow, and the challenge is
 * decided by what locking makes of all the time.
 */
static void a_burst_is_not_the_rate(void **state)
{
	struct learn_decision d = {0};
	struct world w;

	begin(&w, 1, 1, 0);
	w.class.arm = REAL;
	for (int i = 0; i < 40; i++) {
		uint64_t length = (i % 2 ? 100 : 200) * LEARN_US;
		struct learn_trial e = {.sections = 400, .length = length, .whole = length,
					.now = w.now += length};

		w.class.elide.at = w.now + (i < 39 ? MS : 0);
		assert_int_equal(w.class.phase, LEARN_HOLD);
		learn_trial(&w.class, &e);
	}
	/* 800 sections in 300 us are less than 2.85 for each; the mean of 2 and 4 is more. */
	set(&w, 0, 2.5 / 4, 2.85 / 4, 2.85 / 4);
	while (!d.made)
		d = trial(&w);
	assert_true(d.won);
	assert_int_equal(w.class.arm, KEEN);
}

/* Trials end while threads run: the rate is what was done by the time it took, not a mean of rates. */
static void the_rate_counts_each_nanosecond_once(void **state)
{
	struct world w;

	begin(&w, 1, 1, 0);
	w.class.elide.at = w.now + 1000 * MS;
	for (int i = 0; i < 33; i++) {
		struct learn_trial e = {.sections = 400};

		e.length = e.whole = i % 2 ? 100 * LEARN_US : 120 * LEARN_US;
		e.now = w.now += e.length;
		learn_trial(&w.class, &e);
	}
	assert_in_range(w.class.rate * 110 * LEARN_US, 399, 401);
}

/* From the second pair two standard errors are enough, after the last one. */
static void what_pairs_decide(void **state)
{
	static const struct {
		uint8_t question, pairs;
		bool few;
		double mean, error;
		enum learn_verdict verdict;
		uint8_t challenger;
		bool idle;
	} table[] = {
		{LEARN_HOW, 1, false, 1, 0.01, LEARN_UNCLEAR},
		{LEARN_HOW, 1, false, -1, 0.01, LEARN_UNCLEAR},
		{LEARN_HOW, 2, false, 0.09, 0.04, LEARN_WINS},
		{LEARN_HOW, 2, false, 0.08, 0.04, LEARN_UNCLEAR},
		{LEARN_HOW, 2, false, -0.08, 0.04, LEARN_LOSES},
		{LEARN_WHETHER, 9, false, 0.06, 0.04, LEARN_UNCLEAR},
		{LEARN_WHETHER, 10, false, 0.06, 0.04, LEARN_WINS},
		{LEARN_WHETHER, 10, false, 0.06, 0.07, LEARN_LOSES},
		{LEARN_WHETHER, 10, false, -0.01, 0.04, LEARN_LOSES},
		/* Few that wait have to gain 3 %, and are not given up for less. */
		{LEARN_CROWD, 2, false, 0.05, 0.02, LEARN_UNCLEAR},
		{LEARN_CROWD, 2, false, 0.08, 0.02, LEARN_WINS},
		{LEARN_CROWD, 2, true, 0.02, 0.02, LEARN_WINS},
		{LEARN_CROWD, 5, true, -0.04, 0.02, LEARN_UNCLEAR},
		{LEARN_CROWD, 6, true, -0.04, 0.02, LEARN_LOSES},
		/* Where nobody waits and it is unclear to the end, eliding has to gain 3 %, and locking may lose that. */
		{LEARN_WHETHER, 2, false, 0.08, 0.02, LEARN_WINS, KEEN},
		{LEARN_WHETHER, 2, false, 0.04, 0.02, LEARN_UNCLEAR, KEEN},
		{LEARN_WHETHER, 10, false, 0.02, 0.01, LEARN_LOSES, KEEN},
		{LEARN_WHETHER, 10, false, -0.01, 0.01, LEARN_WINS, REAL, true},
		{LEARN_WHETHER, 2, false, -0.08, 0.02, LEARN_LOSES, REAL, true},
	};

	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		struct learn_class c = {
			.question = table[i].question,
			.pairs = table[i].pairs,
			.few = table[i].few,
			.challenger = table[i].challenger,
			.waits = table[i].idle || table[i].challenger != REAL ? 0 : 1,
			.first = 1,
		};

		if (learn_judge(&c, table[i].mean, table[i].error) != table[i].verdict)
			fail_msg("row %zu", i);
	}
}

static void a_change_is_noticed(void **state)
{
	struct world w;

	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		begin(&w, seed, 1, 0.03);
		for (int turn = 0; turn < 6; turn++) {
			if (turn % 2)
				set(&w, 0, 1, 0.5, 0.5);
			else
				set(&w, 0, 1, 3, 3);
			check(&w, seed, time_to_best(&w, 0.9) < 10 * MS);
			run_for(&w, 40 * MS);
		}
	}
}

/* It turns friendly while eliding is not tried: nothing else changes. */
static void a_silent_change_is_noticed(void **state)
{
	struct world w;

	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		begin(&w, seed, 1, 0.03);
		set(&w, 0, 1, 0.5, 0.5);
		run_for(&w, 200 * MS);
		set(&w, 0, 1, 1.5, 1.5);
		check(&w, seed, time_to_best(&w, 0.9) < 20 * MS);
	}
}

/* Where it makes no difference the arm may change, but the class is left alone more and more. */
static void what_is_equal_is_asked_seldom(void **state)
{
	unsigned int nr = 0;
	struct world w;

	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		begin(&w, seed, 1, 0.1);
		set(&w, 0, 1, 0.995, 0.995);
		run_for(&w, 100 * MS);
		for (uint64_t end = w.now + 1000 * MS; w.now < end;)
			nr += trial(&w).made;
	}
	/* One in 32 ms; while nothing is elided one in 8 ms. With a new round after each change they were 134. */
	assert_in_range(nr, SEEDS * 20, SEEDS * 100);
}

static void a_clock_that_jumps_does_no_harm(void **state)
{
	struct world w;

	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		begin(&w, seed, 1, 0.03);
		set(&w, 0, 1, 3, 3);
		for (int i = 0; i < 100; i++) {
			run_for(&w, MS);
			/* An hour forth and back, and less. */
			w.now += (draw(&w) - 0.5) * 2 * 3600e9 * draw(&w);
			if (w.now < 4000 * MS || w.now > UINT64_MAX / 2)
				w.now = 4000 * MS;
		}
		check(&w, seed, w.class.arm != REAL);
		set(&w, 0, 3, 1, 1);
		check(&w, seed, time_to_best(&w, 0.9) < 10 * MS);
	}
}

/* After the clock has jumped back, a challenge does not wait until it reaches its time again. */
static void a_clock_that_went_back_delays_no_challenge(void **state)
{
	struct world w;
	uint64_t end;

	begin(&w, 1, 1, 0);
	set(&w, 0, 1, 3, 3);
	run_for(&w, 50 * MS);
	while (w.class.phase != LEARN_HOLD || w.class.elide.at <= w.now)
		trial(&w);
	w.now -= 3000 * MS;
	end = w.now + 260 * MS; /* a little more than the longest time between questions */
	while (w.class.phase == LEARN_HOLD && w.now < end)
		trial(&w);
	assert_int_not_equal(w.class.phase, LEARN_HOLD);
}

static void sites_beyond_the_room_share_the_last(void **state)
{
	struct learn_class c;

	learn_start(&c, false, false);
	for (unsigned int i = 0; i < 3 * LEARN_SITES; i++)
		assert_int_equal(learn_site(&c), i < LEARN_SITES ? i : LEARN_SITES - 1);
	assert_int_equal(c.nr_sites, LEARN_SITES);
}

static void a_new_site_begins_as_its_class(void **state)
{
	struct world w;

	begin(&w, 1, 1, 0.03);
	set(&w, 0, 1, 3, 3);
	run_for(&w, 10 * MS);
	assert_int_not_equal(w.class.arm, REAL);
	assert_int_equal(learn_arm(&w.class, learn_site(&w.class)), w.class.arm);
}

static void nothing_happens_without_sections(void **state)
{
	struct learn_class c;
	struct learn_trial e = {.length = MS, .whole = MS, .now = 5000 * MS};

	learn_start(&c, false, false);
	learn_site(&c);
	assert_false(learn_over(&c, MS, 0));
	/* But a thread that stands still for long must not stop everything. */
	for (int i = 0; i < 1000; i++, e.now += MS)
		assert_false(learn_trial(&c, &e).won);
	assert_int_equal(c.arm, KEEN);
}

/* While another class is in a challenge about eliding none begins, and as soon as it is over one does. */
static void classes_take_turns(void **state)
{
	struct learn_class c;
	struct learn_trial e = {.sections = 1000, .length = MS, .whole = MS, .now = 5000 * MS, .others = true};

	learn_start(&c, false, false);
	learn_site(&c);
	for (int i = 0; i < 100; i++, e.now += MS) {
		learn_trial(&c, &e);
		assert_int_equal(c.phase, LEARN_HOLD);
	}
	e.others = false;
	learn_trial(&c, &e);
	assert_int_equal(c.phase, LEARN_INCUMBENT);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(classes_take_turns),
		cmocka_unit_test(friendly_is_elided),
		cmocka_unit_test(hostile_is_not),
		cmocka_unit_test(patience_is_found),
		cmocka_unit_test(noise_does_not_cost),
		cmocka_unit_test(much_is_found_through_noise),
		cmocka_unit_test(a_burst_is_not_the_rate),
		cmocka_unit_test(the_rate_counts_each_nanosecond_once),
		cmocka_unit_test(what_pairs_decide),
		cmocka_unit_test(a_change_is_noticed),
		cmocka_unit_test(a_silent_change_is_noticed),
		cmocka_unit_test(what_is_equal_is_asked_seldom),
		cmocka_unit_test(a_clock_that_jumps_does_no_harm),
		cmocka_unit_test(a_clock_that_went_back_delays_no_challenge),
		cmocka_unit_test(sites_beyond_the_room_share_the_last),
		cmocka_unit_test(a_new_site_begins_as_its_class),
		cmocka_unit_test(nothing_happens_without_sections),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
