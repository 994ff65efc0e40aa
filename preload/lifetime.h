/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * lifetime.h - a lock of any kind is initialised or destroyed.
 */
#ifndef ELIDE_LIFETIME_H
#define ELIDE_LIFETIME_H

#include <stdbool.h>

#include "datafile.h"

/**
 * wrap_init() - after a lock was initialised.
 * @site: return address of the wrapper
 * @stack: of elide_lock_new_from()
 * @shared: process-shared
 */
#define wrap_init(lock, kind, site, shared) \
	wrap_init_from(lock, kind, site, __builtin_dwarf_cfa(), shared)
void wrap_init_from(const void *lock, enum elide_kind kind, const void *site, const void *stack,
		    bool shared);

/** wrap_destroy_begin() - before a lock is destroyed: abort if it is held by elision. */
void wrap_destroy_begin(const void *lock);

/** wrap_destroy_end() - after it was destroyed. */
void wrap_destroy_end(const void *lock, enum elide_kind kind);

#endif
