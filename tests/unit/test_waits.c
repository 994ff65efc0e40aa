// SPDX-License-Identifier: GPL-2.0-or-later
/* test_waits.c - the evidence of waits, and the timelines of waits and of decisions. */
#include "../../lib/evidence/decisions.h"
#include "../../lib/evidence/spans.h"
#include "../../lib/evidence/waits.h"
#include "evidence-world.h"

static void waits_count_when_they_end(void **state)
{
	struct elide_row *row = row_of((const void *)0xa00), *held = row_of((const void *)0xb00);
	struct elide_blame blame;
	struct elide_sample sample;
	struct elide_waits w;

	held->not_attempted = 1000000; /* the site that holds the lock nearly always */
	elide_evidence_waits(elide_self, row, &lock, elide_self->tid, &w);
	assert_int_equal(w.weight, 1);
	LAST(SAMPLES, &sample);
	assert_int_equal(sample.type, ELIDE_SAMPLE_WAIT);
	assert_int_equal(sample.samples, 0);
	elide_evidence_waited(&w, 123);
	LAST(SAMPLES, &sample);
	assert_int_equal(sample.samples, 1);
	assert_int_equal(sample.cycles, 123);
	LAST(BLAME, &blame);
	assert_int_equal(blame.type, ELIDE_BLAME_WAIT);
	assert_int_equal(blame.site, 0xa00);
	assert_int_equal(blame.held_site, 0xb00);
	assert_int_equal(blame.held_kind, ELIDE_KIND_MUTEX);
	assert_int_equal(blame.held_class, row->class_index);
	assert_int_equal(blame.count, 1);
	assert_int_equal(blame.cycles, 123);
	held->not_attempted = 0;
}

static void do_nothing(void *unused)
{
}

/*
 * A thread that has waited holds the lock by now: it waits for no global-lock path of another thread, which
 * may have no processor while others wait awake for that lock. The next wait has the weight of both.
 */
static void who_holds_a_lock_waits_for_no_slow_path(void **state)
{
	struct elide_row *row = row_of((const void *)0xc00);
	struct elide_thread *t = elide_self;
	struct elide_span span = {0};
	pthread_barrier_t barrier;
	uint64_t period = elide_span_periods[ELIDE_SPAN_WAIT];
	unsigned int before;
	pthread_t thread;
	void *entered;

	t->span_sums[ELIDE_SPAN_WAIT] = 0;
	before = LAST(SPANS, &span);
	assert_int_equal(pthread_barrier_init(&barrier, NULL, 2), 0);
	assert_int_equal(pthread_create(&thread, NULL, slow_path, &barrier), 0);
	pthread_barrier_wait(&barrier);
	assert_false(elide_global_try_run(do_nothing, NULL));
	elide_span(t, row, ELIDE_SPAN_WAIT, 1000, period);
	pthread_barrier_wait(&barrier);
	assert_int_equal(pthread_join(thread, &entered), 0);
	assert_non_null(entered);
	pthread_barrier_destroy(&barrier);
	assert_int_equal(LAST(SPANS, &span), before);
	elide_span(t, row, ELIDE_SPAN_WAIT, 2000, period);
	assert_int_equal(LAST(SPANS, &span), before + 1);
	assert_int_equal(span.time, 2000);
	assert_int_equal(span.cycles, period);
	assert_int_equal(span.weight, 2 * period);
	assert_true(elide_global_try_run(do_nothing, NULL));
}

static void decisions_are_in_the_timeline(void **state)
{
	const struct policy_window window = {.last_tries = 3, .last_fails = 2};
	const struct policy_lock policy = {.pause = 256, .skip = 256};
	struct elide_row *row = row_of((const void *)0xe00);
	struct elide_event event;
	uint64_t first = cycles_now();

	elide_evidence_event(ELIDE_EVENT_PAUSED, row, &lock, &policy, &window);
	assert_int_equal(LAST(TIMELINE, &event), 1);
	assert_in_range(event.time, first, cycles_now());
	assert_int_equal(event.type, ELIDE_EVENT_PAUSED);
	assert_int_equal(event.site, 0xe00);
	assert_int_equal(event.a, 256);
	assert_int_equal(event.tries, 3);
	assert_int_equal(event.fails, 2);
	for (int i = 1; i < 65536 + 10; i++)
		elide_evidence_event(ELIDE_EVENT_RESUMED, row, &lock, &policy, &window);
	assert_int_equal(LAST(TIMELINE, &event), 65536);
	assert_int_equal(elide_data->dropped[ELIDE_DROPPED_EVENTS], 10);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(waits_count_when_they_end),
		cmocka_unit_test(who_holds_a_lock_waits_for_no_slow_path),
		cmocka_unit_test(decisions_are_in_the_timeline),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
