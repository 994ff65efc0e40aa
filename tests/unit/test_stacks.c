// SPDX-License-Identifier: GPL-2.0-or-later
/* test_stacks.c - cycles of threads that wait for each other, and why a process cannot be traced. */
#include "unit.h"
#include "../../lib/compiler.h"
#include "../../tools/live/process.h"
#include "../../tools/model/stacks.h"

#define MAX_EDGES 8

/* Threads 0 to nr - 1; edge i is from waiter to holder; of a waiter that is timed -1 - waiter. */
static const struct cycles {
	const char *name;
	uint32_t nr;
	int edges[MAX_EDGES][2];
	int nr_edges;
	size_t sizes[MAX_EDGES];
	size_t nr_cycles;
} cycles[] = {
	{"nobody waits", 3, {{0}}, 0, {0}, 0},
	{"a chain", 3, {{0, 1}, {1, 2}}, 2, {0}, 0},
	{"itself", 1, {{0, 0}}, 1, {1}, 1},
	{"two", 2, {{0, 1}, {1, 0}}, 2, {2}, 1},
	{"three and one that waits for them", 4, {{0, 1}, {1, 2}, {2, 3}, {3, 1}}, 4, {3}, 1},
	{"two cycles", 4, {{0, 1}, {1, 0}, {2, 3}, {3, 2}}, 4, {2, 2}, 2},
	{"a limited time breaks it", 2, {{0, 1}, {-2, 0}}, 2, {0}, 0},
	{"a writer behind two readers, one of which waits", 3, {{0, 1}, {0, 2}, {2, 0}}, 3, {2}, 1},
	{"both readers wait", 3, {{0, 1}, {0, 2}, {1, 0}, {2, 0}}, 4, {2, 2}, 2},
	{"two ways to one thread", 4, {{0, 1}, {0, 2}, {1, 3}, {2, 3}}, 4, {0}, 0},
};

static void check_cycle(const struct stacks *s, const struct stacks_cycle *c)
{
	for (size_t i = 0; i < c->nr; i++) {
		const struct stacks_thread *t = &s->threads[c->threads[i]];
		bool found = false;

		for (size_t j = 0; j < t->nr_holders; j++)
			found |= t->holders[j] == c->threads[(i + 1) % c->nr];
		assert_true(found);
	}
}

static void finds_cycles(void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(cycles); i++) {
		const struct cycles *c = &cycles[i];
		struct stacks s = {.nr = c->nr, .threads = calloc(c->nr, sizeof(*s.threads))};

		for (int e = 0; e < c->nr_edges; e++) {
			int from = c->edges[e][0];
			struct stacks_thread *t = &s.threads[from < 0 ? -1 - from : from];

			t->timed |= from < 0;
			assert_int_equal(stacks_add_holder(t, c->edges[e][1]), 0);
		}
		assert_int_equal(stacks_find_cycles(&s), 0);
		if (s.nr_cycles != c->nr_cycles)
			fail_msg("%s: %zu cycles", c->name, s.nr_cycles);
		for (size_t n = 0; n < s.nr_cycles; n++) {
			assert_int_equal(s.cycles[n].nr, c->sizes[n]);
			check_cycle(&s, &s.cycles[n]);
		}
		stacks_free(&s);
	}
}

static void holds_once(void **state)
{
	struct stacks s = {.nr = 1, .threads = calloc(1, sizeof(*s.threads))};
	struct stacks_held plain = {0x1000, 0, STACKS_NONE, ELIDE_KIND_MUTEX};
	struct stacks_held known = {0x1000, 0x42, 3, ELIDE_KIND_MUTEX};

	assert_int_equal(stacks_add_held(s.threads, &plain), 0);
	assert_int_equal(stacks_add_held(s.threads, &known), 0);
	assert_int_equal(stacks_add_held(s.threads, &plain), 0);
	assert_int_equal(s.threads[0].nr_held, 1);
	assert_int_equal(s.threads[0].held[0].site, 0x42);
	assert_int_equal(s.threads[0].held[0].class_index, 3);
	stacks_free(&s);
}

/* A process of user 1000, and one of that user that may not trace it. */
#define PLAIN {.pid = 9, .tgid = 9, .state = 'S', .ruid = 1000, .euid = 1000, .owner = 1000}

static void denials_name_the_cause(void **state)
{
	static const struct {
		struct denial d;
		const char *words;
	} cases[] = {
		{{PLAIN, 1000, true, 1, true}, "kernel.yama.ptrace_scope is 1, only its parent may"},
		{{PLAIN, 1000, true, 2, true}, "kernel.yama.ptrace_scope is 2, only root may"},
		{{PLAIN, 1000, true, 3, true}, "kernel.yama.ptrace_scope is 3, nobody may"},
		{{PLAIN, 1000, true, 0, true}, "a security module"},
		{{PLAIN, 1000, true, -1, true}, "a security module"},
		{{PLAIN, 1000, true, 1, false}, "ptrace(2) is denied here to all processes"},
		{{PLAIN, 1000, false, 1, true}, "in another user namespace"},
		{{{.ruid = 4000000000u, .euid = 4000000000u}, 1000, true, 1, true}, "belongs to user 4000000000"},
		{{{.ruid = 1000, .euid = 0}, 1000, true, 1, true}, "(setuid)"},
		{{{.ruid = 1000, .euid = 1000, .owner = 0}, 1000, true, 1, true}, "PR_SET_DUMPABLE"},
		{{PLAIN, 0, true, 3, true}, "kernel.yama.ptrace_scope is 3"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		char why[PROCESS_WHY];

		denial_says(&cases[i].d, why);
		if (!strstr(why, cases[i].words))
			fail_msg("%s: no \"%s\"", why, cases[i].words);
	}
}

static void refusals_name_the_cause(void **state)
{
	static const struct {
		struct process p;
		const char *words;
	} cases[] = {
		{{.pid = 9}, "is not there"},
		{{.pid = 9, .tgid = 8, .state = 'S'}, "is a thread of process 8"},
		{{.pid = 9, .tgid = 9, .state = 'S', .kernel = true}, "thread of the kernel"},
		{{.pid = 9, .tgid = 9, .state = 'Z'}, "a zombie"},
		{{.pid = 9, .tgid = 9, .state = 'S', .foreign_code = true}, "no 64-bit x86 program"},
		{{.pid = 9, .tgid = 9, .state = 't', .tracer = 1}, "is traced already by process 1 ("},
		{PLAIN, NULL},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		char why[PROCESS_WHY] = "";
		bool refused = process_refuses(&cases[i].p, why);

		assert_int_equal(refused, cases[i].words != NULL);
		if (refused && !strstr(why, cases[i].words))
			fail_msg("%s: no \"%s\"", why, cases[i].words);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(finds_cycles),
		cmocka_unit_test(holds_once),
		cmocka_unit_test(denials_name_the_cause),
		cmocka_unit_test(refusals_name_the_cause),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
