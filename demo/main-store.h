/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * main-store.h - the read-only part of a column: a sorted dictionary and packed rows.
 *
 * After Karnagel et al., HPCA 2014, section 2: what a delta storage has
 * collected is merged into a main storage, whose dictionary is sorted and whose
 * rows are as narrow as their number of values allows. A merge makes a new main
 * storage and writes neither of the old parts.
 */
#ifndef DEMO_MAIN_STORE_H
#define DEMO_MAIN_STORE_H

#include "delta.h"

/**
 * struct main_store - a main storage
 * @values: in ascending order, no value twice
 * @nr_values: how many; position in this array is what rows hold
 * @rows: @bits bits for each row, from the lowest bit of the first word on
 * @nr_rows: how many
 * @bits: of a row: what @nr_values - 1 needs, 0 for a single value
 * @texts: whether values are texts
 *
 * All 0 is an empty one.
 */
struct main_store {
	union delta_value *values;
	uint64_t nr_values;
	uint64_t *rows;
	uint64_t nr_rows;
	unsigned int bits;
	bool texts;
};

int main_store_merge(struct main_store *merged, const struct main_store *old,
		     const struct delta *delta);
void main_store_destroy(struct main_store *store);
bool main_store_find(const struct main_store *store, const union delta_value *value,
		     uint64_t *position);
uint64_t main_store_position(const struct main_store *store, uint64_t row);

/**
 * main_store_row() - the value of a row
 * @store: the storage
 * @row: its number, below @store->nr_rows
 */
static inline const union delta_value *main_store_row(const struct main_store *store, uint64_t row)
{
	return &store->values[main_store_position(store, row)];
}

#endif
