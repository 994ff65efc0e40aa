/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * registry.h - the locks of the process: which class each has, and its state.
 *
 * One table for all threads has a word for each lock: its address and a tag, which says what the lock
 * belongs to. A lock call compares that word with what it expects, so its counters do not wait for a cache
 * miss of the table. Words are written when a lock is initialised, is first met, gets a state of its own,
 * and is destroyed.
 *
 * Open addressing (Knuth, TAOCP vol. 3, 6.4) within ELIDE_SLOTS words. A place belongs to an address until
 * the table is made anew, which leaves out the locks that were destroyed. So a thread that initialises or
 * destroys a lock, and thus owns its memory, changes the word by a plain store. The table is made anew in a
 * global-lock path while other threads look up, register and remove locks.
 *
 * Must never be changed inside a transaction, and never touches a lock itself.
 */
#ifndef ELIDE_REGISTRY_H
#define ELIDE_REGISTRY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../compiler.h"
#include "../datafile.h"
#include "../policy/policy.h"
#include "class.h"

#pragma GCC visibility push(hidden)

/*
 * The tag is above the address in a word. User addresses have 47 bits; with 5-level paging an mmap() hint
 * gives up to 56 bits: locks at addresses of more than 48 bits are not registered.
 */
#define ELIDE_TAG_SHIFT 48

/*
 * Tags: the index of a class, below ELIDE_TAG_HOT; from there on the number of a lock's own
 * state, from 1. ELIDE_TAG_GONE is added once the lock is destroyed.
 */
#define ELIDE_TAG_HOT  ELIDE_INSPECT_HOT
#define ELIDE_TAG_GONE ELIDE_INSPECT_GONE

/* Classes and the states of locks, at most. */
#define ELIDE_TAG_CLASSES 32000
#define ELIDE_TAG_HOTS    (ELIDE_TAG_GONE - ELIDE_TAG_HOT - 1)

_Static_assert(ELIDE_TAG_CLASSES + ELIDE_NR_KINDS <= ELIDE_TAG_HOT, "a tag says which it is");

/* Places that a lock may have: two lines of the table. The search changes the low bits of its home. */
#define ELIDE_SLOTS 16

/*
 * Multiplicative hashing (TAOCP vol. 3, 6.4). Of 20,000 random odd factors this is the best for 28 distances
 * of neighbouring locks, from 4 to 4,096 bytes, and ten sizes of a table. In a table two fifths full the
 * first two words of the search have 97 % of the locks of one array, and 95 % of those of 16 arrays, for
 * seven distances; with a random hash 92 %. See strides_are_spread in tests/unit/test_registry.c.
 */
#define ELIDE_HASH_FACTOR 0x6f83cad183c122d9ull
#define ELIDE_HASH_SHIFT  36

/**
 * struct elide_table - a table of locks.
 * @nr: words
 * @next: the table to which its words are being moved, or were; NULL: none
 * @states: the policy's state of the lock of each word; pages that are never written take no memory
 * @words: 0: never used; ELIDE_MOVED; else address and tag
 */
struct elide_table {
	uint32_t nr;
	struct elide_table *next;
	struct policy_lock *states;
	uint64_t words[] __cacheline_aligned;
};

/* A word that was moved to the next table. */
#define ELIDE_MOVED 1ull

/**
 * struct elide_locks - the table that is in use.
 * @mask: of the offset of a lock's home, in bytes: read before @table, and written after it
 * @table: never smaller than @mask says
 * @hot_classes: by number of a state: the class of the lock that has it
 * @has_states: a state was used
 * @lost_shared: a process-shared lock is not in the table
 */
extern struct elide_locks {
	uint64_t mask;
	struct elide_table *table;
	uint16_t hot_classes[ELIDE_TAG_HOTS + 1];
	bool has_states;
	bool lost_shared;
} elide_locks;

/*
 * The word of a lock. Address bits from ELIDE_TAG_SHIFT on change the tag, so such a word matches no lock at
 * that address.
 */
static __always_inline_fn uint64_t elide_word(const void *lock, uint64_t tag)
{
	return (uintptr_t)lock ^ tag << ELIDE_TAG_SHIFT;
}

static __always_inline_fn const void *elide_word_lock(uint64_t word)
{
	return (const void *)(uintptr_t)(word & ((1ull << ELIDE_TAG_SHIFT) - 1));
}

static __always_inline_fn uint32_t elide_word_tag(uint64_t word)
{
	return word >> ELIDE_TAG_SHIFT;
}

/* Bit of a word: the lock was destroyed. */
#define ELIDE_WORD_GONE ((uint64_t)ELIDE_TAG_GONE << ELIDE_TAG_SHIFT)

/**
 * elide_registry_is() - has the lock that tag, and is its word one of the first two of the search?
 * @mark: elide_word(NULL, tag)
 *
 * The two words are compared without a branch, which could not be predicted.
 * Reads only: allowed in a transaction.
 */
static __always_inline_fn bool elide_registry_is(const void *lock, uint64_t mark)
{
	uint64_t at = (uintptr_t)lock * ELIDE_HASH_FACTOR >> (ELIDE_HASH_SHIFT - 3);
	uint64_t wanted = (uintptr_t)lock ^ mark, found;

	/* The mask first, then the table: see struct elide_locks. */
	__asm__ volatile("andq %[mask], %[at]\n\t"
			 "addq %[table], %[at]\n\t"
			 "movq %c[words](%[at]), %[found]\n\t"
			 "xorq $8, %[at]\n\t"
			 "cmpq %[wanted], %[found]\n\t"
			 "cmovneq %c[words](%[at]), %[found]"
			 : [at] "+r"(at), [found] "=&r"(found)
			 : [mask] "m"(elide_locks.mask), [table] "m"(elide_locks.table),
			   [wanted] "r"(wanted), [words] "i"(offsetof(struct elide_table, words))
			 : "cc", "memory");
	return found == wanted;
}

