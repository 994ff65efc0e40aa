/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * test_learn.c - where lib/learn.c comes to, on streams of epochs that are made up.
 *
 * A world has a rate for each arm at each site, and noise. Every stream is drawn
 * from a seed that is printed when a test fails.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "../../lib/compiler.h"
#include "../../lib/learn.h"

#define REAL  POLICY_ARM_real
#define KEEN  POLICY_ARM_keen
#define QUEUE POLICY_ARM_queue
#define TURNS POLICY_ARM_turns

#define SEEDS 20
#define MS    (1000 * LEARN_US)

/**
 * struct world - what a class of locks is like, and how it went.
 * @rates: sections per microsecond of a thread, by site and arm
 * @noise: of each epoch, relative
 * @aborts: by section where anything is elided
 * @waits: by section where nothing is
 * @nr_sites: sites, each with the same part of the sections
 * @nr_sockets: sockets that the threads are on
 * @done, @best: sections completed, and what the best arms would have
 */
struct world {
	double rates[LEARN_SITES][POLICY_NR_ARMS];
	double noise;
	double aborts;
	double waits;
	unsigned int nr_sites;
	unsigned int nr_sockets;
	uint64_t seed;
	uint64_t now;
	double done;
	double best;
	struct learn_class class;
};

static double draw(struct world *w)
{
	w->seed = w->seed * 6364136223846793005ull + 1442695040888963407ull;
	return (double)(w->seed >> 40) / (1 << 24);
}

/* About normal, with deviation 1. */
static double draw_normal(struct world *w)
{
	double sum = -6;

	for (int i = 0; i < 12; i++)
		sum += draw(w);
	return sum;
}

static void begin(struct world *w, uint64_t seed, unsigned int nr_sites, double noise)
{
	memset(w, 0, sizeof(*w));
	w->seed = seed;
	w->noise = noise;
	w->aborts = 0.1;
	w->waits = 0.5;
	w->nr_sites = nr_sites;
	w->nr_sockets = 1;
	w->now = 5000 * MS;
	learn_start(&w->class);
	for (unsigned int i = 0; i < nr_sites; i++)
		assert_int_equal(learn_site(&w->class), i);
}

static void set(struct world *w, unsigned int site, double real, double keen, double queue)
{
	for (unsigned int arm = 0; arm < POLICY_NR_ARMS; arm++)
		w->rates[site][arm] = keen;
	w->rates[site][REAL] = real;
	w->rates[site][QUEUE] = queue;
}

/* Rates of sites add up as times do: each has as many sections. */
static double rate_now(const struct world *w)
{
	double time = 0;

	for (unsigned int i = 0; i < w->nr_sites; i++)
		time += 1 / w->rates[i][learn_arm(&w->class, i)];
	return w->nr_sites / time;
}

static double rate_best(const struct world *w)
{
	double time = 0;

	for (unsigned int i = 0; i < w->nr_sites; i++) {
		double best = 0;

		for (unsigned int arm = 0; arm < POLICY_NR_ARMS; arm++)
			if (w->rates[i][arm] > best)
				best = w->rates[i][arm];
		time += 1 / best;
	}
	return w->nr_sites / time;
}

/* One epoch of four threads. */
static struct learn_decision epoch(struct world *w)
{
	struct learn_epoch e = {0};
	double rate = rate_now(w), seen = rate * (1 + w->noise * draw_normal(w));

	while (!learn_over(&w->class, e.length, 4 * rate * e.length / LEARN_US))
		e.length += 5 * LEARN_US;
	w->now += e.length;
	w->done += rate * e.length;
	w->best += rate_best(w) * e.length;
	e.sections = 4 * seen * e.length / LEARN_US;
	e.aborts = w->aborts * e.sections;
	e.waits = w->waits * e.sections;
	e.whole = e.length;
	e.now = w->now;
	e.nr_sockets = w->nr_sockets;
	return learn_epoch(&w->class, &e);
}

static void run_for(struct world *w, uint64_t time)
{
	uint64_t end = w->now + time;

	while (w->now < end)
		epoch(w);
}

