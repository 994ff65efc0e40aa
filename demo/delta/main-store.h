/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * main-store.h - the read-only part of a column: a sorted dictionary and packed rows.
 *
 * The main storage follows Karnagel et al., HPCA 2014, section 2. The rows of a delta
 * storage are merged into a main storage, whose dictionary is sorted and whose rows
 * have the minimum number of bits. A merge makes a new main storage and writes
 * neither the old one nor the delta storage.
 */
#ifndef DEMO_MAIN_STORE_H
#define DEMO_MAIN_STORE_H

#include "delta.h"

/**
 * struct main_store - a main storage
 * @values: the dictionary: the values, strictly ascending
 * @nr_values: number of values
 * @rows: @bits bits for each row, its position in @values, from the lowest bit on
 * @nr_rows: number of rows
 * @bits: bits of a row: those that @nr_values - 1 needs, 0 for a single value
 * @texts: values are texts, else numbers
 *
 * A main storage that is all 0 is empty.
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
uint64_t main_store_position(const struct main_store *store, uint64_t row);

/**
 * main_store_row() - the value of a row
 * @store: the storage
 * @row: number of the row, below @store->nr_rows
 */
static inline const union delta_value *main_store_row(const struct main_store *store, uint64_t row)
{
	return &store->values[main_store_position(store, row)];
}

#endif