/**
 * elide_registry_is_far() - has the lock that tag, and is its word one of those after the first two?
 * @mark: as for elide_registry_is()
 *
 * A lock in thirty is there, for as long as it lives: it may be the one that all threads lock.
 */
static inline bool elide_registry_is_far(const void *lock, uint64_t mark)
{
	uint64_t home = (uintptr_t)lock * ELIDE_HASH_FACTOR >> ELIDE_HASH_SHIFT &
			READ_ONCE(elide_locks.mask) / sizeof(uint64_t);
	uint64_t wanted = (uintptr_t)lock ^ mark, word = 1;
	const struct elide_table *table;

	/* The mask first, then the table: see struct elide_locks. */
	barrier();
	table = READ_ONCE(elide_locks.table);
	for (uint64_t i = 2; i < ELIDE_SLOTS && word && word != wanted; i++)
		word = READ_ONCE(table->words[home ^ i]);
	return word == wanted;
}

/** elide_registry_start() - allocate the tables. @max_locks, @max_classes: bounds. Return: 0 or -ENOMEM. */
int elide_registry_start(uint32_t max_locks, uint32_t max_classes);

/**
 * elide_registry_find() - look a lock up, wherever it is in the table.
 *
 * Return: its tag, ELIDE_NONE if it is not registered. Lock-free, and allowed in a transaction.
 */
uint32_t elide_registry_find(const void *lock);

/** elide_tag_class() - index of the class of a lock with that tag. */
static inline uint32_t elide_tag_class(uint32_t tag)
{
	return tag >= ELIDE_TAG_HOT ? READ_ONCE(elide_locks.hot_classes[tag - ELIDE_TAG_HOT]) : tag;
}

/** elide_tag_hot() - number of the own state of a lock with that tag, 0 if it has none. */
static inline uint32_t elide_tag_hot(uint32_t tag)
{
	return tag >= ELIDE_TAG_HOT ? tag - ELIDE_TAG_HOT : 0;
}

/** elide_registry_class() - index of the class of a lock; ELIDE_NONE if it is not registered. */
uint32_t elide_registry_class(const void *lock);

/**
 * elide_registry_split() - a lock gets a state of its own.
 * @lock: address
 * @class_index: its class
 * @nr: number of the state, from 1, which no lock had before
 *
 * Return: false if the lock has been destroyed or has one already. Lock-free.
 */
bool elide_registry_split(const void *lock, uint32_t class_index, uint32_t nr);

/** elide_registry_full() - is there no room for a lock that is not registered? Lock-free. */
bool elide_registry_full(void);

/**
 * elide_registry_refuse() - count a lock as dropped, as there was no room.
 * @shared: it is process-shared, which only the registry knows of a spinlock
 *
 * Lock-free.
 */
void elide_registry_refuse(bool shared);

/** elide_policy_of() - the lock's state in the policy; a dummy if the lock is not registered. */
struct policy_lock *elide_policy_of(const void *lock);

/**
 * elide_registry_add() - register a lock that was initialised, or is met for the first time.
 * @lock: address
 * @kind: enum elide_kind of the class
 * @site: return address of the call
 * @initialised: the call initialised it, so an older lock there is gone
 * @shared: it is process-shared and must never be elided
 *
 * In a global-lock path.
 *
 * Return: tag of the lock, ELIDE_NONE if there is no room (counted).
 */
uint32_t elide_registry_add(const void *lock, enum elide_kind kind, const void *site,
			    bool initialised, bool shared);

/**
 * elide_registry_add_known() - elide_registry_add() for a class that exists.
 *
 * The parameters are those of elide_registry_add(). Lock-free, async-signal-safe. Not in a forked
 * child whose registry is still its parent's: elide_gate_same_process().
 *
 * Return: tag of the lock; ELIDE_NONE if the class does not exist yet or there is no room: the caller
 * goes on with elide_registry_add() in a global-lock path.
 */
uint32_t elide_registry_add_known(const void *lock, enum elide_kind kind, const void *site,
				  bool initialised, bool shared);

/**
 * elide_registry_remove() - the lock was destroyed; its class keeps what was counted.
 *
 * Lock-free, async-signal-safe.
 */
void elide_registry_remove(const void *lock);

/** elide_registry_forget() - an object was unloaded: its locks are gone. In a global-lock path. */
void elide_registry_forget(const void *start, const void *end);

/**
 * elide_registry_used() - a sample of a thread's uses of a lock.
 * @lock: the lock
 * @class_index: its class
 * @user: the thread's block
 *
 * Counts the lock in @nr_shared of its class when it sees a second thread, up to ELIDE_SHARED_COUNTED.
 * Lock-free.
 */
void elide_registry_used(const void *lock, uint32_t class_index, const void *user);

/** elide_registry_settle() - elide_table_settle(). */
void elide_registry_settle(void);

/**
 * elide_registry_save() - write modules and classes to a new data file.
 *
 * Called after elide_data_open(), in the first process and in forked children.
 */
void elide_registry_save(void);

#pragma GCC visibility pop

#endif
