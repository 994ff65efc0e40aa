/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * page-model.h - what the tests of trees in pages share: a pool, and a model of a tree.
 *
 * The model has a universe of keys, of which each is in the tree with a value or not. The bytes of
 * a key follow from its number, those of a value from the number and a version.
 */
#ifndef TESTS_UNIT_PAGE_MODEL_H
#define TESTS_UNIT_PAGE_MODEL_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../demo/base/rng.h"
#include "../../demo/pages/tree.h"

/* Bytes of the longest key and value of the model. */
#define MODEL_KEY 300
#define MODEL_VALUE 320

/* A key of the universe, with its number. */
struct model_key {
	unsigned int len;
	unsigned char bytes[MODEL_KEY];
};

/**
 * struct model - the keys in ascending order, and the version of each in the tree, 0 if absent
 */
struct model {
	unsigned int nr;
	struct model_key *keys;
	uint32_t *version;
};

static int model_order(const void *a, const void *b)
{
	const struct model_key *x = a, *y = b;

	return bytes_compare((struct bytes){ x->bytes, x->len }, (struct bytes){ y->bytes, y->len });
}

static inline struct bytes model_bytes(const struct model *m, unsigned int i)
{
	return (struct bytes){ m->keys[i].bytes, m->keys[i].len };
}

/* Keys of few different bytes and of 1 to @longest bytes, so that prefixes are often the same. */
static inline void model_init(struct model *m, struct rng *rng, unsigned int nr,
			      unsigned int longest)
{
	unsigned int kept = 0;

	m->keys = calloc(nr, sizeof(*m->keys));
	m->version = calloc(nr, sizeof(*m->version));
	for (unsigned int i = 0; i < nr; i++) {
		struct model_key *k = &m->keys[i];
		unsigned int most = rng_below(rng, 6) ? (longest < 12 ? longest : 12) : longest;

		k->len = 1 + (unsigned int)rng_below(rng, most);
		for (unsigned int j = 0; j < k->len; j++)
			k->bytes[j] = rng_below(rng, 3) ? (unsigned char)rng_below(rng, 3) :
				      rng_below(rng, 2) ? (unsigned char)rng_next(rng) : 0xff;
	}
	qsort(m->keys, nr, sizeof(*m->keys), model_order);
	for (unsigned int i = 0; i < nr; i++)
		if (!kept || model_order(&m->keys[kept - 1], &m->keys[i]))
			m->keys[kept++] = m->keys[i];
	m->nr = kept;
}

static inline void model_free(struct model *m)
{
	free(m->keys);
	free(m->version);
}

/* The value of a version of a key; @like: of the length of that version. Returns its bytes. */
static inline struct bytes model_value_like(unsigned char *value, unsigned int key,
					    uint32_t version, uint32_t like)
{
	unsigned int len = (unsigned int)(mix64(key * 77777ull + like) %
					  (like % 3 ? 40 : MODEL_VALUE));

	for (unsigned int i = 0; i < len; i++)
		value[i] = (unsigned char)(mix64(key * 31ull + version) >> i % 8 * 8);
	return (struct bytes){ value, len };
}

static inline struct bytes model_value(unsigned char *value, unsigned int key, uint32_t version)
{
	return model_value_like(value, key, version, version);
}

/* A pool without a file, or of the file @path, which is made if @create. */
static inline int test_pool(struct page_pool *pool, const char *path, bool create, uint32_t frames,
			    pool_hook hook, void *ctx)
{
	char why[256] = "";
	struct pool_config config = {
		.store = { .path = path, .io = path ? IO_buffered : IO_none, .create = create },
		.frames = frames, .free_pct = 10, .cool_pct = 30, .providers = 1,
		.hook = hook, .ctx = ctx,
	};
	int err = pool_open(pool, &config, why, sizeof(why));

	if (err)
		fprintf(stderr, "pool: %s\n", why);
	return err;
}

#endif
