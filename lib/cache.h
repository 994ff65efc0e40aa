/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * cache.h - entries of a thread's look-up cache: made, found again, thrown away.
 *
 * For the slow paths of thread.c; who looks something up needs thread.h alone. Outside
 * transactions only.
 */
#ifndef ELIDE_CACHE_H
#define ELIDE_CACHE_H

#include "process.h"
#include "thread.h"

#pragma GCC visibility push(hidden)

/** elide_cache_start() - of a block that is all zeroes: look-ups find room from now on. */
void elide_cache_start(struct elide_thread *t);

/** elide_cache_empty() - the thread has ended; the next one's locks and sites are its own. */
void elide_cache_empty(struct elide_thread *t);

/** elide_caches_forget() - in a forked child: nobody's has grown. */
void elide_caches_forget(void);

/**
 * elide_cache_make() - make an entry, in place of what is there; the cache may grow.
 * @t: the calling thread
 * @mark: of the call
 * @lock: its lock
 * @index: of that in the registry
 * @generation: of its hash, read before it was looked up
 */
struct elide_cache *elide_cache_make(struct elide_thread *t, const struct elide_mark *mark,
				     const void *lock, uint32_t index, uint32_t generation);

/**
 * elide_row_slot() - where in the hash of a thread's rows that one is, or would be.
 * @t: the calling thread
 * @class_index, @site, @kind: what the row is of
 * @hot: number of the lock's own state, 0 if it has none
 */
uint16_t *elide_row_slot(struct elide_thread *t, uint32_t class_index, const void *site,
			 enum elide_kind kind, uint32_t hot);

/** elide_hot_of() - number of the own state of the lock with that index, 0 if it has none. */
static inline uint32_t elide_hot_of(uint32_t index)
{
	return elide_process.config.name == POLICY_ADAPTIVE ?
		       READ_ONCE(elide_registry_state(index)->policy.hot) :
		       0;
}

#pragma GCC visibility pop

#endif
