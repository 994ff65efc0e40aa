// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * main-store.c - merges a delta storage into a main storage (see main-store.h).
 *
 * No other thread may use the delta storage during a merge.
 */
#include "main-store.h"

#include <errno.h>
#include <stdlib.h>

/*
 * struct merge - state of a merge
 * @old, @delta: the storages that are merged
 * @to: the merged storage
 * @from_old: position in @to of each value of @old
 * @from_delta: position in @to of each entry of @delta, by entry_number()
 * @used: a visible row of @delta has the entry, by entry_number()
 */
struct merge {
	const struct main_store *old;
	const struct delta *delta;
	struct main_store *to;
	uint64_t *from_old;
	uint64_t *from_delta;
	bool *used;
};

/* The number of an entry, counted through all dictionaries one after the other. */
static uint64_t entry_number(const struct delta *delta, uint32_t id)
{
	uint64_t number = dictionary_position(&delta->dicts, id);

	for (unsigned int i = 0; i < dictionary_of(&delta->dicts, id); i++)
		number += delta->dicts.array[i].size;
	return number;
}

static uint64_t nr_entries(const struct delta *delta)
{
	uint64_t nr = 0;

	for (unsigned int i = 0; i < delta->dicts.nr; i++)
		nr += delta->dicts.array[i].size;
	return nr;
}

static const struct delta_row *row_of(const struct delta *delta, uint64_t row)
{
	return area_at(&delta->rows, row);
}

/* Count the rows of the merged storage and mark the entries that they use. */
static uint64_t count_rows(struct merge *m)
{
	uint64_t nr = m->old->nr_rows;

	for (uint64_t i = 0; i < delta_rows(m->delta); i++) {
		if (!row_of(m->delta, i)->visible)
			continue;
		m->used[entry_number(m->delta, row_of(m->delta, i)->id)] = true;
		nr++;
	}
	return nr;
}

static void copy_value(struct merge *m, const union delta_value *value)
{
	union delta_value *to = &m->to->values[m->to->nr_values++];

	memset(to, 0, sizeof(*to));
	if (m->to->texts)
		memcpy(to->text, value->text, DELTA_TEXT);
	else
		to->number = value->number;
}

/* Copy the values of @old that are below @bound; without a bound all remaining values. */
static void copy_old(struct merge *m, uint64_t *at, const union delta_value *bound)
{
	const struct main_store *old = m->old;

	for (; *at < old->nr_values; ++*at) {
		if (bound && delta_value_order(m->to->texts, &old->values[*at], bound) >= 0)
			return;
		m->from_old[*at] = m->to->nr_values;
		copy_value(m, &old->values[*at]);
	}
}

/* Merge the values of both storages. The leaves of the index have the delta's in order. */
static void merge_values(struct merge *m)
{
	const struct delta_leaf *leaf = delta_first_leaf(m->delta);
	uint64_t at = 0;

	for (; leaf; leaf = leaf->next) {
		for (unsigned int i = 0; i < leaf->node.nr; i++) {
			uint32_t id = leaf->node.ids[i];
			uint64_t number = entry_number(m->delta, id);
			const union delta_value *value;

			if (!m->used[number])
				continue;
			value = &dictionary_entry(&m->delta->dicts, id)->value;
			copy_old(m, &at, value);
			m->from_delta[number] = m->to->nr_values;
			if (at < m->old->nr_values &&
			    !delta_value_order(m->to->texts, &m->old->values[at], value))
				m->from_old[at++] = m->to->nr_values;
			copy_value(m, value);
		}
	}
	copy_old(m, &at, NULL);
}

/* Append a row that holds @position. */
static void put_row(struct main_store *store, uint64_t position)
{
	uint64_t bit = store->nr_rows++ * store->bits;

	if (!store->bits)
		return;
	store->rows[bit / 64] |= position << bit % 64;
	if (bit % 64 + store->bits > 64)
		store->rows[bit / 64 + 1] |= position >> (64 - bit % 64);
}

/* The number of bits that hold all numbers below @nr. */
static unsigned int bits_for(uint64_t nr)
{
	return nr > 1 ? 64 - (unsigned int)__builtin_clzll(nr - 1) : 0;
}