/* Time until the incumbents are as good as the best, within @share. */
static uint64_t time_to_best(struct world *w, double share)
{
	uint64_t start = w->now;

	while (w->now - start < 1000 * MS) {
		if (w->class.phase == LEARN_HOLD && rate_now(w) >= share * rate_best(w))
			break;
		epoch(w);
	}
	return w->now - start;
}

#define check(w, seed, condition)                                             \
	do {                                                                  \
		if (!(condition))                                             \
			fail_msg("seed %lu, %s; arm %d, %.3f of the best",    \
				 (unsigned long)(seed), #condition,           \
				 (w)->class.sites[0].arm, (w)->done / (w)->best); \
	} while (0)

static void friendly_is_elided(void **state)
{
	struct world w;

	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		begin(&w, seed, 1, 0.03);
		set(&w, 0, 1, 3, 3);
		run_for(&w, 50 * MS);
		check(&w, seed, w.class.sites[0].arm != REAL);
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
		check(&w, seed, w.class.sites[0].arm == REAL);
		check(&w, seed, w.done > 0.97 * w.best);
	}
}

static void the_queue_is_found(void **state)
{
	struct world w;

	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		begin(&w, seed, 1, 0.03);
		set(&w, 0, 2, 1.5, 3);
		run_for(&w, 50 * MS);
		check(&w, seed, w.class.sites[0].arm == QUEUE);
		check(&w, seed, w.done > 0.95 * w.best);
	}
}

static void sites_are_told_apart(void **state)
{
	struct world w;

	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		begin(&w, seed, 2, 0.03);
		set(&w, 0, 1, 2, 2);
		set(&w, 1, 1, 0.4, 0.4);
		run_for(&w, 100 * MS);
		check(&w, seed, w.class.sites[0].arm != REAL);
		check(&w, seed, w.class.sites[1].arm == REAL);
		check(&w, seed, w.done > 0.92 * w.best);
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
		check(&w, seed, w.class.sites[0].arm != REAL);
		check(&w, seed, w.done > 0.9 * w.best);
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
		check(&w, seed, w.class.sites[0].arm != REAL);
		set(&w, 0, 3, 1, 1);
		check(&w, seed, time_to_best(&w, 0.9) < 10 * MS);
	}
}

/* What was to be asked some milliseconds from now must not wait for the clock to be there again. */
static void a_clock_that_went_back_delays_no_question(void **state)
{
	struct world w;
	uint64_t end;

	begin(&w, 1, 1, 0);
	set(&w, 0, 1, 3, 3);
	run_for(&w, 50 * MS);
	while (w.class.phase != LEARN_HOLD || w.class.next_at <= w.now)
		epoch(&w);
	w.now -= 3000 * MS;
	end = w.now + 35 * MS; /* a little more than the longest time between questions */
	while (w.class.phase == LEARN_HOLD && w.now < end)
		epoch(&w);
	assert_int_not_equal(w.class.phase, LEARN_HOLD);
}

static void without_hope_it_is_probed_seldom(void **state)
{
	struct world w;
	unsigned int probes = 0;

	begin(&w, 1, 1, 0);
	assert_true(learn_hopeless(&w.class, 0, w.now));
	assert_false(learn_hopeless(&w.class, 0, w.now));
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

static void two_commits_give_hope(void **state)
{
	struct world w;

	begin(&w, 1, 1, 0);
	w.class.sites[0].arm = KEEN;
	learn_hopeless(&w.class, 0, w.now);
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
	learn_hopeless(&w.class, 0, w.now);
	w.now -= 3000 * MS;
	assert_false(learn_probe(&w.class, 0, w.now));
	assert_true(learn_probe(&w.class, 0, w.now + 10 * MS));
}

/* Whether there is hope cannot be told from outside a crowd: then all try. */
static void unsure_is_hope(void **state)
{
	struct world w;
	int n = 0;

	begin(&w, 1, 1, 0);
	learn_hopeless(&w.class, 0, w.now);
	w.now += MS;
	while (!learn_probed(&w.class, 0, LEARN_UNSURE, w.now)) {
		w.now += MS;
		assert_true(learn_probe(&w.class, 0, w.now));
		assert_true(++n < 10);
	}
	assert_int_equal(learn_arm(&w.class, 0), KEEN);
	assert_true(learn_hopeless(&w.class, 0, w.now));
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
		learn_hopeless(&w.class, 1, w.now);
		for (int i = 0; i < 500; i++) {
			epoch(&w);
			assert_int_equal(learn_arm(&w.class, 1), REAL);
		}
		check(&w, seed, w.class.sites[0].arm != REAL);
		check(&w, seed, w.done > 0.95 * w.best);
	}
}

