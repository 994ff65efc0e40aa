// SPDX-License-Identifier: GPL-2.0-or-later
/* test_evidence.c - which events are sampled, and that their counts add up. */
#include <sys/wait.h>

#include "../../lib/evidence/waits.h"
#include "../../lib/state/tunables.h"
#include "child.h"
#include "evidence-world.h"

static void weights_add_up(void **state)
{
	static const uint32_t periods[] = {1, 2, 64, 1000};
	static const uint64_t nr = 4000000;

	row_of((const void *)0x500);
	for (unsigned int i = 0; i < ARRAY_SIZE(periods); i++) {
		uint64_t sum = 0, looked_at = 0, weight;

		elide_tunables.stacks = periods[i];
		for (uint64_t n = 1; n <= nr; n++) {
			weight = elide_evidence_weight(elide_self, n);
			assert_true(weight == 0 || weight == (n <= elide_self->first_seen ? 1 : periods[i]));
			assert_true(weight || n > elide_self->first_seen);
			sum += weight;
			looked_at += weight != 0;
		}
		/* The deviation of the sum is the root of nr * period, 1.6 % here at most. */
		assert_in_range(sum, nr - nr / 16, nr + nr / 16);
		assert_in_range(looked_at, nr / periods[i] * 15 / 16, nr / periods[i] * 17 / 16 + 8);
	}
	elide_tunables.stacks = 64;
}

/* Sums of few events are right, too, in the first threads, in later ones, and in those after many. */
static void few_weights_add_up(void **state)
{
	static const uint64_t trials = 20000, nr = 200;
	uint32_t first = elide_self->first_seen;

	assert_int_equal(elide_evidence_first(1), 8);
	assert_int_equal(elide_evidence_first(4), 8);
	assert_int_equal(elide_evidence_first(5), 1);
	assert_int_equal(elide_evidence_first(256), 1);
	assert_int_equal(elide_evidence_first(257), 0);
	for (unsigned int i = 0; i < 3; i++) {
		uint64_t sum = 0;

		elide_self->first_seen = (uint32_t[]){0, 1, 8}[i];
		for (uint64_t trial = 0; trial < trials; trial++)
			for (uint64_t n = 1; n <= nr; n++)
				sum += elide_evidence_weight(elide_self, n);
		/* One trial's deviation is 112, that of their mean 0.4 %. */
		assert_in_range(sum, trials * nr * 98 / 100, trials * nr * 102 / 100);
	}
	elide_self->first_seen = first;
}

static void *first_of_thread(void *first)
{
	row_of((const void *)0x580);
	*(uint32_t *)first = elide_self->first_seen;
	return NULL;
}

/* The first four threads of the process look at eight, as many as there are after them at one. */
static void further_threads_sample_one(void **state)
{
	assert_int_equal(elide_self->first_seen, 8);
	for (uint32_t nr = elide_data->nr_threads + 1; nr <= 8; nr++) {
		pthread_t thread;
		uint32_t first;

		assert_int_equal(pthread_create(&thread, NULL, first_of_thread, &first), 0);
		assert_int_equal(pthread_join(thread, NULL), 0);
		assert_int_equal(elide_data->nr_threads, nr);
		assert_int_equal(first, nr <= 4 ? 8 : 1);
	}
}

/* The counts of a row's samples converge on its aborts, however they were sampled. */
static void counts_are_unbiased(void **state)
{
	struct elide_row *row = row_of((const void *)0x600);
	struct elide_sample sample;
	struct elide_detail detail;

	for (int i = 0; i < 300000; i++)
		abort_now(row, &conflict);
	LAST(SAMPLES, &sample);
	LAST(DETAILS, &detail);
	assert_int_equal(sample.site, 0x600);
	assert_int_equal(sample.type, ELIDE_SAMPLE_ABORT);
	assert_in_range(sample.count, 300000 * 0.94, 300000 * 1.06);
	assert_int_equal(sample.cycles, sample.count * 10);
	assert_true(sample.samples < 300000 / 50);
	assert_int_equal(detail.count, sample.count);
	assert_int_equal(detail.samples, sample.samples);
	assert_int_equal(detail.cycles, sample.cycles);
	assert_int_equal(detail.own_stack, sample.stack);
}

