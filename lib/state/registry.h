/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * registry.h - which lock class a lock belongs to, and what is remembered of it.
 *
 * A lock is an address. Its class is the site that initialised it, or its own
 * symbol if it lies in an object's data (the array's, if that is one), or the
 * first site that locked it.
 * Look-ups are lock-free, and so are the registration of a lock whose class exists and its
 * removal; classes and modules are made under the engine's lock. Bounded:
 * what does not fit is counted as dropped and passes through.
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

#pragma GCC visibility push(hidden)

/* Index of no lock and of no class. */
#define ELIDE_NONE 0xffffffffu

/**
 * struct elide_lock_state - a lock in the registry.
 * @key:    address << 16 | class; 0 never used, 1 released
 * @policy: what the policy remembers
 *
 * User addresses have 47 bits, or 48 bits where 5-level paging is asked for
 * with an mmap() hint; locks there are not registered.
 */
struct elide_lock_state {
	uint64_t key;
	struct policy_lock policy;
};

/*
 * Raised when a lock of that hash is initialised or destroyed, so that the
 * threads' caches forget it. 4 KiB that are nearly always only read.
 */
#define ELIDE_NR_GENERATIONS 1024
extern uint32_t elide_generations[ELIDE_NR_GENERATIONS];

static inline uint32_t *elide_generation(const void *lock)
{
	return &elide_generations[((uintptr_t)lock / CACHE_LINE) % ELIDE_NR_GENERATIONS];
}

/*
 * The locks: open addressing within a neighbourhood of ELIDE_SLOTS entries, so a look-up
 * touches at most four cache lines, and a full neighbourhood is simply full.
 */
#define ELIDE_SLOTS 16

/**
 * struct elide_locks - the table of locks.
 * @state: of each; ELIDE_SLOTS - 1 more than @mask + 1
 * @mask:  of a neighbourhood's first
 */
extern struct elide_locks {
	struct elide_lock_state *state;
	uint32_t mask;
} elide_locks;

/* In the key, below the address: its class. */
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

/** elide_registry_home() - where a lock's neighbourhood begins; hashing as in TAOCP vol. 3, 6.4. */
static inline uint32_t elide_registry_home(const void *lock)
{
	return (((uintptr_t)lock >> 2) * 0x9e3779b97f4a7c15ull) >> 20 & elide_locks.mask;
}

/** elide_registry_class() - index of the class of the lock with that index. */
static inline uint32_t elide_registry_class(uint32_t index)
{
	return __atomic_load_n(&elide_locks.state[index].key, __ATOMIC_ACQUIRE) &
	       ((1u << ELIDE_CLASS_BITS) - 1);
}

/* In the mark of a holder, below the site: the kind of its call. */
#define ELIDE_HOLDER_KIND 7

/**
 * elide_registry_holder() - which call locked a lock last.
 * @index: of the lock
 *
 * Return: site * (ELIDE_HOLDER_KIND + 1) | kind; 0 if not known.
 */
uint64_t elide_registry_holder(uint32_t index);

/** elide_registry_set_holder() - remember it. One plain store. */
void elide_registry_set_holder(uint32_t index, const void *site, enum elide_kind kind);

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
 * struct elide_last_class - a class, and which locks are of it: those in one page, which no
 * object has mapped, that one call registers.
 * @page: the page's number
 * @site: return address of the call; NULL: of none
 * @kind: enum elide_kind
 * @initialised, @shared: as of elide_registry_add()
 * @index: of the class
 * @changes: times that it was written, to find a handler that did so meanwhile
 */
struct elide_last_class {
	uintptr_t page;
	const void *site;
	enum elide_kind kind;
	bool initialised;
	bool shared;
	uint32_t index;
	uint32_t changes;
};

/**
 * elide_registry_add_known() - elide_registry_add() where the class exists already.
 * @own: the calling thread's, zeroed at first
 *
 * The other parameters are those of elide_registry_add(). Lock-free, async-signal-safe.
 *
 * Return: index of the lock; ELIDE_NONE: the class does not exist yet, or there is no room.
 * Nothing has changed then, and elide_registry_add() says which.
 */
uint32_t elide_registry_add_known(struct elide_last_class *own, const void *lock,
				  enum elide_kind kind, const void *site, bool initialised,
				  bool shared);

/**
 * elide_registry_remove() - the lock was destroyed; its class keeps what was counted.
 *
 * Lock-free, async-signal-safe.
 */
void elide_registry_remove(const void *lock);

/**
 * elide_registry_use() - a thread is about to lock a lock that it did not know, or has forgotten.
 * @index: of the lock, @class_index: of its class
 * @user: tells the thread apart from others; neither 0 nor ELIDE_NONE
 *
 * Counts the lock in its class's nr_shared when a second thread comes. Lock-free.
 */
void elide_registry_use(uint32_t index, uint32_t class_index, uint32_t user);

/** elide_registry_class_shared() - are locks of the class process-shared? */
bool elide_registry_class_shared(uint32_t class_index);

/** elide_registry_class_info() - a class as it stands in the data file. */
const struct elide_class *elide_registry_class_info(uint32_t class_index);

/**
 * elide_registry_save() - write modules and classes to a new data file.
 *
 * Called after elide_data_open(), in the first process and in forked children.
 */
void elide_registry_save(void);

#pragma GCC visibility pop

#endif
