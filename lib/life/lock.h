/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * lock.h - a lock comes into being, or is gone.
 */
#ifndef ELIDE_LOCK_H
#define ELIDE_LOCK_H

#include <stdbool.h>
#include <stddef.h>

#include "../datafile.h"

#pragma GCC visibility push(hidden)

/**
 * elide_lock_new_from() - a lock was initialised.
 * @lock: address
 * @kind: enum elide_kind, ELIDE_KIND_RWLOCK_READ for a rwlock
 * @site: return address of the call
 * @stack: the caller's stack pointer once the call has returned; NULL if it is not known
 * @shared: process-shared: never elided
 */
void elide_lock_new_from(const void *lock, enum elide_kind kind, const void *site,
			 const void *stack, bool shared);

/** elide_lock_new() - elide_lock_new_from() where the stack is not known. */
static inline void elide_lock_new(const void *lock, enum elide_kind kind, const void *site,
				  bool shared)
{
	elide_lock_new_from(lock, kind, site, NULL, shared);
}

/** elide_lock_gone() - a lock was destroyed. */
void elide_lock_gone(const void *lock);

#pragma GCC visibility pop

#endif