/* Where nothing aborts only one question is asked. */
static void what_cannot_differ_is_not_asked(void **state)
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

static void begin_turns(struct world *w, uint64_t seed)
{
	begin(w, seed, 2, 0.03);
	for (unsigned int site = 0; site < 2; site++) {
		set(w, site, 2, 1.8, 1.7);
		w->rates[site][TURNS] = 2.6;
	}
	w->aborts = 0.5;
}

/* Threads of two sockets that are in each other's way take turns; on one that is not asked. */
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
		check(&w, seed, !learn_may_end(&w.class, LEARN_TURN - 1));
		check(&w, seed, learn_may_end(&w.class, LEARN_TURN));
	}
}

static void sites_beyond_the_room_share_the_last(void **state)
{
	struct learn_class c;

	learn_start(&c);
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
	struct learn_epoch e = {.length = MS, .whole = MS, .now = 5000 * MS};

	learn_start(&c);
	learn_site(&c);
	assert_false(learn_over(&c, MS, 0));
	/* But a thread that stands still for long must not stop everything. */
	for (int i = 0; i < 1000; i++, e.now += MS)
		assert_false(learn_epoch(&c, &e).won);
	assert_int_equal(c.sites[0].arm, KEEN);
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

/* Arms that differ by nothing but noise: one that wins by chance must not begin it all anew. */
static void chance_does_not_begin_it_anew(void **state)
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

/* An epoch of real locking measures anything at times: it must not take over by that alone. */
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

/* What loses by much is known to after one pair, where little noise is known. */
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

/* Where nobody waits for anybody, eliding has nothing to win: it is asked four times as seldom. */
static void without_waits_it_is_asked_seldom(void **state)
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

/* Others wait by now: the question comes as soon as if they always had. */
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

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(friendly_is_elided),
		cmocka_unit_test(hostile_is_not),
		cmocka_unit_test(the_queue_is_found),
		cmocka_unit_test(sites_are_told_apart),
		cmocka_unit_test(noise_does_not_cost),
		cmocka_unit_test(much_is_found_through_noise),
		cmocka_unit_test(a_change_is_noticed),
		cmocka_unit_test(a_silent_change_is_noticed),
		cmocka_unit_test(a_clock_that_jumps_does_no_harm),
		cmocka_unit_test(a_clock_that_went_back_delays_no_question),
		cmocka_unit_test(without_hope_it_is_probed_seldom),
		cmocka_unit_test(two_commits_give_hope),
		cmocka_unit_test(unsure_is_hope),
		cmocka_unit_test(without_hope_it_is_not_asked),
		cmocka_unit_test(what_cannot_differ_is_not_asked),
		cmocka_unit_test(turns_are_for_several_sockets),
		cmocka_unit_test(sites_beyond_the_room_share_the_last),
		cmocka_unit_test(a_new_site_begins_as_its_class),
		cmocka_unit_test(nothing_happens_without_sections),
		cmocka_unit_test(chance_does_not_begin_it_anew),
		cmocka_unit_test(one_lucky_pair_does_not_win),
		cmocka_unit_test(a_clear_loser_is_cut_off),
		cmocka_unit_test(without_waits_it_is_asked_seldom),
		cmocka_unit_test(waits_are_noticed),
		cmocka_unit_test(a_collapse_is_noticed_through_noise),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
