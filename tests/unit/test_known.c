// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test_known.c - a class that begins with what an earlier process has learnt, on synthetic streams of
 * trials.
 */
#include "../../lib/policy/question.h"
#include "learn-world.h"

/* The first trial of a process: threads have begun to use the class. */
static void join(struct world *w)
{
	w->now += 20 * LEARN_US;
	learn_trial(&w->class, &(struct learn_trial){.sections = 100, .length = 20 * LEARN_US,
						     .whole = 20 * LEARN_US, .now = w->now,
						     .joined = true});
}

/* Run for @time. Return: the challenges that ended. */
static unsigned int challenges(struct world *w, uint64_t time)
{
	uint64_t end = w->now + time;
	unsigned int nr = 0;

	while (w->now < end)
		nr += trial(w).made;
	return nr;
}

/* A process of @time, which begins with @known, or with nothing. Return: its challenges. */
static unsigned int process(struct world *w, struct learn_known *known, uint64_t time)
{
	unsigned int nr;

	learn_start(&w->class, false, false);
	if (known->arm < POLICY_NR_ARMS)
		learn_begin_with(&w->class, known);
	w->done = w->best = 0;
	for (unsigned int i = 0; i < w->nr_sites; i++)
		learn_site(&w->class);
	join(w);
	nr = challenges(w, time);
	if (w->class.decided)
		learn_keep(&w->class, known);
	else
		known->due -= learn_waited(&w->class, w->now);
	return nr;
}

static struct learn_known nothing(void)
{
	return (struct learn_known){.arm = POLICY_NR_ARMS};
}

static void the_rotation_is_not_repeated(void **state)
{
	struct learn_known known;
	struct world w;
	unsigned int first;

	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		known = nothing();
		begin(&w, seed, 1, 0.03);
		set(&w, 0, 3, 1, 1);
		first = process(&w, &known, 10 * MS);
		check(&w, seed, first >= 4 && known.arm == REAL && known.confidence >= 900);
		check(&w, seed, known.asked == LEARN_ASKED_ALL && known.due >= 4 * MS);
		check(&w, seed, process(&w, &known, 3 * MS) == 0);
		check(&w, seed, w.done > 0.999 * w.best);
	}
}

/* However short the processes are, at least every 8 ms of use there is a challenge. */
static void short_processes_go_on_judging(void **state)
{
	struct learn_known known;
	struct world w;
	unsigned int nr;

	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		known = nothing();
		begin(&w, seed, 1, 0.03);
		set(&w, 0, 3, 1, 1);
		process(&w, &known, 10 * MS);
		nr = 0;
		for (int i = 0; i < 40; i++)
			nr += process(&w, &known, MS);
		check(&w, seed, nr >= 3 && nr <= 10);
		/* By now eliding is better. */
		set(&w, 0, 1, 3, 3);
		for (int i = 0; i < 24; i++)
			process(&w, &known, MS);
		check(&w, seed, known.arm != REAL);
	}
}

/* A process that ends within the first round leaves the rest of it to the next one. */
static void a_rotation_goes_on_where_it_was(void **state)
{
	struct learn_known known;
	struct world w;
	unsigned int nr, first;

	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		known = nothing();
		begin(&w, seed, 1, 0.03);
		set(&w, 0, 1, 3, 6); /* "patient" is the third challenger of "keen" */
		first = process(&w, &known, 300 * LEARN_US);
		check(&w, seed, first >= 1 && known.arm == KEEN);
		check(&w, seed, known.asked >= 1 && known.asked < LEARN_ROUND && !known.due);
		for (nr = 0; nr < 10 && known.arm != PATIENT; nr++)
			process(&w, &known, 600 * LEARN_US);
		check(&w, seed, known.arm == PATIENT);
	}
}

/* What is known is wrong by now: a change of the rate, or a challenge, shows it. */
static void what_is_wrong_does_not_stay(void **state)
{
	struct learn_known known;
	struct world w;

	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		for (unsigned int arm = 0; arm < POLICY_NR_ARMS; arm++) {
			if (arm == POLICY_ARM_probe || arm == RESTRICT)
				continue;
			known = (struct learn_known){.arm = arm, .asked = LEARN_ASKED_ALL,
						     .confidence = 1000, .period = UINT64_MAX,
						     .due = UINT64_MAX, .aborts = UINT32_MAX};
			begin(&w, seed, 1, 0.03);
			if (arm == REAL)
				set(&w, 0, 1, 3, 3);
			else
				set(&w, 0, 3, 1, 1);
			process(&w, &known, 12 * MS);
			check(&w, seed, (known.arm == REAL) == (arm != REAL));
		}
	}
}

/* The comparison was not sure: the next one comes as soon as after a first round. */
static void what_is_unsure_is_asked_soon(void **state)
{
	struct learn_known known = {.arm = KEEN, .asked = LEARN_ASKED_ALL};
	struct world w;

	begin(&w, 1, 1, 0);
	w.class.decided = true;
	w.class.confidence = 600;
	w.class.elide.period = 32 * MS;
	learn_keep(&w.class, &known);
	assert_int_equal(known.period, 500 * LEARN_US);
	w.class.confidence = 950;
	learn_keep(&w.class, &known);
	assert_int_equal(known.period, 8 * MS);
}

