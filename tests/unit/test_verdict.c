// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test_verdict.c - the verdict and the state of a row, by what was counted and measured.
 */
#include <math.h>

#include "unit.h"
#include "../../lib/compiler.h"
#include "../../tools/model/attribute.h"

static void verdicts(void **state)
{
	static const struct {
		uint64_t acquired, elided, commits, aborts, wasted, holds, hold;
		uint32_t threads;
		enum verdict verdict;
	} table[] = {
		{1000, 900, 900, 10, 1000, 10, 100, 4, VERDICT_PAYS},
		{1000, 900, 900, 10, 1000, 10, 100, 1, VERDICT_NEUTRAL},
		{1000, 900, 900, 10, 90001, 10, 100, 4, VERDICT_HURTS},
		{1000, 900, 900, 10, 90001, 10, 100, 1, VERDICT_HURTS},
		{1000, 900, 900, 10, 9001, 10, 100, 4, VERDICT_NEUTRAL},
		{1000, 900, 900, 10, 9000, 10, 100, 4, VERDICT_PAYS},
		{1000, 499, 499, 10, 100, 10, 100, 4, VERDICT_NEUTRAL},
		/* Nested sections gain too, though the transaction is the outer lock's. */
		{1000, 900, 100, 10, 9000, 10, 100, 4, VERDICT_PAYS},
		/* Too few attempts. */
		{1000, 53, 53, 10, 100, 10, 100, 4, VERDICT_UNKNOWN},
		/* No hold time: counted in sections. */
		{1000, 900, 900, 10, 0, 0, 0, 4, VERDICT_PAYS},
		{1000, 900, 900, 91, 0, 0, 0, 4, VERDICT_NEUTRAL},
		{1000, 900, 900, 901, 0, 0, 0, 4, VERDICT_HURTS},
	};

	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		struct data_file f = {.header = {.nr_threads = table[i].threads}};
		struct report r = {.file = &f, .elides = 1};
		struct line l = {
			.acquired = table[i].acquired,
			.elided = table[i].elided,
			.attempts = table[i].commits + table[i].aborts,
			.aborts = table[i].aborts,
			.held = (double)(table[i].holds * table[i].hold),
			.sum = {.commits = table[i].commits, .not_attempted = table[i].holds,
				.wasted_cycles = table[i].wasted,
				.hold = {.count = table[i].holds, .weight = table[i].holds,
					 .total = table[i].holds * table[i].hold}},
		};

		assert_int_equal(line_verdict(&r, &l), table[i].verdict);
		/* Nothing contends: elision cannot pay. */
		l.quiet = l.acquired;
		assert_int_equal(line_verdict(&r, &l), table[i].verdict == VERDICT_HURTS ?
						       VERDICT_HURTS : VERDICT_NEUTRAL);
	}
}

static void profile_verdicts(void **state)
{
	static const struct {
		uint64_t wait, contended, failed;
		double held;
		uint64_t holds;
		int blocks;
		uint64_t cycles;
		enum verdict verdict;
	} table[] = {
		/* A tenth of the run is waited. */
		{100000, 1, 0, 0, 0, 0, 1000000, VERDICT_BOTTLENECK},
		{99999, 1, 0, 900000, 9, 1, 1000000, VERDICT_CONTENDED},
		/* Polled: nothing waits. */
		{0, 0, 1, 400000, 9, 0, 1000000, VERDICT_CONTENDED},
		{0, 0, 0, 400000, 9, 1, 1000000, VERDICT_BLOCKS},
		{0, 0, 0, 100000, 9, 0, 1000000, VERDICT_BUSY},
		{0, 0, 0, 99999, 9, 0, 1000000, VERDICT_IDLE},
		/* No hold time; no length of the run. */
		{0, 0, 0, 0, 0, 0, 1000000, VERDICT_UNKNOWN},
		{100000, 1, 0, 0, 0, 0, 0, VERDICT_CONTENDED},
		{0, 0, 0, 100000, 9, 0, 0, VERDICT_UNKNOWN},
	};

	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		struct data_file f = {.header = {.nr_threads = 4}};
		struct report r = {.file = &f, .cycles = table[i].cycles};
		struct line l = {
			.acquired = 100, .held = table[i].held, .blocks = table[i].blocks,
			.sum = {.not_attempted = 100, .contended = table[i].contended,
				.failed = table[i].failed,
				.wait = {table[i].contended, table[i].wait, 0, 0},
				.hold = {.count = table[i].holds}},
		};

		assert_int_equal(line_verdict(&r, &l), table[i].verdict);
	}
}