/*
 * A thread whose event is drawn waits for no global-lock path of another thread, which may have no
 * processor, but does nothing: the next event of that kind has the weight of all.
 */
static void drawn_events_wait_for_no_slow_path(void **state)
{
	struct elide_row *row = row_of((const void *)0xb80);
	struct elide_sample before, sample;
	pthread_barrier_t barrier;
	uint64_t weight;
	struct elide_waits w;
	pthread_t thread;
	void *entered;

	elide_tunables.stacks = 2;
	while (row->causes[ELIDE_CAUSE_conflict] < elide_self->first_seen)
		abort_now(row, &conflict);
	LAST(SAMPLES, &before);
	assert_int_equal(before.site, 0xb80);
	assert_int_equal(pthread_barrier_init(&barrier, NULL, 2), 0);
	assert_int_equal(pthread_create(&thread, NULL, slow_path, &barrier), 0);
	pthread_barrier_wait(&barrier);
	for (int i = 0; i < 1000; i++)
		abort_now(row, &conflict);
	LAST(SAMPLES, &sample);
	assert_int_equal(sample.count, before.count);
	pthread_barrier_wait(&barrier);
	assert_int_equal(pthread_join(thread, &entered), 0);
	assert_non_null(entered);
	abort_now(row, &conflict);
	LAST(SAMPLES, &sample);
	assert_int_equal(sample.samples, before.samples + 1);
	/* The deviation of the sum is the root of 1000 * 2. */
	assert_in_range(sample.count - before.count, 1000 - 180, 1000 + 180);
	assert_int_equal(sample.cycles - before.cycles, 10 * (sample.count - before.count));

	/* The same with waits, of which this is one after those that are certain to be sampled. */
	row->contended = elide_self->first_seen;
	assert_int_equal(pthread_create(&thread, NULL, slow_path, &barrier), 0);
	pthread_barrier_wait(&barrier);
	for (int i = 0; i < 1000; i++) {
		elide_evidence_waits(elide_self, row, &lock, 0, &w);
		assert_int_equal(w.weight, 0);
	}
	pthread_barrier_wait(&barrier);
	assert_int_equal(pthread_join(thread, &entered), 0);
	assert_non_null(entered);
	elide_evidence_waits(elide_self, row, &lock, 0, &w);
	weight = w.weight;
	assert_in_range(weight, 1000 - 180, 1000 + 180);
	elide_evidence_waited(&w, 5);
	LAST(SAMPLES, &sample);
	assert_int_equal(sample.count, weight);
	assert_int_equal(sample.cycles, 5 * weight);
	pthread_barrier_destroy(&barrier);
	row->contended = 0;
	elide_tunables.stacks = 64;
}

/* The child begins anew, in a file of its own. */
static void a_child_has_its_own(void **state)
{
	struct elide_detail d;
	struct elide_stack stack;
	unsigned int before = LAST(DETAILS, &d);
	uint32_t parent = elide_data->pid;
	int status;
	pid_t pid = fork();

	if (!pid) {
		elide_data_detach(); /* the preloaded library has it called */
		check(row_of((const void *)0xf00));
		check(elide_data->pid != parent);
		check(LAST(DETAILS, &d) == 0);
		abort_now(row_of((const void *)0xf00), &conflict);
		check(LAST(DETAILS, &d) == 1);
		check(LAST(STACKS, &stack) == 1);
		check(d.own_stack == 1 && d.count == 1);
		unlink(elide_data_path());
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	assert_int_equal(LAST(DETAILS, &d), before);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(weights_add_up),
		cmocka_unit_test(few_weights_add_up),
		cmocka_unit_test(further_threads_sample_one),
		cmocka_unit_test(counts_are_unbiased),
		cmocka_unit_test(drawn_events_wait_for_no_slow_path),
		cmocka_unit_test(a_child_has_its_own),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
