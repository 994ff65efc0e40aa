// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test_suggest.c - nearest names.
 */
#include "unit.h"
#include "../../lib/compiler.h"
#include "../../tools/base/suggest.h"

static void distances(void **state)
{
	static const struct {
		const char *a, *b;
		unsigned int distance;
	} table[] = {
		{"", "", 0},
		{"", "abc", 3},
		{"abc", "", 3},
		{"abc", "abc", 0},
		{"ABC", "abc", 0},
		{"kitten", "sitting", 3},
		{"report", "rpeort", 2},
		{"run", "rnu", 2},
		{"a", "b", 1},
		{"flaw", "lawn", 2},
	};

	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		assert_int_equal(suggest_distance(table[i].a, table[i].b), table[i].distance);
		assert_int_equal(suggest_distance(table[i].b, table[i].a), table[i].distance);
	}
}

/* Longer words than the comparison has room for are cut off. */
static void long_words(void **state)
{
	char word[300];

	memset(word, 'x', sizeof(word) - 1);
	word[sizeof(word) - 1] = '\0';
	assert_int_equal(suggest_distance(word, word), 0);
	assert_int_equal(suggest_distance(word, ""), 63);
}

static void nearest(void **state)
{
	static const char *const names[] = {"run", "report", "doctor", "tunables"};

	assert_string_equal(suggest("skylak", (const char *const[]){"flat", "skylake-client"}, 2),
			    "skylake-client");
	assert_string_equal(suggest("reprot", names, 4), "report");
	assert_string_equal(suggest("DOCTER", names, 4), "doctor");
	assert_string_equal(suggest("tunable", names, 4), "tunables");
	assert_string_equal(suggest("", names, 4), "run");
	/* Of equals the first. */
	assert_string_equal(suggest("xyz", (const char *const[]){"abc", "def"}, 2), "abc");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(distances),
		cmocka_unit_test(long_words),
		cmocka_unit_test(nearest),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
