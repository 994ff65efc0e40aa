/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * fill.h - the slow path of a look-up.
 */
#ifndef ELIDE_FILL_H
#define ELIDE_FILL_H

#include "../state/cache.h"

#pragma GCC visibility push(hidden)

/**
 * elide_cache_fill() - the slow path of elide_cache_find().
 *
 * Makes the thread's block, the lock's registration, the row and the entry
 * as far as they are missing. Never inside a transaction.
 *
 * Return: the entry; NULL if this call has to pass through uncounted: before
 * the start, inside the engine itself, at a bound.
 */
struct elide_cache *elide_cache_fill(const void *lock, const void *site, enum elide_kind kind);

#pragma GCC visibility pop

#endif
