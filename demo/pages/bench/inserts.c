// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * inserts.c - the workloads inserts, lookups and updates, on one tree of entries.
 *
 * Alhomssi and Leis, CIDR 2021, sections 5.2 and 5.3: random inserts of 8-byte keys and 100-byte
 * values, and inserts of addresses of web pages and e-mail, random and sorted.
 */
#include "work.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/**
 * struct sorted - texts in ascending order, for --order=sorted
 * @first: number of the first entry
 * @nr: number of entries
 * @texts: their numbers and keys, in ascending order of the keys
 * @bytes: memory of the keys
 */
struct sorted {
	uint64_t first;
	uint64_t nr;
	struct sorted_text {
		uint64_t entry;
		const unsigned char *key;
		unsigned int len;
	} *texts;
	unsigned char *bytes;
};

static int text_order(const void *a, const void *b)
{
	const struct sorted_text *x = a, *y = b;

	return bytes_compare((struct bytes){ x->key, x->len }, (struct bytes){ y->key, y->len });
}

static void sorted_free(struct work *w)
{
	struct sorted *s = w->of_workload;

	if (!s)
		return;
	free(s->texts);
	free(s->bytes);
	free(s);
	w->of_workload = NULL;
}

/* The texts that this run inserts, sorted. Returns 0 or -ENOMEM. */
static int sort(struct work *w)
{
	struct sorted *s;
	unsigned char key[ENTRY_KEY];
	size_t bytes = 0;

	if (w->order != ORDER_sorted || w->data == DATA_integers ||
	    w->opts->workload != WORKLOAD_inserts)
		return 0;
	s = w->of_workload = calloc(1, sizeof(*s));
	if (!s)
		return -ENOMEM;
	s->first = w->next;
	s->nr = w->opts->operations + w->opts->warmup;
	for (uint64_t i = 0; i < s->nr; i++)
		bytes += entry_key(w, s->first + i, key).len;
	s->texts = calloc(s->nr + 1, sizeof(*s->texts));
	s->bytes = malloc(bytes + ENTRY_KEY);
	if (!s->texts || !s->bytes)
		return -ENOMEM;
	bytes = 0;
	for (uint64_t i = 0; i < s->nr; i++) {
		unsigned char *to = s->bytes + bytes;

		s->texts[i] = (struct sorted_text){ s->first + i, to,
						    entry_key(w, s->first + i, to).len };
		bytes += s->texts[i].len;
	}
	qsort(s->texts, s->nr, sizeof(*s->texts), text_order);
	return 0;
}

static int inserts_load(struct work *w)
{
	int err = entries_load(w, 0);

	return err ? err : sort(w);
}

static int inserts_open(struct work *w)
{
	int err = entries_open(w);

	return err ? err : sort(w);
}

static int loaded_load(struct work *w)
{
	return entries_load(w, w->opts->entries);
}

static int loaded_open(struct work *w)
{
	int err = entries_open(w);

	return !err && !w->next ? -ENOENT : err;
}

static struct bytes next_key(struct work *w, uint64_t i, unsigned char *key)
{
	const struct sorted *s = w->of_workload;

	if (!s)
		return entry_key(w, i, key);
	return (struct bytes){ s->texts[i - s->first].key, s->texts[i - s->first].len };
}

static int insert_step(struct worker *worker)
{
	unsigned char key[ENTRY_KEY], value[ENTRY_VALUE];
	struct work *w = worker->work;
	struct bytes k = next_key(w, __atomic_fetch_add(&w->next, 1, __ATOMIC_RELAXED), key);
	int err = page_tree_insert(w->trees, &worker->tree, k, entry_value(w, k, value));

	if (err)
		__atomic_fetch_add(&w->holes, 1, __ATOMIC_RELAXED);
	else
		worker_count(worker, KIND_insert);
	return err;
}

static int lookup_step(struct worker *worker)
{
	unsigned char key[ENTRY_KEY], value[ENTRY_VALUE];
	struct work *w = worker->work;
	struct bytes k = entry_key(w, rng_below(&worker->rng, w->next), key);
	unsigned int len;
	uint64_t check;
	int err = page_tree_lookup(w->trees, k, value, sizeof(value), &len);

	if (!err) {
		memcpy(&check, value, sizeof(check));
		worker->wrong += len != w->value || check != entry_check(k);
	} else if (err == -ENOENT) {
		worker->wrong += !w->holes;
		err = 0;
	}
	if (!err)
		worker_count(worker, KIND_lookup);
	return err;
}

static int update_step(struct worker *worker)
{
	unsigned char key[ENTRY_KEY];
	struct work *w = worker->work;
	struct bytes k = entry_key(w, rng_below(&worker->rng, w->next), key);
	int err = page_tree_update(w->trees, &worker->tree, k, entry_change, NULL);

	worker->changes += !err;
	if (err == -ENOENT) {
		worker->wrong += !w->holes;
		err = 0;
	}
	if (!err)
		worker_count(worker, KIND_update);
	return err;
}

static int verify(struct work *w, char *why, size_t len)
{
	return entries_verify(w, w->next - w->holes, w->updates, why, len);
}

const struct workload work_inserts = {
	.family = FAMILY_entries,
	.load = inserts_load,
	.open = inserts_open,
	.step = insert_step,
	.verify = verify,
	.done = sorted_free,
};

const struct workload work_lookups = {
	.family = FAMILY_entries,
	.load = loaded_load,
	.open = loaded_open,
	.step = lookup_step,
	.verify = verify,
};

const struct workload work_updates = {
	.family = FAMILY_entries,
	.load = loaded_load,
	.open = loaded_open,
	.step = update_step,
	.verify = verify,
};
