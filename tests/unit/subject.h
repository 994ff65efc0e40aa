/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * subject.h - an index, two threads' shares of it, and its model, for tests that compare
 * them step by step through the table of operations that the driver uses.
 */
#ifndef TESTS_SUBJECT_H
#define TESTS_SUBJECT_H

#include "../../demo/base/footprint.h"
#include "../../demo/base/rng.h"
#include "../../demo/latch/rtm.h"
#include "../../demo/sync/variants.h"
#include "model.h"

/* struct subject - an index, two threads' shares of it, and its model */
struct subject {
	const struct index_ops *ops;
	struct index *index;
	struct index_thread *shares[2];
	struct footprint fp;
	struct model model;
};

static inline void subject_init(struct subject *s, const struct index_ops *ops,
				const struct index_config *config)
{
	*s = (struct subject){ .ops = ops };
	s->index = ops->create(config);
	assert_non_null(s->index);
	for (unsigned int i = 0; i < 2; i++) {
		s->shares[i] = ops->tree->attach(s->index->tree, i, 1);
		assert_non_null(s->shares[i]);
	}
}

static inline void subject_destroy(struct subject *s)
{
	if (s->index)
		s->ops->destroy(s->index);
	for (unsigned int i = 0; i < 2; i++)
		if (s->shares[i])
			s->ops->tree->detach(s->shares[i]);
}

/* A share between two operations of the other thread: it does not hold up reclamation. */
static inline void step_end(struct subject *s, unsigned int thread)
{
	if (s->ops->idle)
		s->ops->idle(s->index, s->shares[thread]);
}

static inline void step_insert(struct subject *s, unsigned int thread, uint64_t key,
			       uint64_t value)
{
	struct index_thread *share = s->shares[thread];

	assert_int_equal(s->ops->reserve(s->index, share), 0);
	assert_int_equal(s->ops->insert(s->index, share, key, value),
			 model_insert(&s->model, key, value));
	step_end(s, thread);
}

static inline void step_remove(struct subject *s, unsigned int thread, uint64_t key)
{
	struct entry *entry = model_find(&s->model, key);
	uint64_t value = 0;

	assert_int_equal(index_reserve_remove(s->index, s->shares[thread]), 0);
	assert_int_equal(s->ops->remove(s->index, s->shares[thread], key, &value), entry != NULL);
	if (entry) {
		assert_int_equal(value, entry->value);
		model_remove(&s->model, entry);
	}
	step_end(s, thread);
}

/* The counting search, of a tree that has one, must find what the other one finds. */
static inline void step_search(struct subject *s, uint64_t key)
{
	const struct entry *entry = model_find(&s->model, key);
	uint64_t value = 0, counted = 0;

	assert_int_equal(s->ops->search(s->index, s->shares[0], key, &value), entry != NULL);
	if (entry)
		assert_int_equal(value, entry->value);
	step_end(s, 0);
	if (!s->ops->tree->search_counted)
		return;
	footprint_begin(&s->fp);
	assert_int_equal(s->ops->search_counted(s->index, s->shares[0], key, &counted, &s->fp),
			 entry != NULL);
	footprint_end(&s->fp);
	assert_int_equal(value, counted);
	assert_true(s->fp.nr > 1);
}

static inline void step_scan(struct subject *s, uint64_t from, unsigned long limit)
{
	struct scan_result res;
	uint64_t sum;
	size_t nr = model_scan(&s->model, from, limit, &sum);
	size_t at = model_at(&s->model, from);

	s->ops->scan(s->index, s->shares[0], from, limit, &res);
	step_end(s, 0);
	assert_int_equal(res.nr, nr);
	assert_int_equal(res.sum, sum);
	if (nr) {
		assert_int_equal(res.first, s->model.entries[at].key);
		assert_int_equal(res.last, s->model.entries[at + nr - 1].key);
	}
}

static inline int visit_model(void *ctx, uint64_t key, uint64_t value)
{
	struct entry **next = ctx;

	assert_int_equal(key, (*next)->key);
	assert_int_equal(value, (*next)->value);
	(*next)++;
	return 0;
}

static inline void assert_whole(struct subject *s)
{
	struct entry *next = s->model.entries;
	struct tree_shape shape;
	char why[128] = "";

	if (!s->ops->tree->check(s->index->tree, why, sizeof(why)))
		fail_msg("with %zu entries: %s", s->model.nr, why);
	assert_int_equal(s->ops->tree->walk(s->index->tree, visit_model, &next), 0);
	assert_int_equal(next - s->model.entries, s->model.nr);
	if (!s->ops->tree->shape)
		return;
	s->ops->tree->shape(s->index->tree, &shape);
	assert_int_equal(shape.entries, s->model.nr);
}

/* struct random_case - shares out of 100, and keys below a bound so that hits happen */
struct random_case {
	unsigned int inserts, removes, scans;
	uint64_t keys;
	unsigned int steps;
};

/* Random steps; the structure is checked every @interval steps and at the end. */
static inline void random_run(struct subject *s, const struct random_case *c, uint64_t seed,
			      unsigned int interval)
{
	struct rng rng;

	rng_seed(&rng, seed, 0);
	for (unsigned int i = 0; i < c->steps; i++) {
		unsigned int dice = (unsigned int)rng_below(&rng, 100);
		unsigned int thread = (unsigned int)rng_below(&rng, 2);
		uint64_t key = rng_below(&rng, c->keys);

		if (dice < c->inserts)
			step_insert(s, thread, key, rng_next(&rng) >> 1);
		else if (dice < c->inserts + c->removes)
			step_remove(s, thread, key);
		else if (dice < c->inserts + c->removes + c->scans)
			step_scan(s, key, rng_below(&rng, 200));
		else
			step_search(s, key);
		if (i % interval == 0)
			assert_whole(s);
	}
	assert_whole(s);
}

static inline uint64_t option_default(const struct option_row *row, uint64_t node)
{
	if (node && !strcmp(row->name, "node"))
		return node;
	return !strcmp(row->name, "attempts") && !rtm_usable() ? 0 : row->def;
}

/*
 * The defaults of the options of @index, with a node of @node bytes if it has the option, and
 * without transactions if this processor has no RTM.
 */
static inline void options_default(enum index_id index, uint64_t *options, uint64_t node)
{
	const struct option_row *rows = index_options(index);

	for (unsigned int i = 0; rows[i].name; i++)
		options[i] = option_default(&rows[i], node);
}

/* Can the index run with these options under the scheme? */
static inline bool variant_fits(const struct index_ops *ops, const struct index_config *config)
{
	char why[256];

	return !(ops->tree->unfit && ops->tree->unfit(config, why, sizeof(why))) &&
	       !(ops->unfit && ops->unfit(config, why, sizeof(why)));
}

#endif
