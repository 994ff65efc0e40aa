// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test_index.c - every index under every scheme, and the delta storage in every
 * form, through the table of operations that the driver uses, against a sorted
 * array.
 */
#include "unit.h"
#include "../../demo/delta/options.h"
#include "subject.h"

/* Most inserts of a run, which is what an index is made for. */
#define STEPS_MAX 12000

static struct subject subject;

static const struct random_case random_cases[] = {
	{ 45, 45, 5, 40, 2000 },
	{ 45, 45, 5, 900, 4000 },
	{ 80, 10, 2, 30000, STEPS_MAX },
};

static void try_all(const char *name, const struct index_ops *ops,
		    const struct index_config *config, uint64_t seeds)
{
	for (size_t i = 0; i < sizeof(random_cases) / sizeof(random_cases[0]); i++) {
		for (uint64_t seed = 1; seed <= seeds; seed++) {
			/* The last line before a failure is the one to repeat. */
			print_message("%s, case %zu, seed %llu\n", name, i,
				      (unsigned long long)seed);
			subject_init(&subject, ops, config);
			random_run(&subject, &random_cases[i], seed, 1024);
			subject_destroy(&subject);
		}
	}
}

static void test_variants(void **state)
{
	uint64_t options[TREE_OPTIONS_MAX];
	struct index_config config = { .threads = 2, .entries = STEPS_MAX, .options = options };
	unsigned int nr = 0;

	for (enum index_id index = 0; index < NR_INDEXES; index++) {
		for (enum scheme_id scheme = 0; scheme < NR_SCHEMES; scheme++) {
			options_default(index, options, 0);
			if (!variant_ops(index, scheme) ||
			    !variant_fits(variant_ops(index, scheme), &config))
				continue;
			print_message("%s under ", index_choices[index].name);
			try_all(scheme_choices[scheme].name, variant_ops(index, scheme), &config,
				1);
			nr++;
		}
	}
	assert_true(nr >= NR_INDEXES);
}

/* Each bit of the form is a switch. */
static void test_delta_forms(void **state)
{
	for (unsigned int form = 0; form < 32; form++) {
		uint64_t options[NR_DELTA_OPTIONS] = {
			[DELTA_OPTION_search] = form & 1,
			[DELTA_OPTION_dictionary] = form >> 1 & 1,
			[DELTA_OPTION_allocator] = form >> 2 & 1,
			[DELTA_OPTION_values] = form >> 3 & 1,
			[DELTA_OPTION_rows] = form >> 4,
		};
		struct index_config config = {
			.threads = 2,
			.entries = STEPS_MAX,
			.options = options,
		};

		print_message("delta, form %u: ", form);
		try_all("none", variant_ops(INDEX_delta, SCHEME_none), &config, 2);
	}
}

/* Memory that is not there is reported, before anything is written. */
static void test_full(void **state)
{
	for (unsigned int form = 0; form < 8; form++) {
		uint64_t options[NR_DELTA_OPTIONS] = {
			[DELTA_OPTION_dictionary] = form & 1,
			[DELTA_OPTION_allocator] = form >> 1 & 1,
			[DELTA_OPTION_rows] = form >> 2,
		};
		struct index_config config = { .threads = 2, .entries = 1, .options = options };
		uint64_t key = 0;

		subject_init(&subject, variant_ops(INDEX_delta, SCHEME_mutex), &config);
		while (!subject.ops->reserve(subject.index, subject.shares[0]) && key < MODEL_MAX) {
			step_insert(&subject, 0, key, key);
			key++;
		}
		assert_in_range(key, 1000, MODEL_MAX - 1);
		assert_whole(&subject);
		assert_int_not_equal(subject.ops->reserve(subject.index, subject.shares[0]), 0);
		step_search(&subject, key - 1);
		step_remove(&subject, 0, key / 2);
		assert_whole(&subject);
		subject_destroy(&subject);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_variants),
		cmocka_unit_test(test_delta_forms),
		cmocka_unit_test(test_full),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
