// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test_crowd.c - the truth tables of lib/policy/crowd.c, and when the arm "restrict" is chosen.
 */
#include "../../lib/policy/crowd.h"
#include "../../lib/policy/judge.h"
#include "../../lib/policy/question.h"
#include "learn-world.h"

static void a_parked_thread_leaves(void **state)
{
	static const struct {
		struct policy_parked p;
		enum policy_crowd what;
		uint64_t sleep;
	} table[] = {
		/* Behind others: until the bound, or the deadline of its call. */
		{{.restricts = 1, .parked = 10, .bound = 100, .left = ~0ull, .poll = 20},
		 POLICY_CROWD_SLEEP, 90},
		{{.restricts = 1, .parked = 10, .bound = 100, .left = 30, .poll = 20},
		 POLICY_CROWD_SLEEP, 30},
		{{.restricts = 1, .parked = 100, .bound = 100, .left = ~0ull}, POLICY_CROWD_LATE, 1},
		{{.restricts = 1, .parked = 10, .bound = 100, .left = 0}, POLICY_CROWD_LATE, 1},
		/* The lock is only looked at by the first. */
		{{.restricts = 1, .looked = 1, .nr_free = CROWD_LOOKS, .bound = 100, .left = ~0ull},
		 POLICY_CROWD_SLEEP, 100},
		{{.restricts = 1, .first = 1, .nr_free = CROWD_LOOKS, .bound = 100, .left = ~0ull,
		  .poll = 20}, POLICY_CROWD_SLEEP, 20},
		{{.restricts = 1, .first = 1, .looked = 1, .nr_free = CROWD_LOOKS, .bound = 100,
		  .left = ~0ull, .poll = 20}, POLICY_CROWD_IDLE, 20},
		{{.restricts = 1, .first = 1, .looked = 1, .nr_free = CROWD_LOOKS, .nr_waited = 1,
		  .bound = 100, .left = ~0ull, .poll = 20}, POLICY_CROWD_IDLE, 20},
		{{.restricts = 1, .first = 1, .looked = 1, .nr_free = CROWD_LOOKS - 1, .bound = 100,
		  .left = ~0ull, .poll = 20}, POLICY_CROWD_JOIN, 20},
		{{.restricts = 1, .first = 1, .looked = 1, .nr_free = CROWD_LOOKS - 1, .nr_waited = 1,
		  .bound = 100, .left = ~0ull, .poll = 20}, POLICY_CROWD_SLEEP, 20},
		{{.restricts = 1, .first = 1, .looked = 1, .nr_free = 0, .bound = 100, .left = ~0ull,
		  .poll = 200}, POLICY_CROWD_SLEEP, 100},
		/* Whatever else there is. */
		{{.restricts = 0, .bound = 100, .left = ~0ull}, POLICY_CROWD_OPEN, 100},
		{{.restricts = 0, .parked = 200, .bound = 100, .left = ~0ull}, POLICY_CROWD_OPEN, 1},
		{{.restricts = 1, .admitted = 1, .parked = 200, .bound = 100, .left = 0},
		 POLICY_CROWD_ADMITTED, 1},
	};

	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		if (policy_crowd_parked(&table[i].p) == table[i].what &&
		    policy_crowd_sleep(&table[i].p) == table[i].sleep)
			continue;
		fail_msg("row %zu: %d, %lu ns", i, policy_crowd_parked(&table[i].p),
			 (unsigned long)policy_crowd_sleep(&table[i].p));
	}
}

static void looks_become_rare(void **state)
{
	uint64_t poll = policy_crowd_poll(0, POLICY_CROWD_SLEEP), last;

	assert_int_equal(poll, CROWD_POLL_MIN);
	for (int i = 0; i < 10; i++) {
		last = poll;
		poll = policy_crowd_poll(last, i % 2 ? POLICY_CROWD_SLEEP : POLICY_CROWD_JOIN);
		assert_true(poll == 2 * last || poll == CROWD_POLL_MAX);
	}
	assert_int_equal(poll, CROWD_POLL_MAX);
	assert_int_equal(policy_crowd_poll(poll, POLICY_CROWD_IDLE), CROWD_POLL_MIN);
}

static void readers_are_let_in_together(void **state)
{
	assert_int_equal(policy_crowd_limit(1, false, 8), 1);
	assert_int_equal(policy_crowd_limit(1, true, 8), 8);
	assert_int_equal(policy_crowd_limit(20, true, 8), 20);
	assert_int_equal(policy_crowd_limit(0, false, 8), 0);
}

static void places_are_lost(void **state)
{
	assert_false(policy_crowd_lost(CROWD_LOST + 100, 100));
	assert_true(policy_crowd_lost(CROWD_LOST + 101, 100));
	/* The clock of the processor that wrote the time is ahead. */
	assert_false(policy_crowd_lost(-1ull, 100));
}

