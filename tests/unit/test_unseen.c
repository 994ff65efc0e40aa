// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test_unseen.c - why locks have no rows: by a program's file, by its libraries, and as a sentence.
 */
#include <math.h>
#include <unistd.h>

#include "unit.h"
#include "../../lib/compiler.h"
#include "../../tools/base/unseen.h"

static void of_programs(void **state)
{
	static const struct {
		struct program program;
		uint32_t set;
		enum unseen obstacle;
	} cases[] = {
		{{.is_script = 1}, 0, NR_UNSEEN},
		{{.is_elf = 1, .is_amd64 = 1}, 0, NR_UNSEEN},
		{{.is_elf = 1, .is_32bit = 1, .is_static = 1}, UNSEEN_BIT(bits32), UNSEEN_bits32},
		{{.is_elf = 1}, UNSEEN_BIT(foreign), UNSEEN_foreign},
		{{.is_elf = 1, .is_amd64 = 1, .is_static = 1}, UNSEEN_BIT(linked), UNSEEN_linked},
		{{.is_elf = 1, .is_amd64 = 1, .is_static = 1, .is_go = 1}, UNSEEN_BIT(go), UNSEEN_go},
		{{.is_elf = 1, .is_amd64 = 1, .is_go = 1}, UNSEEN_BIT(cgo), NR_UNSEEN},
		{{.is_elf = 1, .is_amd64 = 1, .is_go = 1, .is_musl = 1}, UNSEEN_BIT(musl), UNSEEN_musl},
		{{.is_elf = 1, .is_amd64 = 1, .is_privileged = 1}, UNSEEN_BIT(privileged), UNSEEN_privileged},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		assert_int_equal(unseen_of_program(&cases[i].program), cases[i].set);
		assert_int_equal(unseen_obstacle(&cases[i].program), cases[i].obstacle);
	}
}

static void of_libraries(void **state)
{
	assert_int_equal(unseen_of_library("libgomp.so.1"), UNSEEN_BIT(openmp));
	assert_int_equal(unseen_of_library("libgomp-a34b3233.so.1.0.0"), UNSEEN_BIT(openmp));
	assert_int_equal(unseen_of_library("libjvm.so"), UNSEEN_BIT(java));
	assert_int_equal(unseen_of_library("libgompertz.so"), 0);
	assert_int_equal(unseen_of_library("libc.so.6"), 0);
}

/* This process has no library of elide's, and its file is none of those that are reasons. */
static void of_this_process(void **state)
{
	char exe[256];

	assert_int_equal(unseen_of_process(getpid(), exe, sizeof(exe)), UNSEEN_BIT(without));
	assert_non_null(strstr(exe, "test_unseen"));
	assert_int_equal(unseen_with_library(UNSEEN_BIT(without) | UNSEEN_BIT(java)), UNSEEN_BIT(java));
}

static void sentences(void **state)
{
	static const struct {
		uint32_t set;
		double percent;
		const char *begin;
		const char *part;
	} cases[] = {
		{0, NAN, "", ""},
		{0, 9.9, "", ""},
		{0, 10, "Not seen: 10% of the threads' time, in futex(2)", "inlined"},
		{UNSEEN_BIT(linked), 50, "No lock of it is seen. It is statically linked: ", "; use perf trace"},
		{UNSEEN_BIT(openmp), 0.9, "", ""},
		{UNSEEN_BIT(openmp), 1.1, "Not seen: 1% of", "OpenMP's barriers"},
		{UNSEEN_BIT(openmp), NAN, "", ""},
		{UNSEEN_BIT(java), NAN, "Java's monitors", "jstack"},
		{UNSEEN_BIT(java) | UNSEEN_BIT(openmp), 20, "Java's monitors", "locks. Not seen: 20% of"},
		{UNSEEN_BIT(cgo), 60, "Go's locks", "go tool pprof."},
		{UNSEEN_BIT(abseil), 5, "", ""},
	};
	char text[UNSEEN_SENTENCE];

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		unseen_sentence(cases[i].set, cases[i].percent, text);
		assert_int_equal(strncmp(text, cases[i].begin, strlen(cases[i].begin)), 0);
		assert_non_null(strstr(text, cases[i].part));
		assert_int_equal(*text != '\0', *cases[i].begin != '\0');
	}
}

/* Each reason that is said has its words, its own name and key, and fits into a sentence. */
static void the_list(void **state)
{
	char text[UNSEEN_SENTENCE];

	assert_true(NR_UNSEEN <= 32);
	for (unsigned int u = 0; u < NR_UNSEEN; u++) {
		for (unsigned int v = 0; v < u; v++) {
			assert_string_not_equal(unseen_id(u), unseen_id(v));
			if (u != UNSEEN_cgo)
				assert_string_not_equal(unseen_name(u), unseen_name(v));
		}
		if (unseen_scope(u) == UNSEEN_CALLS)
			continue;
		assert_true(*unseen_text(u) && *unseen_use(u));
		unseen_sentence(1u << u, 99, text);
		assert_int_equal(text[strlen(text) - 1], '.');
		assert_int_equal(unseen_in(1u << u, unseen_scope(u)), u);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(of_programs),
		cmocka_unit_test(of_libraries),
		cmocka_unit_test(of_this_process),
		cmocka_unit_test(sentences),
		cmocka_unit_test(the_list),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
