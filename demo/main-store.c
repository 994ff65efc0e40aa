// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * main-store.c - merges a delta storage into a main storage (see main-store.h).
 *
 * No other thread may use the delta storage meanwhile.
 */
#include "main-store.h"

#include <errno.h>
#include <stdlib.h>

/*
 * struct merge - a merge at work
 * @old, @delta: what is merged
 * @to: the result
 * @from_old: where each value of @old is in the result
 * @from_delta: where each entry of @delta is, by its number among all of them
 * @used: whether a visible row of @delta has the entry
 */
struct merge {
	const struct main_store *old;
	const struct delta *delta;
	struct main_store *to;
	uint64_t *from_old;
	uint64_t *from_delta;
	bool *used;
};

/* The number of an entry among those of all dictionaries, one behind the other. */
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

/* How many rows remain; notes which entries they have. */
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

/* The values of @old below @bound, or all that are left without one. */
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

/* Two sorted sequences into one: the index gives the values of the delta in order. */
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

static void put_row(struct main_store *store, uint64_t position)
{
	uint64_t bit = store->nr_rows++ * store->bits;

	if (!store->bits)
		return;
	store->rows[bit / 64] |= position << bit % 64;
	if (bit % 64 + store->bits > 64)
		store->rows[bit / 64 + 1] |= position >> (64 - bit % 64);
}

/* Bits that hold all numbers below @nr. */
static unsigned int bits_for(uint64_t nr)
{
	return nr > 1 ? 64 - (unsigned int)__builtin_clzll(nr - 1) : 0;
}

static int merge_rows(struct merge *m, uint64_t nr)
{
	struct main_store *to = m->to;

	to->bits = bits_for(to->nr_values);
	/* A word more, so that the last row need not be told from the others. */
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
 * main_store_merge() - a main storage of the rows of another one and of a delta storage
 * @merged: receives it
 * @old: the other one, which stays as it is
 * @delta: a storage that keeps rows; stays as it is. Its deleted rows, and values
 *	   that only these had, are left out
 *
 * Rows stay in order, those of @old first.
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
	/* One more than needed, because no memory for nothing may be NULL. */
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
 * main_store_destroy() - forget a main storage
 * @store: the storage, empty afterwards
 */
void main_store_destroy(struct main_store *store)
{
	free(store->values);
	free(store->rows);
	*store = (struct main_store){ 0 };
}

/**
 * main_store_find() - look a value up
 * @store: the storage
 * @value: the value
 * @position: receives its place in the dictionary
 *
 * Return: true if it is there.
 */
bool main_store_find(const struct main_store *store, const union delta_value *value,
		     uint64_t *position)
{
	uint64_t low = 0, high = store->nr_values;

	while (low < high) {
		uint64_t middle = low + (high - low) / 2;

		if (delta_value_order(store->texts, &store->values[middle], value) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	*position = low;
	return low < store->nr_values && !delta_value_order(store->texts, &store->values[low], value);
}

/**
 * main_store_position() - what a row holds: the place of its value in the dictionary
 * @store: the storage
 * @row: its number, below @store->nr_rows
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
 * delta_merge() - merge the column data into an empty main storage, and compare
 * @delta: the storage
 * @res: receives what came out
 *
 * Return: 0 or -ENOMEM.
 */
int delta_merge(const struct delta *delta, struct merge_result *res)
{
	struct main_store none = { 0 }, merged;
	uint64_t at = 0;
	int err;

	*res = (struct merge_result){ 0 };
	if (!delta->keep_rows)
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