static void a_site_begins_as_unelidable(void **state)
{
	const struct learn_known known = {.arm = PATIENT, .asked = LEARN_ASKED_ALL, .confidence = 999,
					  .period = 4 * MS, .due = 4 * MS};
	struct world w;

	begin(&w, 1, 2, 0);
	learn_start(&w.class, false, false);
	learn_begin_with(&w.class, &known);
	learn_site(&w.class);
	learn_site_with(&w.class, learn_site(&w.class));
	assert_int_equal(learn_arm(&w.class, 0), PATIENT);
	assert_int_equal(learn_arm(&w.class, 1), REAL);
	assert_false(learn_site_keep(&w.class, 0));
	assert_true(learn_site_keep(&w.class, 1));
	join(&w);
	assert_int_equal(learn_arm(&w.class, 1), REAL);
	/* As after two failed probes. */
	assert_false(learn_probe(&w.class, 1, w.now + 1999 * LEARN_US));
	assert_true(learn_probe(&w.class, 1, w.now + 2000 * LEARN_US));
	assert_false(learn_probed(&w.class, 1, LEARN_PASSED, w.now + MS));
	assert_true(learn_probed(&w.class, 1, LEARN_PASSED, w.now + MS));
	assert_true(w.class.decided && !w.class.known);
	assert_int_equal(learn_arm(&w.class, 1), PATIENT);
}

/* That few threads wait is kept with the arm. */
static void a_class_begins_as_restricted(void **state)
{
	struct learn_known known = {.arm = RESTRICT, .asked = LEARN_ASKED_ALL, .period = 4 * MS};
	struct world w;

	for (int crowds = 0; crowds < 2; crowds++) {
		begin(&w, 1, 1, 0);
		learn_start(&w.class, false, crowds);
		learn_begin_with(&w.class, &known);
		learn_site(&w.class);
		assert_int_equal(learn_arm(&w.class, 0), crowds ? RESTRICT : REAL);
		learn_keep(&w.class, &known);
		assert_int_equal(known.arm, crowds ? RESTRICT : REAL);
		known.arm = RESTRICT;
	}
}

/* Sections that fail only when the process begins, as they touch memory for the first time. */
static void what_no_probe_confirms_is_not_kept(void **state)
{
	const struct learn_known known = {.arm = KEEN, .asked = LEARN_ASKED_ALL, .confidence = 999,
					  .period = 4 * MS, .due = 4 * MS};
	struct world w;

	begin(&w, 1, 1, 0);
	learn_start(&w.class, false, false);
	learn_begin_with(&w.class, &known);
	assert_false(learn_unelidable(&w.class, 0, w.now));
	learn_site(&w.class);
	assert_int_equal(learn_arm(&w.class, 0), KEEN);
	join(&w);
	assert_true(learn_unelidable(&w.class, 0, w.now));
	assert_false(learn_site_keep(&w.class, 0) || w.class.decided);
	for (int i = 1; i <= 2; i++)
		assert_int_equal(learn_probed(&w.class, 0, LEARN_PASSED, w.now), i == 2);
	w.class.decided = false;
	assert_true(w.class.known && w.class.asked >= LEARN_ROUND);
	learn_unelidable(&w.class, 0, w.now);
	for (int i = 1; i <= 2; i++) {
		learn_probed(&w.class, 0, LEARN_FAILED, w.now);
		assert_int_equal(learn_site_keep(&w.class, 0), i == 2);
		assert_int_equal(w.class.decided, i == 2);
	}
	for (int i = 1; i <= 2; i++)
		assert_int_equal(learn_probed(&w.class, 0, LEARN_PASSED, w.now), i == 2);
	assert_true(!w.class.known && !w.class.asked);
}

/* Threads that join long after the start: what was known is as old as anything else. */
static void late_threads_begin_the_rotation_anew(void **state)
{
	struct learn_known known = {.arm = KEEN, .asked = LEARN_ASKED_ALL, .confidence = 999,
				    .period = 8 * MS, .due = 8 * MS};
	struct world w;

	begin(&w, 1, 1, 0);
	set(&w, 0, 1, 3, 3);
	learn_start(&w.class, false, false);
	learn_begin_with(&w.class, &known);
	learn_site(&w.class);
	join(&w);
	join(&w);
	assert_true(w.class.known && w.class.asked >= LEARN_ROUND);
	w.now += 100 * MS;
	join(&w);
	assert_true(!w.class.known && w.class.asked < LEARN_ROUND);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_rotation_is_not_repeated),
		cmocka_unit_test(short_processes_go_on_judging),
		cmocka_unit_test(a_rotation_goes_on_where_it_was),
		cmocka_unit_test(what_is_wrong_does_not_stay),
		cmocka_unit_test(what_is_unsure_is_asked_soon),
		cmocka_unit_test(a_site_begins_as_unelidable),
		cmocka_unit_test(a_class_begins_as_restricted),
		cmocka_unit_test(what_no_probe_confirms_is_not_kept),
		cmocka_unit_test(late_threads_begin_the_rotation_anew),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
