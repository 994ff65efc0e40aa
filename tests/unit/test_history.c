// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test_history.c - the judge of histories of one key must accept those that
 * some order explains, and no other.
 */
#include "unit.h"
#include "../demo/history.h"

/*
 * An operation: thread, times, '+' insert, '-' delete, '?' search, and the
 * value, 0 where it did not take place. An array ends with no kind.
 */
struct planted {
	unsigned int thread;
	uint64_t begin, end;
	char kind;
	uint64_t value;
};

static const struct {
	const char *name;
	bool fits;
	struct planted ops[8];
} histories[] = {
	{ "nothing", true, { { 0 } } },
	{ "insert, search, delete, search", true,
	  { { 0, 1, 2, '+', 5 }, { 1, 3, 4, '?', 5 }, { 0, 5, 6, '-', 5 }, { 1, 7, 8, '?', 0 } } },
	{ "search beside an insert sees it", true, { { 0, 1, 4, '+', 5 }, { 1, 2, 3, '?', 5 } } },
	{ "search beside an insert misses it", true, { { 0, 1, 4, '+', 5 }, { 1, 2, 3, '?', 0 } } },
	{ "insert refused beside one that took place", true,
	  { { 0, 1, 5, '+', 0 }, { 1, 2, 4, '+', 6 }, { 2, 6, 7, '?', 6 } } },
	{ "value deleted and another inserted beside a long search", true,
	  { { 0, 1, 2, '+', 5 }, { 0, 3, 4, '-', 5 }, { 0, 5, 6, '+', 7 }, { 1, 0, 9, '?', 5 } } },
	{ "lost insert", false, { { 0, 1, 2, '+', 5 }, { 1, 3, 4, '?', 0 } } },
	{ "read of what was deleted", false,
	  { { 0, 1, 2, '+', 5 }, { 0, 3, 4, '-', 5 }, { 1, 5, 6, '?', 5 } } },
	{ "read of what will be inserted", false, { { 1, 1, 2, '?', 5 }, { 0, 3, 4, '+', 5 } } },
	{ "read of what nobody inserted", false, { { 0, 1, 2, '+', 5 }, { 1, 3, 4, '?', 6 } } },
	{ "new, then old", false,
	  { { 0, 1, 20, '+', 5 }, { 1, 2, 3, '?', 5 }, { 2, 4, 5, '?', 0 } } },
	{ "old value after the new one, while both changes go on", false,
	  { { 0, 1, 2, '+', 5 }, { 0, 3, 20, '-', 5 }, { 1, 4, 21, '+', 6 }, { 2, 5, 6, '?', 6 },
	    { 2, 7, 8, '?', 5 } } },
	{ "both inserts took place", false, { { 0, 1, 3, '+', 5 }, { 1, 2, 4, '+', 6 } } },
	{ "insert refused of an absent key", false, { { 0, 1, 2, '+', 0 } } },
	{ "one value deleted twice", false,
	  { { 0, 1, 2, '+', 5 }, { 0, 3, 6, '-', 5 }, { 1, 4, 5, '-', 5 } } },
	{ "value of before deleted", false,
	  { { 0, 1, 2, '+', 5 }, { 0, 3, 4, '-', 5 }, { 0, 5, 6, '+', 6 }, { 1, 7, 8, '-', 5 } } },
	{ "delete refused of a present key", false, { { 0, 1, 2, '+', 5 }, { 1, 3, 4, '-', 0 } } },
};

static struct visited visited;

static void test_planted(void **state)
{
	for (size_t i = 0; i < sizeof(histories) / sizeof(histories[0]); i++) {
		struct history h = { .nr = { 0 } };

		for (const struct planted *p = histories[i].ops; p->kind; p++)
			h.events[p->thread][h.nr[p->thread]++] = (struct event){
				.kind = p->kind == '+' ? EVENT_insert :
					p->kind == '-' ? EVENT_remove : EVENT_search,
				.took_place = p->value != 0,
				.value = p->value,
				.begin = p->begin,
				.end = p->end,
			};
		if (history_linearizable(&h, &visited) != histories[i].fits)
			fail_msg("%s: %s", histories[i].name,
				 histories[i].fits ? "not accepted" : "accepted");
	}
}

/*
 * As long as a history can be, all threads beside each other all the time, and
 * nothing explains the last search: each set of operations is visited once.
 */
static void test_longest(void **state)
{
	struct history h = { .nr = { 0 } };

	for (unsigned int t = 0; t < HISTORY_THREADS; t++) {
		h.nr[t] = HISTORY_OPS;
		for (unsigned int i = 0; i < HISTORY_OPS; i++)
			h.events[t][i] = (struct event){
				.kind = EVENT_search,
				.begin = t + 1,
				.end = 1000 + 100 * i + t,
			};
	}
	assert_true(history_linearizable(&h, &visited));
	h.events[3][HISTORY_OPS - 1].took_place = true;
	h.events[3][HISTORY_OPS - 1].value = 1;
	assert_false(history_linearizable(&h, &visited));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_planted),
		cmocka_unit_test(test_longest),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