/*
 * What is no lock, in a run that elided and in one that did not: threads that share something out cost
 * the time they wait, threads that wait for work at most a hundredth of the run.
 */
static void verdicts_of_waits(void **state)
{
	static const struct wait_case {
		enum elide_kind kind;
		uint64_t wait, contended, failed;
		double peers, cost;
		enum verdict verdict;
	} table[] = {
		{ELIDE_KIND_COND, 900000, 9, 0, 0, 10000, VERDICT_WORK},
		{ELIDE_KIND_COND, 900000, 9, 0, 0.49, 10000, VERDICT_WORK},
		{ELIDE_KIND_COND, 900, 9, 0, 0, 900, VERDICT_WORK},
		{ELIDE_KIND_COND, 900000, 16, 0, 0.5, 900000, VERDICT_BOTTLENECK},
		/* Too few waits to share anything out. */
		{ELIDE_KIND_COND, 900000, 15, 0, 1, 10000, VERDICT_WORK},
		/* Nobody has signalled: a pause of a thread. */
		{ELIDE_KIND_COND, 0, 0, 9, 0, 0, VERDICT_WORK},
		{ELIDE_KIND_SEM, 100000, 16, 0, 1, 100000, VERDICT_BOTTLENECK},
		{ELIDE_KIND_SEM, 99999, 16, 0, 1, 99999, VERDICT_CONTENDED},
		{ELIDE_KIND_SEM, 99999, 9, 0, 0, 10000, VERDICT_WORK},
		{ELIDE_KIND_SEM, 0, 0, 0, 0, 0, VERDICT_IDLE},
		/* At a barrier all are peers of all. */
		{ELIDE_KIND_BARRIER, 900000, 9, 0, 1, 10000, VERDICT_OTHERS},
		{ELIDE_KIND_BARRIER, 0, 0, 0, 0, 0, VERDICT_IDLE},
		{ELIDE_KIND_REACQUIRE, 900000, 9, 0, 1, 10000, VERDICT_CONTENDED},
		{ELIDE_KIND_REACQUIRE, 900, 9, 0, 0, 900, VERDICT_CONTENDED},
		{ELIDE_KIND_REACQUIRE, 0, 0, 0, 0, 0, VERDICT_IDLE},
	};

	for (size_t i = 0; i < 2 * ARRAY_SIZE(table); i++) {
		struct data_file f = {.header = {.nr_threads = 4}};
		struct report r = {.file = &f, .cycles = 1000000, .elides = i & 1};
		const struct wait_case *t = &table[i / 2];
		struct line l = {
			.kind = t->kind, .acquired = 100, .peers = t->peers,
			.sum = {.not_attempted = 100, .contended = t->contended,
				.failed = t->failed, .wait = {t->contended, t->wait, 0, 0}},
		};

		assert_int_equal(line_verdict(&r, &l), t->verdict);
		assert_true(fabs(line_cost(&r, &l) - t->cost) < 1e-6);
	}
}

