/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * lock-table.h - the table of registry.h: places of words, and how it is made anew.
 *
 * Functions are lock-free unless they run in a global-lock path.
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

/** elide_table_next() - the table to which the words of a table are being moved, or were; NULL: none. */
static inline struct elide_table *elide_table_next(const struct elide_table *table)
{
	return __atomic_load_n(&table->next, __ATOMIC_ACQUIRE);
}

/** elide_table_has() - is @word of the lock of @lock_word, be it destroyed or not? */
static inline bool elide_table_has(uint64_t word, uint64_t lock_word)
{
	return (word ^ lock_word) << (64 - ELIDE_TAG_SHIFT) == 0;
}

/** elide_table_home() - where in a table the search for a lock begins. */
static inline uint64_t elide_table_home(const struct elide_table *table, const void *lock)
{
	return (uintptr_t)lock * ELIDE_HASH_FACTOR >> ELIDE_HASH_SHIFT & (table->nr - 1);
}

/** elide_table_has_room_for() - does the address of a lock fit into a word? */
static inline bool elide_table_has_room_for(const void *lock)
{
	return likely(!((uintptr_t)lock >> ELIDE_TAG_SHIFT));
}

/**
 * elide_table_find() - the word of a lock in a table, be the lock destroyed or not.
 * @table: the table; the lock may be in elide_table_next()
 * @lock: address
 * @is: set to the word, which may have changed meanwhile, also to ELIDE_MOVED
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
		/* Acquire pairs with the release of the registration: the class is complete. */
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
 * @initialised: an older lock at the address is gone; else its word stays
 * @new: set: the lock was not registered before, or was initialised
 *
 * Return: the word in the table now; 0 if there is no room.
 */
uint64_t elide_table_put(uint64_t word, bool initialised, bool *new);

/* The place of a lock's word, if it is one of the first two of the search. */
static __always_inline_fn uint64_t *elide_table_pair(struct elide_table *table, uint64_t word)
{
	uint64_t *at = &table->words[elide_table_home(table, elide_word_lock(word))];

	if (!elide_table_has(READ_ONCE(*at), word))
		at = (uint64_t *)((uintptr_t)at ^ sizeof(*at));
	return at;
}

/* Store a word in its lock's place. The lock's memory is this thread's. Return: there is no next table. */
static __always_inline_fn bool elide_table_store(const struct elide_table *table, uint64_t *at,
						 uint64_t word)
{
	/* Release pairs with elide_table_find(). */
	__atomic_store_n(at, word, __ATOMIC_RELEASE);
	barrier();
	return likely(!elide_table_next(table));
}

/**
 * elide_table_renew() - elide_table_put() of an initialised lock whose place has that class already.
 *
 * Return: false: call elide_table_put().
 */
static __always_inline_fn bool elide_table_renew(uint64_t word)
{
	struct elide_table *table = elide_table_now();
	uint64_t *at = elide_table_pair(table, word);

	return likely((READ_ONCE(*at) & ~ELIDE_WORD_GONE) == word) &&
	       likely(!elide_table_next(table) && !READ_ONCE(elide_locks.has_states)) &&
	       elide_table_store(table, at, word);
}

/** elide_table_retire() - elide_table_remove() of a lock that is found at once. Return: false: call that. */
static __always_inline_fn bool elide_table_retire(const void *lock)
{
	struct elide_table *table = elide_table_now();
	uint64_t *at = elide_table_pair(table, elide_word(lock, 0));
	uint64_t word = READ_ONCE(*at);

	/* Compare the whole address: one of more than ELIDE_TAG_SHIFT bits has no word. */
	return likely(elide_word_lock(word) == lock) && likely(!elide_table_next(table)) &&
	       elide_table_store(table, at, word | ELIDE_WORD_GONE);
}

/** elide_table_change() - replace a lock's word. Return: false if the word is not @from. */
bool elide_table_change(uint64_t from, uint64_t to);

/** elide_table_remove() - the lock is gone. */
void elide_table_remove(const void *lock);

/** elide_table_forget() - all locks at addresses from @start up to @end are gone. */
void elide_table_forget(uintptr_t start, uintptr_t end);

/** elide_table_full() - is there no room for further locks? */
bool elide_table_full(void);

/** elide_table_refused() - @nr locks were refused for that; after some, room is looked for again. */
void elide_table_refused(uint32_t nr);

/**
 * elide_table_make_room() - make the table anew: larger, or without the locks that are gone.
 * @lock: the lock for which there was no room
 *
 * In a global-lock path. Return: false if there is no room.
 */
bool elide_table_make_room(const void *lock);

/** elide_table_settle() - in a forked child, in a global-lock path: finish what a parent's thread began. */
void elide_table_settle(void);

/** elide_table_state() - the state of a lock. Return: NULL if it is not registered. */
struct policy_lock *elide_table_state(const void *lock);

#pragma GCC visibility pop

#endif
