/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * cache.h - entries of a thread's look-up cache: found, made, thrown away.
 *
 * Entries are found by inline functions, which read only and are allowed inside transactions. All
 * else is for outside of them.
 */
#ifndef ELIDE_CACHE_H
#define ELIDE_CACHE_H

#include "modules.h"
#include "settings.h"
#include "thread.h"

#pragma GCC visibility push(hidden)

/* Bits of a key that hold the kind of a lock; what is more of other kinds is above the site. */
#define ELIDE_CACHE_KIND 7

_Static_assert(ELIDE_NR_KINDS <= 2 * (ELIDE_CACHE_KIND + 1), "one bit more is used");

/* A call of a class, as one number. */
static inline uint64_t elide_cache_key(const void *site, enum elide_kind kind)
{
	return (uintptr_t)site * (ELIDE_CACHE_KIND + 1) | (kind & ELIDE_CACHE_KIND) |
	       (uint64_t)(kind / (ELIDE_CACHE_KIND + 1)) << 63;
}

/* The site of a key, and its kind. */
static inline const void *elide_cache_key_site(uint64_t key)
{
	return (const void *)((key & ~(1ull << 63)) / (ELIDE_CACHE_KIND + 1));
}

static inline enum elide_kind elide_cache_key_kind(uint64_t key)
{
	return (key & ELIDE_CACHE_KIND) + (key >> 63) * (ELIDE_CACHE_KIND + 1);
}

/*
 * Multiplicative hashing (TAOCP vol. 3, 6.4) of the lock and of the key, by odd factors that are
 * immediate operands. The key has one of its own: neighbouring locks and the calls of one function
 * differ by as many bytes, so their sums would meet. The factors are the best of 60,000 random
 * pairs: at strides of 4 to 4096 bytes three fifths as many locks as there are entries share none
 * with another to 94 %, at the worst stride to 66 %; with 2^64 / phi to 64 % and to 6 %. See
 * strides_are_spread and neighbours_are_parted in tests/unit/test_cache.c.
 */
#define ELIDE_CACHE_LOCK  ((uint64_t)(int32_t)0xe256f947)
#define ELIDE_CACHE_SITE  ((uint64_t)(int32_t)0xece61e01)
#define ELIDE_CACHE_SHIFT 28

static inline struct elide_cache *elide_cache_slot(struct elide_thread *t, const void *lock,
						   uint64_t key)
{
	uint64_t h = ((uintptr_t)lock + key * ELIDE_CACHE_SITE) * ELIDE_CACHE_LOCK;

	/* The index in bytes: an entry has 2^4. */
	return (struct elide_cache *)((char *)t->cache +
				      (h >> (ELIDE_CACHE_SHIFT - 4) & t->cache_mask));
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
 * Is @entry that of @lock and of the call with the key @key? @found is the key of the entry's call,
 * which was read before.
 */
static __always_inline_fn bool elide_cache_fits(const struct elide_cache *entry, uint64_t found,
						const void *lock, uint64_t key)
{
	return entry->lock == lock && found == key &&
	       entry->generation == READ_ONCE(elide_generations[entry->counter]);
}

/**
 * elide_cache_find() - the entry of (lock, site, kind) if the thread has it.
 *
 * Return: the entry or NULL. Reads only: allowed inside a transaction.
 */
static inline struct elide_cache *elide_cache_find(struct elide_thread *t, const void *lock,
						   const void *site, enum elide_kind kind)
{
	uint64_t key = elide_cache_key(site, kind), found;
	struct elide_cache *entry;

	if (unlikely(!t))
		return NULL;
	entry = elide_cache_slot(t, lock, key);
	found = READ_ONCE(elide_call_of(t, entry)->key);
	barrier();
	return likely(elide_cache_fits(entry, found, lock, key)) ? entry : NULL;
}

static __always_inline_fn struct elide_skip *elide_skip_of(struct elide_thread *t, const void *site)
{
	return &t->skips[((uintptr_t)site ^ (uintptr_t)site >> 6) % ELIDE_NR_SKIPS];
}

/**
 * elide_skips() - is a call that is not in the cache to pass through, without a look-up?
 * @t: the calling thread
 * @site: return address of the call
 *
 * It is where there was no room for the last calls of the site: one call less is skipped afterwards.
 */
static __always_inline_fn bool elide_skips(struct elide_thread *t, const void *site)
{
	struct elide_skip *skip = elide_skip_of(t, site);

	if (likely(skip->site != site || !skip->left))
		return false;
	skip->left--;
	return true;
}

/**
 * elide_skip_more() - a look-up has found no room for the call, which passes through: skip the next ones.
 * @what: what there was no room for; the skipped calls are counted as that
 * @nr: 1: so is this one; 0: it has been
 */
void elide_skip_more(struct elide_thread *t, const void *site, enum elide_dropped what,
		     uint32_t nr);

/** elide_skip_less() - a look-up of a call of the site has found room. */
static inline void elide_skip_less(struct elide_thread *t, const void *site)
{
	struct elide_skip *skip = elide_skip_of(t, site);

	if (unlikely(skip->pause) && skip->site == site)
		skip->pause /= 2;
}

/** elide_skips_end() - what was not skipped yet is not dropped: the process ends. In a slow path. */
void elide_skips_end(void);

/** elide_cache_find_row() - elide_cache_find() of a lock and the call that a row is of. */
static inline struct elide_cache *elide_cache_find_row(struct elide_thread *t, const void *lock,
						       const struct elide_row *row)
{
	return elide_cache_find(t, lock, elide_at_run_time(row->site), row->kind);
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
 * @index: of the lock in the registry
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
 * @class_index, @site, @kind: what the row is of; @site as it is recorded
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
