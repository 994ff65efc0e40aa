/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * registry.h - which lock class a lock belongs to, and what is remembered of it.
 *
 * A lock is an address; class.h says which its class is. Look-ups are lock-free, and so are the
 * registration of a lock whose class exists and its removal. Bounded: a lock for which there is no
 * room is counted as dropped, and its calls pass through.
 *
 * Must never be changed inside a transaction, and never touches a lock itself.
 */
#ifndef ELIDE_REGISTRY_H
#define ELIDE_REGISTRY_H

#include <stdbool.h>
#include <stdint.h>

#include "../compiler.h"
#include "../datafile.h"
#include "../policy/policy.h"
#include "class.h"

#pragma GCC visibility push(hidden)

/**
 * struct elide_lock_state - a lock in the registry.
 * @key:    address << ELIDE_CLASS_BITS | class; 0 in a slot never used, 1 in a released one
 * @policy: the policy's state of the lock
 *
 * User addresses have 47 bits. Where the processor has 5-level paging an mmap() hint gives up to 56
 * bits; locks at addresses of more than 48 bits are not registered.
 */
struct elide_lock_state {
	uint64_t key;
	struct policy_lock policy;
};

/*
 * By hash of the address: grows when a lock is initialised or destroyed, which makes the entries
 * for it in the threads' caches invalid. 4 KiB that all threads read and few write.
 */
#define ELIDE_NR_GENERATIONS 1024
extern uint32_t elide_generations[ELIDE_NR_GENERATIONS];

/** elide_counter() - which of the generations is that of a lock's hash. */
static inline uint32_t elide_counter(const void *lock)
{
	return ((uintptr_t)lock / CACHE_LINE) % ELIDE_NR_GENERATIONS;
}

static inline uint32_t *elide_generation(const void *lock)
{
	return &elide_generations[elide_counter(lock)];
}

/*
 * The table of locks has open addressing within a neighbourhood of ELIDE_SLOTS entries of 16 bytes,
 * so a look-up touches at most five cache lines. A lock whose neighbourhood is full is dropped.
 */
#define ELIDE_SLOTS 16

/**
 * struct elide_locks - the table of locks.
 * @state: the slots: @mask + ELIDE_SLOTS
 * @holders: of each, which call locked it last: elide_registry_holder()
 * @users: of each, the thread that uses the lock; 0: none; ELIDE_NONE: several; apart, as most look-ups
 *         do not need it
 * @mask:  mask of the hash that gives the first slot of a neighbourhood
 */
extern struct elide_locks {
	struct elide_lock_state *state;
	uint64_t *holders;
	uint32_t *users;
	uint32_t mask;
} elide_locks;

/* Bits of the class in a key, below the address. */
#define ELIDE_CLASS_BITS 16

/**
 * elide_registry_start() - allocate the tables.
 * @max_locks, @max_classes: bounds
 *
 * Return: 0 or -ENOMEM.
 */
int elide_registry_start(uint32_t max_locks, uint32_t max_classes);

/** elide_registry_state() - the lock with that index. */
static inline struct elide_lock_state *elide_registry_state(uint32_t index)
{
	return &elide_locks.state[index];
}

/*
 * Lines in a row whose locks have slots in one line of the table. By 35 distances from 4 bytes to 64 KiB
 * and tables of 64 to 131,072 locks: with two, 6 of 952 full tables had no slot left for up to 39 locks; with
 * four, 153 had none for up to 1,819.
 */
#define ELIDE_HOME_LINES 2

/**
 * elide_registry_home() - where a lock's neighbourhood begins; hashing as in TAOCP vol. 3, 6.4.
 *
 * Who initialises many locks mostly does so one after another: those of ELIDE_HOME_LINES lines have the
 * same hash but for its lowest bits, so that fewer lines of the table are touched.
 */
static inline uint32_t elide_registry_home(const void *lock)
{
	const uint64_t lines = (ELIDE_HOME_LINES - 1) * CACHE_LINE;
	uint64_t hash = (((uintptr_t)lock & ~lines) >> 2) * 0x9e3779b97f4a7c15ull;

	return (hash >> 20 ^ ((uintptr_t)lock & lines) / CACHE_LINE) & elide_locks.mask;
}

/** elide_registry_expect() - elide_registry_find() and elide_registry_use() of the lock come soon. */
static inline void elide_registry_expect(const void *lock)
{
	uint32_t first = elide_registry_home(lock);

	/* Of some 100,000 locks each line is a miss: so they overlap. */
	__builtin_prefetch(&elide_locks.state[first]);
	__builtin_prefetch(&elide_locks.users[first]);
}

/** elide_registry_full() - is there no room for a lock that is not registered? Lock-free. */
bool elide_registry_full(void);

/** elide_registry_class() - index of the class of the lock with that index. */
static inline uint32_t elide_registry_class(uint32_t index)
{
	return __atomic_load_n(&elide_locks.state[index].key, __ATOMIC_ACQUIRE) &
	       ((1u << ELIDE_CLASS_BITS) - 1);
}