static void who_leaves_first(void **state)
{
	static const struct {
		struct policy_place a, b;
		uint32_t socket;
		bool before;
	} table[] = {
		{{1, 0}, {2, 0}, 0, true},
		{{2, 0}, {1, 0}, 0, false},
		{{1, 0}, {1, 0}, 0, false},
		/* Tickets have 30 bits. */
		{{0x3fffffff, 0}, {0, 0}, 0, true},
		{{0, 0}, {0x3fffffff, 0}, 0, false},
		/* Those of the socket go first. */
		{{2, 1}, {1, 0}, 1, true},
		{{1, 0}, {2, 1}, 1, false},
		{{1, 0}, {2, 0}, 1, true},
		{{1, 1}, {2, 1}, 1, true},
	};

	for (size_t i = 0; i < ARRAY_SIZE(table); i++)
		if (policy_crowd_before(&table[i].a, &table[i].b, table[i].socket) !=
		    table[i].before)
			fail_msg("row %zu", i);
}

/* Without RTM: locking, or restricting, and no other arm. */
static void begin_without_rtm(struct world *w, uint64_t seed, double restricted)
{
	begin(w, seed, 2, 0.05);
	learn_start(&w->class, true, true);
	learn_site(&w->class);
	learn_site(&w->class);
	set(w, 0, 1, 50, 50);
	set(w, 1, 1, 50, 50);
	w->rates[0][RESTRICT] = w->rates[1][RESTRICT] = restricted;
}

static void restricts_where_it_pays(void **state)
{
	struct world w;

	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		begin_without_rtm(&w, seed, 1.2);
		check(&w, seed, learn_arm(&w.class, 0) == REAL);
		run_for(&w, 300 * MS);
		check(&w, seed, w.class.few);
		check(&w, seed, learn_settled(&w.class, 1) == RESTRICT);
		/* It no longer does. */
		w.rates[0][RESTRICT] = w.rates[1][RESTRICT] = 0.7;
		run_for(&w, 300 * MS);
		check(&w, seed, !w.class.few);
	}
}

/* Threads may be parked for a tenth of a second: a gain of 1 % is not worth that. */
static void little_is_not_enough(void **state)
{
	struct world w;

	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		begin_without_rtm(&w, seed, 1.01);
		w.noise = 0.01;
		for (uint64_t end = w.now + 500 * MS; w.now < end;) {
			struct learn_decision d = trial(&w);

			check(&w, seed, !d.made || (d.arm == RESTRICT && !d.won));
			check(&w, seed, learn_arm(&w.class, 0) == REAL ||
						learn_arm(&w.class, 0) == RESTRICT);
		}
	}
}

/*
 * With more threads than processors a challenge with that arm takes up to 75 ms, and rates are noise: that
 * of one processor less lasts for some trials. Of all seeds together: a single one may be misled.
 */
static void a_crowd_is_seldom_challenged(void **state)
{
	uint64_t all = 0, challenged = 0, locked = 0;

	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		struct world w;

		begin_without_rtm(&w, seed, 0.9);
		w.oversubscribed = true;
		w.noise = 0.1;
		for (uint64_t end = w.now + 4000 * MS; w.now < end;) {
			double rate = (w.now / (3 * MS)) % 2 ? 0.6 : 1;
			uint64_t before = w.now;
			bool challenge = w.class.phase != LEARN_HOLD;

			for (unsigned int site = 0; site < 2; site++) {
				w.rates[site][REAL] = rate;
				w.rates[site][RESTRICT] = 0.9 * rate;
			}
			trial(&w);
			all += w.now - before;
			if (challenge)
				challenged += w.now - before;
			else if (!w.class.few)
				locked += w.now - before;
		}
	}
	if (challenged > all / 10 || locked < all / 10 * 8)
		fail_msg("seeds 1 to %d: %.3f of the time challenged, %.3f locked", SEEDS,
			 (double)challenged / all, (double)locked / all);
}

static void nobody_waits_nobody_is_restricted(void **state)
{
	struct world w;

	begin_without_rtm(&w, 1, 2);
	w.waits = 0.005;
	for (uint64_t end = w.now + 500 * MS; w.now < end;) {
		assert_false(trial(&w).made);
		assert_int_equal(learn_arm(&w.class, 0), REAL);
	}
}

/* With RTM, too, where eliding does not pay, and for sections that cannot be elided. */
static void restricts_what_cannot_be_elided(void **state)
{
	struct world w;

	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		begin(&w, seed, 1, 0.03);
		w.class.crowds = true;
		w.oversubscribed = true;
		set(&w, 0, 1, 0.5, 0.5);
		w.rates[0][RESTRICT] = 1.3;
		run_for(&w, 300 * MS);
		check(&w, seed, w.class.few && w.class.arm == REAL);
		while (w.class.phase != LEARN_HOLD)
			trial(&w);
		learn_unelidable(&w.class, 0, w.now);
		check(&w, seed, learn_arm(&w.class, 0) == RESTRICT);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_parked_thread_leaves),
		cmocka_unit_test(looks_become_rare),
		cmocka_unit_test(readers_are_let_in_together),
		cmocka_unit_test(places_are_lost),
		cmocka_unit_test(who_leaves_first),
		cmocka_unit_test(restricts_where_it_pays),
		cmocka_unit_test(little_is_not_enough),
		cmocka_unit_test(a_crowd_is_seldom_challenged),
		cmocka_unit_test(nobody_waits_nobody_is_restricted),
		cmocka_unit_test(restricts_what_cannot_be_elided),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
