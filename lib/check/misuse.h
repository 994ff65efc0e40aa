/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * misuse.h - calls that a correct program does not make.
 */
#ifndef ELIDE_MISUSE_H
#define ELIDE_MISUSE_H

#include "../datafile.h"

#pragma GCC visibility push(hidden)

/**
 * elide_misuse() - count a misuse at its place.
 * @type: enum elide_misuse_type
 * @kind: enum elide_kind
 * @site: return address of the call
 * @lock: the lock
 *
 * Not inside a transaction.
 */
void elide_misuse(enum elide_misuse_type type, enum elide_kind kind, const void *site,
		  const void *lock);

/**
 * elide_misuse_died() - elide_misuse() of type ELIDE_MISUSE_OWNER_DIED.
 * @tid: the owner that died, 0 if it is not known
 */
void elide_misuse_died(uint32_t tid, enum elide_kind kind, const void *site, const void *lock);

/**
 * elide_misuse_locked() - elide_misuse() in a global-lock path; @site is from elide_recorded().
 */
void elide_misuse_locked(enum elide_misuse_type type, enum elide_kind kind, const void *site,
			 const void *lock);

/** elide_misuse_forget() - in a forked child: the list is the parent's. */
void elide_misuse_forget(void);

#pragma GCC visibility pop

#endif