static int merge_rows(struct merge *m, uint64_t nr)
{
	struct main_store *to = m->to;

	to->bits = bits_for(to->nr_values);
	/* One more word, because a row that ends a word also touches the next one. */
	to->rows = calloc(nr * to->bits / 64 + 2, sizeof(to->rows[0]));
	if (!to->rows)
		return -ENOMEM;
	for (uint64_t i = 0; i < m->old->nr_rows; i++)
		put_row(to, m->from_old[main_store_position(m->old, i)]);
	for (uint64_t i = 0; i < delta_rows(m->delta); i++)
		if (row_of(m->delta, i)->visible)
			put_row(to, m->from_delta[entry_number(m->delta, row_of(m->delta, i)->id)]);
	return 0;
}

/**
 * main_store_merge() - merge a main storage and a delta storage into a new main storage
 * @merged: receives the new main storage
 * @old: the main storage, not changed
 * @delta: a delta storage that keeps rows, not changed. Its deleted rows, and values
 *	   that only deleted rows have, are left out
 *
 * The rows of @old come first, then those of @delta, each in their order.
 *
 * Return: 0, or -ENOMEM with @merged empty.
 */
int main_store_merge(struct main_store *merged, const struct main_store *old,
		     const struct delta *delta)
{
	struct merge m = { .old = old, .delta = delta, .to = merged };
	uint64_t nr = nr_entries(delta), nr_rows;
	int err = -ENOMEM;

	*merged = (struct main_store){ .texts = delta->dicts.texts };
	/* One element more than needed, because calloc() of 0 elements may return NULL. */
	m.from_old = calloc(old->nr_values + 1, sizeof(m.from_old[0]));
	m.from_delta = calloc(nr + 1, sizeof(m.from_delta[0]));
	m.used = calloc(nr + 1, sizeof(m.used[0]));
	merged->values = calloc(old->nr_values + nr + 1, sizeof(merged->values[0]));
	if (m.from_old && m.from_delta && m.used && merged->values) {
		nr_rows = count_rows(&m);
		merge_values(&m);
		err = merge_rows(&m, nr_rows);
	}
	free(m.used);
	free(m.from_delta);
	free(m.from_old);
	if (err)
		main_store_destroy(merged);
	return err;
}

/**
 * main_store_destroy() - free a main storage
 * @store: the storage, empty afterwards
 */
void main_store_destroy(struct main_store *store)
{
	free(store->values);
	free(store->rows);
	*store = (struct main_store){ 0 };
}

/**
 * main_store_position() - the position in the dictionary of a row's value
 * @store: the storage
 * @row: number of the row, below @store->nr_rows
 */
uint64_t main_store_position(const struct main_store *store, uint64_t row)
{
	uint64_t bit = row * store->bits, word = store->bits ? store->rows[bit / 64] : 0;

	if (!store->bits)
		return 0;
	word >>= bit % 64;
	if (bit % 64 + store->bits > 64)
		word |= store->rows[bit / 64 + 1] << (64 - bit % 64);
	return word & ((1ull << store->bits) - 1);
}

/**
 * delta_merge() - merge the column data into an empty main storage and compare all rows
 * @delta: the storage
 * @res: receives the sizes, and the number of rows that differ
 *
 * Return: 0 or -ENOMEM.
 */
int delta_merge(const struct delta *delta, struct merge_result *res)
{
	struct main_store none = { 0 }, merged;
	uint64_t at = 0;
	int err;

	*res = (struct merge_result){ 0 };
	res->kept = delta->keep_rows;
	if (!res->kept)
		return 0;
	err = main_store_merge(&merged, &none, delta);
	if (err)
		return err;
	res->rows = merged.nr_rows;
	res->values = merged.nr_values;
	res->bits = merged.bits;
	for (uint64_t i = 0; i < delta_rows(delta); i++) {
		const struct delta_row *row = row_of(delta, i);

		if (row->visible)
			res->wrong += !!delta_value_order(
				merged.texts, main_store_row(&merged, at++),
				&dictionary_entry(&delta->dicts, row->id)->value);
	}
	main_store_destroy(&merged);
	return 0;
}
