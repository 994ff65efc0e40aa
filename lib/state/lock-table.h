/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * lock-table.h - the table of registry.h: places of words, and how it is made anew.
 *
 * Lock-free but for what is said to be in a global-lock path.
 */
#ifndef ELIDE_LOCK_TABLE_H
#define ELIDE_LOCK_TABLE_H

#include "registry.h"

#pragma GCC visibility push(hidden)

/** elide_table_start() - make the first table. @max_locks: locks in it at most. Return: 0 or -ENOMEM. */
int elide_table_start(uint32_t max_locks);

/** elide_table_now() - the table in use. */
static inline struct elide_table *elide_table_now(void)
{
	return __atomic_load_n(&elide_locks.table, __ATOMIC_ACQUIRE);
}

/** elide_table_next() - the table that has the words which a table has not any more; NULL: none. */
static inline struct elide_table *elide_table_next(const struct elide_table *table)
{
	return __atomic_load_n(&table->next, __ATOMIC_ACQUIRE);
}

/** elide_table_has() - is a word of that lock, which may be gone? */
static inline bool elide_table_has(uint64_t word, uint64_t lock_word)
{
	return (word ^ lock_word) << (64 - ELIDE_TAG_SHIFT) == 0;
}

/** elide_table_home() - where in a table the search for a lock begins. */
static inline uint64_t elide_table_home(const struct elide_table *table, const void *lock)
{
	return (uintptr_t)lock * ELIDE_HASH_FACTOR >> ELIDE_HASH_SHIFT & (table->nr - 1);
}

/** elide_table_has_room_for() - has a word room for the address of a lock? */
static inline bool elide_table_has_room_for(const void *lock)
{
	return likely(!((uintptr_t)lock >> ELIDE_TAG_SHIFT));
}

/**
 * elide_table_find() - the word of a lock in a table, which may say that it is gone.
 * @table: which may not be all: elide_table_next()
 * @lock: address
 * @is: set: what the word was; it may have changed meanwhile, also to ELIDE_MOVED
 *
 * Return: NULL if it has none.
 */
static inline uint64_t *elide_table_find(struct elide_table *table, const void *lock, uint64_t *is)
{
	uint64_t home = elide_table_home(table, lock), mine = elide_word(lock, 0);

	if (!elide_table_has_room_for(lock))
		return NULL;
	for (int i = 0; i < ELIDE_SLOTS; i++) {
		uint64_t *word = &table->words[home ^ i];
		/* Acquire pairs with the release of who has registered it: the class is complete. */
		uint64_t w = __atomic_load_n(word, __ATOMIC_ACQUIRE);

		if (elide_table_has(w, mine)) {
			*is = w;
			return word;
		}
		if (!w)
			break;
	}
	return NULL;
}

/**
 * elide_table_put() - register a lock.
 * @word: of the lock, with its tag
 * @initialised: whatever was there is gone; else a word that is there stays
 * @new: set: the lock was not registered before, or was initialised
 *
 * Return: the word that is there now; 0 if there is no room.
 */
uint64_t elide_table_put(uint64_t word, bool initialised, bool *new);

/* Where a lock's word is, if the search finds it at once. */
static __always_inline_fn uint64_t *elide_table_pair(struct elide_table *table, uint64_t word)
{
	uint64_t *at = &table->words[elide_table_home(table, elide_word_lock(word))];

	if (!elide_table_has(READ_ONCE(*at), word))
		at = (uint64_t *)((uintptr_t)at ^ sizeof(*at));
	return at;
}

/* Store a word in its lock's place, where the memory of the lock is this thread's: see elide_table_put(). */
static __always_inline_fn bool elide_table_store(const struct elide_table *table, uint64_t *at,
						 uint64_t word)
{
	/* Release pairs with elide_table_find(). */
	__atomic_store_n(at, word, __ATOMIC_RELEASE);
	barrier();
	return likely(!elide_table_next(table));
}

/**
 * elide_table_renew() - elide_table_put() of an initialised lock, where its place has that class already.
 *
 * Return: false if it has not, or is not found at once: elide_table_put() does it.
 */
static __always_inline_fn bool elide_table_renew(uint64_t word)
{
	struct elide_table *table = elide_table_now();
	uint64_t *at = elide_table_pair(table, word);

	return likely((READ_ONCE(*at) & ~ELIDE_WORD_GONE) == word) &&
	       likely(!elide_table_next(table) && !READ_ONCE(elide_locks.has_states)) &&
	       elide_table_store(table, at, word);
}

/**
 * elide_table_retire() - elide_table_remove() of a lock that is found at once. Return: false if it
 * is not.
 */
static __always_inline_fn bool elide_table_retire(const void *lock)
{
	struct elide_table *table = elide_table_now();
	uint64_t *at = elide_table_pair(table, elide_word(lock, 0));
	uint64_t word = READ_ONCE(*at);

	/* All bits of the address: one of more than ELIDE_TAG_SHIFT bits has no word. */
	return likely(elide_word_lock(word) == lock) && likely(!elide_table_next(table)) &&
	       elide_table_store(table, at, word | ELIDE_WORD_GONE);
}

/** elide_table_change() - from a word to another of the same lock. Return: false if there is another one. */
bool elide_table_change(uint64_t from, uint64_t to);

/** elide_table_remove() - the lock is gone. */
void elide_table_remove(const void *lock);

/** elide_table_forget() - all locks at addresses from @start up to @end are gone. */
void elide_table_forget(uintptr_t start, uintptr_t end);

/** elide_table_full() - is there no room for further locks? */
bool elide_table_full(void);

/** elide_table_refused() - @nr locks were refused for that: after some of them it may be looked again. */
void elide_table_refused(uint32_t nr);

/**
 * elide_table_make_room() - make the table anew: larger, or without the locks that are gone.
 * @lock: the lock for which there was no room
 *
 * In a global-lock path. Return: false if there is none.
 */
bool elide_table_make_room(const void *lock);

/** elide_table_settle() - in a forked child, in a global-lock path: end what another thread has begun. */
void elide_table_settle(void);

/** elide_table_state() - what is remembered of a lock. Return: NULL if it is not registered. */
struct elide_lock_state *elide_table_state(const void *lock);

#pragma GCC visibility pop

#endif
