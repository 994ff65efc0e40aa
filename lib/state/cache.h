/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * cache.h - entries of a thread's look-up cache: found, made, thrown away.
 *
 * Entries are found by inline functions, which read only and are allowed inside transactions. All
 * else is for outside of them.
 */
#ifndef ELIDE_CACHE_H
#define ELIDE_CACHE_H

#include "settings.h"
#include "thread.h"

#pragma GCC visibility push(hidden)

/* Bits of a key that hold the kind. */
#define ELIDE_CACHE_KIND 7

/* A call of a class, as one number. */
static inline uint64_t elide_cache_key(const void *site, enum elide_kind kind)
{
	return (uintptr_t)site * 8 | kind;
}

/*
 * The best of half a million random ones. At strides of 4 to 4096 bytes three fifths as many locks
 * as there are entries share none with another to 94 %, at the worst stride to 61 %; with
 * 2^64 / phi to 64 % and to 6 %. See strides_are_spread in tests/unit/test_cache.c.
 */
#define ELIDE_CACHE_FACTOR 0x6c6148add9f61debull

static inline struct elide_cache *elide_cache_slot(struct elide_thread *t, const void *lock,
						   const void *site)
{
	/* Multiplicative hashing (TAOCP vol. 3, 6.4). */
	uint64_t h = ((uintptr_t)lock + (uintptr_t)site * 8) * ELIDE_CACHE_FACTOR;

	/* The index in bytes, in two instructions. */
	return (struct elide_cache *)((char *)t->cache +
				      (h >> (64 - ELIDE_MAX_CACHE_BITS - 4) & t->cache_mask));
}

/* Entries of the cache now. */
static inline uint32_t elide_nr_cache(const struct elide_thread *t)
{
	return READ_ONCE(t->cache_mask) / sizeof(struct elide_cache) + 1;
}

/**
 * elide_cache_used() - go through the entries of the cache that are in use.
 * @i: 0, 1...
 *
 * Return: an entry, which may be empty; NULL after the last.
 */
static inline struct elide_cache *elide_cache_used(struct elide_thread *t, uint32_t i)
{
	if (t->nr_filled <= ELIDE_NR_FILLED)
		return i < t->nr_filled ? &t->cache[t->filled[i]] : NULL;
	return i < elide_nr_cache(t) ? &t->cache[i] : NULL;
}

static inline struct policy_window *elide_window(struct elide_thread *t,
						 const struct elide_cache *entry)
{
	return &t->windows[(entry - t->cache) % ELIDE_NR_CACHE];
}

/**
 * elide_call_of() - what the thread knows of a call.
 * @t: the calling thread
 * @entry: of its cache
 */
static inline struct elide_call *elide_call_of(struct elide_thread *t,
					       const struct elide_cache *entry)
{
	uint32_t at = READ_ONCE(entry->call);

	return likely(at) ? (struct elide_call *)((char *)t + at) : &elide_no_call;
}

/** elide_row() - the counters of the call that an entry of the calling thread is of. */
static inline struct elide_row *elide_row(const struct elide_cache *entry)
{
	return elide_call_row(elide_call_of(elide_self, entry));
}

/*
 * Is @entry that of a call of @site and @kind on @lock? If so, @row, which was read before, is
 * its row; otherwise @row may be anything.
 */
static inline bool elide_cache_fits(const struct elide_cache *entry, const struct elide_row *row,
				    const void *lock, const void *site, enum elide_kind kind)
{
	return entry->lock == lock && row->site == (uintptr_t)site && row->kind == kind &&
	       entry->generation == READ_ONCE(*elide_generation(lock));
}

/**
 * elide_cache_find() - the entry of (lock, site, kind) if the thread has it.
 *
 * Return: the entry or NULL. Reads only: allowed inside a transaction.
 */
static inline struct elide_cache *elide_cache_find(struct elide_thread *t, const void *lock,
						   const void *site, enum elide_kind kind)
{
	const struct elide_row *row;
	struct elide_cache *entry;

	if (unlikely(!t))
		return NULL;
	entry = elide_cache_slot(t, lock, site);
	row = elide_row(entry);
	barrier();
	return likely(elide_cache_fits(entry, row, lock, site, kind)) ? entry : NULL;
}

/* Where it is in the registry. */
static inline uint32_t elide_cache_index(const struct elide_cache *entry)
{
	return elide_registry_home(entry->lock) + entry->slot;
}

/** elide_cache_start() - of a block that is all zeroes: look-ups find room from now on. */
void elide_cache_start(struct elide_thread *t);

/** elide_cache_empty() - the thread has ended; the next one's locks and sites are its own. */
void elide_cache_empty(struct elide_thread *t);

/** elide_caches_forget() - in a forked child: nobody's has grown. */
void elide_caches_forget(void);

/**
 * elide_cache_make() - make an entry, in place of what is there; the cache may grow.
 * @t: the calling thread
 * @call: of the call
 * @lock: its lock
 * @index: of that in the registry
 * @generation: of its hash, read before it was looked up
 */
struct elide_cache *elide_cache_make(struct elide_thread *t, const struct elide_call *call,
				     const void *lock, uint32_t index, uint32_t generation);

/**
 * elide_cache_refill() - the entry of a lock and a call that are known both, evicted or never met.
 * @t: the calling thread, outside transactions
 *
 * Without the engine's lock, which thousands of locks would make the bottleneck.
 *
 * Return: the entry; NULL: one of them is not known.
 */
struct elide_cache *elide_cache_refill(struct elide_thread *t, const void *lock, const void *site,
				       enum elide_kind kind);

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
	return elide_process.config.measures ?
		       READ_ONCE(elide_registry_state(index)->policy.hot) :
		       0;
}

#pragma GCC visibility pop

#endif