/* Mask of the kind, which is that of a lock, in what elide_registry_holder() returns. */
#define ELIDE_HOLDER_KIND 7

_Static_assert(ELIDE_KIND_COND <= ELIDE_HOLDER_KIND + 1, "kinds of locks");

/**
 * elide_registry_holder() - which call locked a lock last.
 * @index: of the lock
 *
 * Return: site * (ELIDE_HOLDER_KIND + 1) | kind; 0 if not known.
 */
static inline uint64_t elide_registry_holder(uint32_t index)
{
	return READ_ONCE(elide_locks.holders[index]);
}

/**
 * elide_registry_set_holder() - remember the call that has locked a lock, by one plain store.
 *
 * Threads share the line: what is there already is not stored again.
 */
static inline void elide_registry_set_holder(uint32_t index, const void *site,
					     enum elide_kind kind)
{
	uint64_t mark = (uintptr_t)site * (ELIDE_HOLDER_KIND + 1) | kind;

	if (elide_registry_holder(index) != mark)
		WRITE_ONCE(elide_locks.holders[index], mark);
}

/**
 * elide_registry_find() - look a lock up.
 *
 * Return: its index, ELIDE_NONE if it is not registered. Lock-free.
 */
static inline uint32_t elide_registry_find(const void *lock)
{
	uint32_t first = elide_registry_home(lock);

	for (uint32_t i = first; i < first + ELIDE_SLOTS; i++) {
		/* Pairs with the store in elide_registry_add(): the class is complete. */
		uint64_t key = __atomic_load_n(&elide_locks.state[i].key, __ATOMIC_ACQUIRE);

		if (key >> ELIDE_CLASS_BITS == (uintptr_t)lock)
			return i;
		if (!key)
			break;
	}
	return ELIDE_NONE;
}

/** elide_policy_of() - the lock's state in the policy; one for nobody if it has just been forgotten. */
struct policy_lock *elide_policy_of(const void *lock);

/**
 * elide_registry_add() - register a lock that was initialised, or was found locked.
 * @lock: address
 * @kind: enum elide_kind of the class
 * @site: return address of the call
 * @initialised: the call initialised it, so an older lock there is gone
 * @shared: it is process-shared and must never be elided
 *
 * Return: index of the lock, ELIDE_NONE if there is no room (counted).
 */
uint32_t elide_registry_add(const void *lock, enum elide_kind kind, const void *site,
			    bool initialised, bool shared);

/**
 * elide_registry_add_known() - elide_registry_add() where the class exists already.
 *
 * The parameters are those of elide_registry_add(). Lock-free, async-signal-safe. Not in a forked
 * child whose registry is still its parent's: elide_gate_same_process().
 *
 * Return: index of the lock; ELIDE_NONE if the class does not exist yet or there is no room: then
 * nothing has changed, and the caller goes on with elide_registry_add() in a slow path.
 */
uint32_t elide_registry_add_known(const void *lock, enum elide_kind kind, const void *site,
				  bool initialised, bool shared);

/**
 * elide_registry_add_again() - the usual: a lock was initialised by the call that initialised the last one.
 *
 * The parameters are those of elide_registry_add(); @site may be any return address. Lock-free,
 * async-signal-safe. Not in a forked child whose registry is still its parent's.
 *
 * Return: false if it is another call, there are other threads, or its place is taken: then nothing has
 * changed, and the caller goes on with elide_registry_add_known().
 */
bool elide_registry_add_again(const void *lock, enum elide_kind kind, const void *site,
			      bool shared);

/**
 * elide_registry_remove() - the lock was destroyed; its class keeps what was counted.
 *
 * Lock-free, async-signal-safe.
 */
void elide_registry_remove(const void *lock);

/**
 * elide_registry_forget() - an object was unloaded.
 * @start, @end: its addresses
 *
 * Its locks are gone, and all entries of all look-up caches are invalid, as another object may be loaded
 * there. In a slow path.
 */
void elide_registry_forget(const void *start, const void *end);

/** elide_registry_distrust() - make all entries of all look-up caches invalid. Lock-free. */
void elide_registry_distrust(void);

/**
 * elide_registry_use() - a thread makes a cache entry for a lock.
 * @index: index of the lock
 * @class_index: index of its class
 * @user: number of the thread's block, neither 0 nor ELIDE_NONE
 *
 * Counts the lock in @nr_shared of its class when a second thread does so, up to
 * ELIDE_SHARED_COUNTED: who locked each of 100,000 locks is a cache miss for each. Lock-free.
 */
void elide_registry_use(uint32_t index, uint32_t class_index, uint32_t user);

/**
 * elide_registry_save() - write modules and classes to a new data file.
 *
 * Called after elide_data_open(), in the first process and in forked children.
 */
void elide_registry_save(void);

#pragma GCC visibility pop

#endif
