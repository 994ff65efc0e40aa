/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * array.h - which data of an object may be arrays of locks.
 *
 * All locks of an array are one class. Only the object's file tells where data begins and ends: its symbols
 * are read once, when the first lock in its data is registered. Data that is too small for
 * ELIDE_ARRAY_LOCKS locks, or for which the table has no room, is left out: locks there are a class each.
 *
 * Only under the engine's lock. Must never allocate.
 */
#ifndef ELIDE_ARRAY_H
#define ELIDE_ARRAY_H

#include <stdbool.h>
#include <stdint.h>

#include "../datafile.h"

#pragma GCC visibility push(hidden)

/* Fewer locks may be members of a structure: they are a class each. */
#define ELIDE_ARRAY_LOCKS 16

/**
 * struct elide_array - data that may be an array of locks.
 * @start, @size: of the symbol
 * @module: object it lies in
 * @first:  address of the first lock registered in it; 0 none yet
 * @class_index, @kind, @shared: of that lock
 */
struct elide_array {
	uint64_t start;
	uint64_t size;
	uint64_t first;
	const struct elide_module *module;
	uint32_t class_index;
	uint16_t kind;
	bool shared;
};

/** elide_array_start() - make room. Return: 0 or -ENOMEM. */
int elide_array_start(void);

/**
 * elide_array_read() - read the symbols of an object.
 *
 * Return: whether it names all its data, as it has not been stripped.
 */
bool elide_array_read(const struct elide_module *m);

/** elide_array_find() - the data of @m that @address lies in, if it is large enough; or NULL. */
struct elide_array *elide_array_find(const struct elide_module *m, uint64_t address);

/**
 * elide_array_has() - is a lock an element of an array that has a first lock?
 * @a: the array
 * @address, @kind, @shared: of the lock
 *
 * The distance of two elements is a multiple of their size, and so is the size of the array. Members of a
 * structure rarely pass for that.
 */
bool elide_array_has(const struct elide_array *a, uint64_t address, enum elide_kind kind,
		     bool shared);

#pragma GCC visibility pop

#endif
