// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test_holds.c - when lib/state/holds.c says that more threads run than there are processors.
 *
 * The times are the test's own, and so is the list of threads.
 */
#include "unit.h"
#include "../../lib/compiler.h"
#include "../../lib/state/settings.h"
#include "../../lib/state/thread-list.h"

#define NR_THREADS 8
#define PROCESSORS 4

static struct elide_thread *threads, last;
static unsigned long long now;

static struct elide_thread *fake_threads(void)
{
	return threads;
}

#define elide_threads_all fake_threads
#include "../../lib/state/holds.c"

__attribute__((constructor(101))) static void environment(void)
{
	setenv("ELIDE_MODE", "off", 1);
}

static int begin(void **state)
{
	threads = calloc(NR_THREADS, sizeof(*threads));
	if (!threads)
		return -1;
	now += 100 * RUNS_WITHIN;
	for (int i = 0; i < NR_THREADS; i++) {
		threads[i].tid = 100 + i;
		threads[i].seen = now;
		threads[i].next = i + 1 < NR_THREADS ? &threads[i + 1] : NULL;
	}
	elide_process.nr_processors = PROCESSORS;
	elide_nr_active = NR_THREADS;
	return 0;
}

static int end(void **state)
{
	free(threads);
	return 0;
}

/* A thread that is not counted itself is seen. */
static bool oversubscribed(void)
{
	elide_thread_seen(&last, now);
	return elide_oversubscribed();
}

/* Time passes, in which @nr threads use locks. */
static bool after(unsigned long long time, int nr)
{
	now += time;
	for (int i = 0; i < nr; i++)
		threads[i].seen = now;
	now += NR_THREADS * COUNT_SPACING + 1;
	return oversubscribed();
}

static void threads_that_sleep_do_not_run(void **state)
{
	assert_true(oversubscribed());
	assert_true(after(RUNS_WITHIN / 2, PROCESSORS));
	assert_false(after(RUNS_WITHIN, PROCESSORS));
	/* They wake up, and a clock of another processor is ahead. */
	assert_true(after(10 * RUNS_WITHIN, NR_THREADS));
	threads[0].seen = now + 1000;
	assert_true(after(0, 0));
}

/* However long it has waited, it wants a processor when it gets the lock. */
static void threads_that_wait_for_locks_run(void **state)
{
	threads[PROCESSORS].waits = &last;
	assert_true(after(2 * RUNS_WITHIN, PROCESSORS));
	threads[PROCESSORS].waits = NULL;
	assert_false(after(2 * RUNS_WITHIN, PROCESSORS));
}

/* In between the answer stays: to count takes time. */
static void they_are_counted_now_and_then(void **state)
{
	assert_true(oversubscribed());
	for (int i = 0; i < NR_THREADS; i++)
		threads[i].seen = now - 2 * RUNS_WITHIN;
	now += NR_THREADS * COUNT_SPACING - 1;
	assert_true(oversubscribed());
	now += 2;
	assert_false(oversubscribed());
}

static void some_need_no_look(void **state)
{
	/* Not more than processors. */
	elide_nr_active = PROCESSORS;
	assert_false(oversubscribed());
	elide_nr_active = NR_THREADS;
	/* One waits for the end of another, one has ended, two sleep: as many as processors. */
	threads[0].joining = true;
	threads[1].tid = 0;
	threads[2].seen = threads[3].seen = now - 2 * RUNS_WITHIN;
	assert_false(oversubscribed());
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(threads_that_sleep_do_not_run, begin, end),
		cmocka_unit_test_setup_teardown(threads_that_wait_for_locks_run, begin, end),
		cmocka_unit_test_setup_teardown(they_are_counted_now_and_then, begin, end),
		cmocka_unit_test_setup_teardown(some_need_no_look, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
