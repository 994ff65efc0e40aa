// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test_index.c - every index under every scheme, and the delta storage in every
 * form, through the table of operations that the driver uses, against a sorted
 * array.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../../demo/base/footprint.h"
#include "../../demo/base/rng.h"
#include "../../demo/delta/options.h"
#include "../../demo/sync/variants.h"
#include "model.h"

/* Most inserts of a run, which is what an index is made for. */
#define STEPS_MAX 12000

/* struct subject - an index, two threads' shares of it, and its model */
struct subject {
	const struct index_ops *ops;
	struct index *index;
	struct index_thread *shares[2];
	struct footprint fp;
	struct model model;
};

static struct subject subject;

static void set_up(const struct index_ops *ops, const struct index_config *config)
{
	subject = (struct subject){ .ops = ops };
	subject.index = ops->create(config);
	assert_non_null(subject.index);
	for (unsigned int i = 0; i < 2; i++) {
		subject.shares[i] = ops->tree->attach(subject.index->tree, i, 1);
		assert_non_null(subject.shares[i]);
	}
}

static void tear_down(void)
{
	subject.ops->destroy(subject.index);
	for (unsigned int i = 0; i < 2; i++)
		subject.ops->tree->detach(subject.shares[i]);
}

static void step_insert(struct subject *s, unsigned int thread, uint64_t key, uint64_t value)
{
	struct index_thread *share = s->shares[thread];

	assert_int_equal(s->ops->reserve(s->index, share), 0);
	assert_int_equal(s->ops->insert(s->index, share, key, value),
			 model_insert(&s->model, key, value));
}

static void step_remove(struct subject *s, unsigned int thread, uint64_t key)
{
	struct entry *entry = model_find(&s->model, key);
	uint64_t value = 0;

	assert_int_equal(index_reserve_remove(s->index, s->shares[thread]), 0);
	assert_int_equal(s->ops->remove(s->index, s->shares[thread], key, &value), entry != NULL);
	if (entry) {
		assert_int_equal(value, entry->value);
		model_remove(&s->model, entry);
	}
}

/* The counting search, of a tree that has one, must find what the other one finds. */
static void step_search(struct subject *s, uint64_t key)
{
	const struct entry *entry = model_find(&s->model, key);
	uint64_t value = 0, counted = 0;

	assert_int_equal(s->ops->search(s->index, s->shares[0], key, &value), entry != NULL);
	if (entry)
		assert_int_equal(value, entry->value);
	if (!s->ops->tree->search_counted)
		return;
	footprint_begin(&s->fp);
	assert_int_equal(s->ops->search_counted(s->index, s->shares[0], key, &counted, &s->fp),
			 entry != NULL);
	footprint_end(&s->fp);
	assert_int_equal(value, counted);
	assert_true(s->fp.nr > 1);
}

static void step_scan(struct subject *s, uint64_t from, unsigned long limit)
{
	struct scan_result res;
	uint64_t sum;
	size_t nr = model_scan(&s->model, from, limit, &sum);

	s->ops->scan(s->index, s->shares[0], from, limit, &res);
	assert_int_equal(res.nr, nr);
	assert_int_equal(res.sum, sum);
	if (nr)
		assert_int_equal(res.first, s->model.entries[model_at(&s->model, from)].key);
}

static int visit_model(void *ctx, uint64_t key, uint64_t value)
{
	struct entry **next = ctx;

	assert_int_equal(key, (*next)->key);
	assert_int_equal(value, (*next)->value);
	(*next)++;
	return 0;
}

static void assert_whole(struct subject *s)
{
	struct entry *next = s->model.entries;
	char why[128] = "";

	if (!s->ops->tree->check(s->index->tree, why, sizeof(why)))
		fail_msg("with %zu entries: %s", s->model.nr, why);
	assert_int_equal(s->ops->tree->walk(s->index->tree, visit_model, &next), 0);
	assert_int_equal(next - s->model.entries, s->model.nr);
}

/* Rows of random tests: shares out of 100, and keys below a bound so that hits happen. */
static const struct random_case {
	unsigned int inserts, removes, scans;
	uint64_t keys;
	unsigned int steps;
} random_cases[] = {
	{ 45, 45, 5, 40, 2000 },
	{ 45, 45, 5, 900, 4000 },
	{ 80, 10, 2, 30000, STEPS_MAX },
};

static void random_run(const struct random_case *c, uint64_t seed)
{
	struct rng rng;

	rng_seed(&rng, seed, 0);
	for (unsigned int i = 0; i < c->steps; i++) {
		unsigned int dice = (unsigned int)rng_below(&rng, 100);
		unsigned int thread = (unsigned int)rng_below(&rng, 2);
		uint64_t key = rng_below(&rng, c->keys);

		if (dice < c->inserts)
			step_insert(&subject, thread, key, rng_next(&rng) >> 1);
		else if (dice < c->inserts + c->removes)
			step_remove(&subject, thread, key);
		else if (dice < c->inserts + c->removes + c->scans)
			step_scan(&subject, key, rng_below(&rng, 200));
		else
			step_search(&subject, key);
		if (i % 1024 == 0)
			assert_whole(&subject);
	}
	assert_whole(&subject);
}

static void try_all(const char *name, const struct index_ops *ops,
		    const struct index_config *config, uint64_t seeds)
{
	for (size_t i = 0; i < sizeof(random_cases) / sizeof(random_cases[0]); i++) {
		for (uint64_t seed = 1; seed <= seeds; seed++) {
			/* The last line before a failure is the one to repeat. */
			print_message("%s, case %zu, seed %llu\n", name, i,
				      (unsigned long long)seed);
			set_up(ops, config);
			random_run(&random_cases[i], seed);
			tear_down();
		}
	}
}

static void test_variants(void **state)
{
	struct index_config config = { .threads = 2, .entries = STEPS_MAX };
	unsigned int nr = 0;

	for (enum index_id index = 0; index < NR_INDEXES; index++) {
		for (enum scheme_id scheme = 0; scheme < NR_SCHEMES; scheme++) {
			if (!variant_ops(index, scheme))
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

		set_up(variant_ops(INDEX_delta, SCHEME_mutex), &config);
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
		tear_down();
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
