/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * lock.h - a lock is initialised or destroyed.
 */
#ifndef ELIDE_LOCK_H
#define ELIDE_LOCK_H

#include <stdbool.h>
#include <stddef.h>

#include "../datafile.h"
#include "../state/lock-table.h"
#include "../state/settings.h"
#include "../state/thread.h"

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

/*
 * Locks that a thread counts before it adds them to the count of the class, which threads share: the locked
 * instruction takes as long as initialising a lock. Chosen here.
 */
#define ELIDE_MOST_NEW 256

/** elide_lock_count() - add the locks that a thread has counted for itself to the count of their class. */
void elide_lock_count(struct elide_thread *t);

/** elide_lock_count_more() - count a lock of another class than @t counts, or behind ELIDE_MOST_NEW. */
void elide_lock_count_more(struct elide_thread *t, uint32_t class_index);

/**
 * elide_lock_renew() - fast path of elide_lock_new(): the call has initialised such a lock at this address
 * before.
 * @t: elide_self_fast, in no section
 *
 * A call inside a wrapper names no lock, and elide_inits has none.
 *
 * Return: false if nothing was done: elide_lock_new() does it.
 */
static __always_inline_fn bool elide_lock_renew(struct elide_thread *t, const void *lock,
						enum elide_kind kind, const void *site, bool shared)
{
	uint64_t class_index = elide_class_by_site(kind, site, shared);

	/* A forked child has its parent's registry until its first global-lock path. */
	if (unlikely(class_index > ELIDE_INIT_CLASS) || unlikely(!t->ready || elide_process.order) ||
	    unlikely(!elide_table_renew(elide_word(lock, class_index))))
		return false;
	if (likely(t->new_class == class_index && t->nr_new - 1 < ELIDE_MOST_NEW))
		t->nr_new++;
	else
		elide_lock_count_more(t, class_index);
	return true;
}

/** elide_lock_retire() - fast path of elide_lock_gone(). @t: elide_self_fast. Return: false: call that. */
static __always_inline_fn bool elide_lock_retire(const struct elide_thread *t, const void *lock)
{
	return likely(t->ready && !elide_process.order) && elide_table_retire(lock);
}

#pragma GCC visibility pop

#endif