/* A gain that was measured does not pay where next to nothing is elided. */
static void measured_gain(void **state)
{
	const struct elide_event gain = {.type = ELIDE_EVENT_CHOSE, .class_index = 0,
					 .kind = ELIDE_KIND_MUTEX, .arm = 1, .pairs = 3,
					 .ratio = 400, .confidence = 990};
	struct data_file f = {.header = {.nr_threads = 4}, .nr_events = 1,
			      .events = (struct elide_event *)&gain};
	struct report r = {.file = &f, .elides = 1};
	struct line l = {.nr_classes = 1, .nr_sites = 1, .acquired = 1000, .elided = 10,
			 .attempts = 100, .sum = {.commits = 10}};

	assert_int_equal(line_verdict(&r, &l), VERDICT_PAYS);
	l.elided = 9;
	assert_int_equal(line_verdict(&r, &l), VERDICT_NEUTRAL);
}

/* The verdict is the result that held for most of the run, whatever the last one is. */
static void measured_over_the_run(void **state)
{
	static const struct elide_event pays = {.type = ELIDE_EVENT_CHOSE, .kind = ELIDE_KIND_MUTEX, .arm = 1,
						.pairs = 3, .ratio = 400, .confidence = 990},
		hurts = {.type = ELIDE_EVENT_PAUSED, .kind = ELIDE_KIND_MUTEX, .before = 1, .pairs = 3,
			 .ratio = 200, .confidence = 990},
		chance = {.type = ELIDE_EVENT_CHOSE, .kind = ELIDE_KIND_MUTEX, .before = 1, .pairs = 3,
			  .ratio = 200, .confidence = 600};
	static const struct {
		struct elide_event events[3];
		uint64_t times[3];
		enum verdict verdict;
	} table[] = {
		{{pays, pays, hurts}, {100, 500, 990}, VERDICT_PAYS},
		{{pays, pays, hurts}, {100, 200, 300}, VERDICT_HURTS},
		{{hurts, pays, hurts}, {100, 200, 700}, VERDICT_PAYS},
		{{hurts, pays, hurts}, {100, 400, 800}, VERDICT_HURTS},
		{{pays, chance, hurts}, {100, 200, 900}, VERDICT_NEUTRAL},
		/* The process was killed: the end is that of the last event. */
		{{pays, pays, hurts}, {1100, 1200, 1300}, VERDICT_PAYS},
	};

	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		struct elide_event events[3];
		struct data_file f = {.header = {.nr_threads = 4, .end_cycles = 1000}, .nr_events = 3,
				      .events = events};
		struct report r = {.file = &f, .elides = 1};
		struct line l = {.nr_classes = 1, .nr_sites = 1, .acquired = 1000, .elided = 900,
				 .attempts = 900, .sum = {.commits = 900}};

		for (int e = 0; e < 3; e++) {
			events[e] = table[i].events[e];
			events[e].time = table[i].times[e];
		}
		assert_int_equal(line_verdict(&r, &l), table[i].verdict);
		assert_true(line_measured_last(&r, &l).gain < 0);
		/* Inside transactions of other locks: the comparisons are about the others. */
		l.sum.nested = 501;
		assert_int_equal(line_measured(&r, &l).pairs, 0);
		assert_int_equal(line_verdict(&r, &l), VERDICT_PAYS);
	}
}

/* What is elided inside a transaction of another lock is so in any state of the row. */
static void nested_votes(void **state)
{
	struct elide_row row = {.state = ELIDE_STATE_PAUSED, .nested = 900, .not_attempted = 100};
	struct sum sum = {0};

	sum_row(&sum, &row);
	assert_int_equal(sum_state(&sum), ELIDE_STATE_ELIDING);
	row.nested = 99;
	sum = (struct sum){0};
	sum_row(&sum, &row);
	assert_int_equal(sum_state(&sum), ELIDE_STATE_PAUSED);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(verdicts),
		cmocka_unit_test(profile_verdicts),
		cmocka_unit_test(verdicts_of_waits),
		cmocka_unit_test(measured_gain),
		cmocka_unit_test(measured_over_the_run),
		cmocka_unit_test(nested_votes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
